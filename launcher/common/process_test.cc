// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <cstdio>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/process.h"
#include "common/test_scratch.h"

using namespace unetrun;
using Catch::Matchers::Contains;

namespace {

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
    std::filesystem::create_directory(scratch.path / "a");
    std::filesystem::create_directory(scratch.path / "b");
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
    what.out = pipe.write_end.get();
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

namespace {

// In a child that is traced: starts a program that is to die with it.
[[noreturn]] void start_heir(int output)
{
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    Spawn what = shell("echo outlived");
    what.out = output;
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

TEST_CASE("a helper's output is taken, and its other words are dropped")
{
    const Pipe errors = make_pipe();
    const Fd own = duplicate(2);
    REQUIRE(dup2(errors.write_end.get(), 2) == 2);
    const std::string text = output_of({"/bin/sh", "-c", "echo no >&2; echo yes"}, {});
    dup2(own.get(), 2);
    set_nonblocking(errors.read_end.get());
    char word;
    CHECK(text == "yes\n");
    CHECK(read(errors.read_end.get(), &word, 1) == -1);
}

TEST_CASE("signals have names and codes")
{
    CHECK(signal_text(SIGKILL) == "Killed");
    CHECK(signal_text(1000) == "unknown signal");
    CHECK(exit_code_of(7 << 8) == 7);
    CHECK(exit_code_of(SIGSEGV) == 139);
}
