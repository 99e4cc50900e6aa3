// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/job_directory.h"
#include "common/process.h"

using namespace unetrun;
namespace fs = std::filesystem;
using Catch::Matchers::Contains;

namespace {

// A directory that is TMPDIR for as long as it lives.
class Scratch {
public:
    Scratch()
    {
        char name[] = "/tmp/unetrun-test-XXXXXX";
        path = mkdtemp(name);
        setenv("TMPDIR", path.c_str(), 1);
    }
    ~Scratch()
    {
        unsetenv("TMPDIR");
        fs::remove_all(path);
    }
    std::string file(const std::string &name, mode_t mode) const
    {
        std::ofstream(path / name) << "#!/bin/sh\n";
        chmod((path / name).c_str(), mode);
        return path / name;
    }
    std::size_t entries() const
    {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(path), fs::directory_iterator()));
    }

    fs::path path;
};

Failure failure_of(const std::string &program, const std::string &search_path)
{
    try {
        find_program(program, search_path);
    } catch (const Failure &failure) {
        return failure;
    }
    FAIL("found " << program);
    throw 0;
}

Spawn shell(const std::string &script)
{
    Spawn what;
    what.file = "/bin/sh";
    what.arguments = {"sh", "-c", script};
    sigemptyset(&what.signals);
    return what;
}

int status_of(pid_t pid)
{
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

} // namespace

TEST_CASE("a program is found by its path or in the search path")
{
    Scratch scratch;
    const std::string program = scratch.file("prog", 0755);
    CHECK(find_program(program, "") == program);
    CHECK(find_program("prog", "/nowhere:" + scratch.path.string()) == program);
}

TEST_CASE("a file that cannot be run is passed over in the search path")
{
    Scratch scratch;
    fs::create_directory(scratch.path / "a");
    fs::create_directory(scratch.path / "b");
    scratch.file("a/prog", 0644);
    const std::string program = scratch.file("b/prog", 0755);
    CHECK(find_program("prog", (scratch.path / "a").string() + ":" +
                                   (scratch.path / "b").string()) == program);
}

TEST_CASE("a program that is missing is 127, one that cannot be run 126")
{
    Scratch scratch;
    const std::string directory = scratch.path;
    scratch.file("data", 0644);
    CHECK(failure_of("prog", directory).code == exit_not_found);
    CHECK(failure_of("", directory).code == exit_not_found);
    CHECK(failure_of(directory + "/prog", "").code == exit_not_found);
    CHECK(failure_of("data", directory).code == exit_cannot_run);
    CHECK(failure_of(directory + "/data", "").code == exit_cannot_run);
    CHECK(failure_of(directory, "").code == exit_cannot_run);
    CHECK_THAT(failure_of("prog", directory).what(), Contains("./prog"));
    CHECK_THAT(failure_of(directory, "").what(), Contains("directory"));
}

TEST_CASE("a started process has the descriptors, signals and processors it was given")
{
    Pipe pipe = make_pipe();
    Spawn what = shell("trap '' USR1; echo to stdout; kill -USR1 $$; kill -TERM $$");
    what.standard[1] = pipe.write_end.get();
    cpu_set_t processors;
    sched_getaffinity(0, sizeof processors, &processors);
    what.processors = processors;
    const pid_t pid = spawn(what);
    pipe.write_end.reset();
    char text[64] = {};
    CHECK(read(pipe.read_end.get(), text, sizeof text - 1) == 10);
    CHECK(std::string(text) == "to stdout\n");
    CHECK(exit_code_of(status_of(pid)) == exit_signal + SIGTERM);
}

TEST_CASE("a file that the kernel refuses is told apart from a program that fails")
{
    Scratch scratch;
    Spawn what = shell("");
    what.file = scratch.file("no-interpreter", 0755);
    std::ofstream(what.file) << "echo hello\n";
    CHECK_THROWS_WITH(spawn(what), Contains("neither a program for") && Contains("#!"));
    std::ofstream(what.file) << "#!/no/such/interpreter\n";
    CHECK_THROWS_WITH(spawn(what), Contains("interpreter"));
    CHECK(exit_code_of(status_of(spawn(shell("exit 126")))) == 126);
}

TEST_CASE("descendants are killed however they hide")
{
    adopt_orphans();
    Pipe pipe = make_pipe();
    Spawn what = shell("setsid sh -c 'sleep 1000 & sleep 1000 & wait' & (sleep 1000 &) ; "
                       "echo ready; wait");
    what.standard[1] = pipe.write_end.get();
    spawn(what);
    pipe.write_end.reset();
    char text[16];
    REQUIRE(read(pipe.read_end.get(), text, sizeof text) == 6);
    for (int round = 0; round < 1000 && waitpid(-1, nullptr, WNOHANG) >= 0; round++)
        kill_descendants();
    CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
    CHECK(read(pipe.read_end.get(), text, sizeof text) == 0); // nobody holds the pipe
}

TEST_CASE("children that are spared live on, with all they have started")
{
    adopt_orphans();
    Pipe in = make_pipe(), out = make_pipe();
    Spawn what = shell("sh -c 'echo up; read word; echo $word'; exit 3");
    what.standard[0] = in.read_end.get();
    what.standard[1] = out.write_end.get();
    const pid_t stranger = spawn(what);
    out.write_end.reset();
    char text[16];
    REQUIRE(read(out.read_end.get(), text, sizeof text) == 3);
    const std::set<pid_t> before = children();
    CHECK(before == std::set<pid_t>{stranger});

    spawn(shell("setsid sleep 1000 & sleep 1000 & wait"));
    int rounds = 0;
    for (; rounds < 1000 && kill_descendants(before); rounds++)
        waitpid(-1, nullptr, WNOHANG);
    CHECK(rounds > 0);
    CHECK(children() == before);

    CHECK(write(in.write_end.get(), "alive\n", 6) == 6);
    CHECK(exit_code_of(status_of(stranger)) == 3);
    CHECK(read(out.read_end.get(), text, sizeof text) == 6);
    CHECK(children().empty());
}

namespace {

// In a child that is traced: starts a program that is to die with it.
[[noreturn]] void start_heir(int output)
{
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    Spawn what = shell("echo outlived");
    what.standard[1] = output;
    what.dies_with_parent = true;
    spawn(what);
    _exit(0);
}

// Lets a stopped child go on until it has forked; returns the new process, which is stopped, or 0.
pid_t heir_of(pid_t parent)
{
    unsigned long heir = 0;
    int status;
    if (ptrace(PTRACE_SETOPTIONS, parent, nullptr, PTRACE_O_TRACEFORK) != 0 ||
        ptrace(PTRACE_CONT, parent, nullptr, nullptr) != 0 ||
        waitpid(parent, &status, 0) != parent ||
        status >> 8 != (SIGTRAP | PTRACE_EVENT_FORK << 8) ||
        ptrace(PTRACE_GETEVENTMSG, parent, nullptr, &heir) != 0)
        return 0;
    waitpid(static_cast<pid_t>(heir), &status, __WALL);
    return static_cast<pid_t>(heir);
}

} // namespace

TEST_CASE("a process whose parent died before it could ask for its end does not outlive it")
{
    Pipe pipe = make_pipe();
    const pid_t parent = fork();
    if (parent == 0)
        start_heir(pipe.write_end.get());
    pipe.write_end.reset();
    int status = 0;
    REQUIRE(waitpid(parent, &status, WUNTRACED) == parent);
    const pid_t heir = WIFSTOPPED(status) ? heir_of(parent) : 0;
    kill(parent, SIGKILL);
    if (heir == 0) {
        waitpid(parent, nullptr, 0);
        std::puts("\nnot run: processes may not be traced here (ptrace)");
        return;
    }
    REQUIRE(waitpid(parent, nullptr, 0) == parent); // before the heir has done anything
    REQUIRE(ptrace(PTRACE_DETACH, heir, nullptr, nullptr) == 0);
    char text[16];
    CHECK(read(pipe.read_end.get(), text, sizeof text) == 0); // it ends without a word
}

TEST_CASE("signals have names and codes")
{
    CHECK(signal_text(SIGKILL) == "Killed");
    CHECK(signal_text(1000) == "unknown signal");
    CHECK(exit_code_of(7 << 8) == 7);
    CHECK(exit_code_of(SIGSEGV) == 139);
}

TEST_CASE("a job's directory is private and goes with it")
{
    Scratch scratch;
    {
        const JobDirectory directory(make_job_id(getpid(), "aa"), 0);
        struct stat status;
        REQUIRE(stat(directory.path().c_str(), &status) == 0);
        CHECK((status.st_mode & 07777) == 0700);
        CHECK_THROWS_WITH(JobDirectory(make_job_id(getpid(), "aa"), 0), Contains("TMPDIR"));
        std::ofstream(directory.path() + "/file") << "x";
    }
    CHECK(scratch.entries() == 0);
}

TEST_CASE("directories of dead jobs are swept, those of the living are not")
{
    Scratch scratch;
    const JobDirectory living(make_job_id(getpid(), "living"), 0);
    const fs::path dead = scratch.path / (make_job_id(1, "dead") + ".0");
    fs::create_directories(dead / "deep");
    fs::create_directory(scratch.path / "unetrun-other");
    fs::create_directory_symlink("/", scratch.path / make_job_id(1, "link"));
    remove_stale_job_directories();
    CHECK(fs::exists(living.path()));
    CHECK_FALSE(fs::exists(dead));
    CHECK(fs::exists(scratch.path / "unetrun-other"));
    CHECK(fs::exists(scratch.path / make_job_id(1, "link")));
}
