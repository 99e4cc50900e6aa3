// SPDX-License-Identifier: BSD-3-Clause
//
// A job whose rank or launcher is killed ends soon and leaves nothing behind.
// The job's processes are known by a TMPDIR of their own.
#include "splitc_run.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <map>
#include <set>
#include <vector>

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

struct Job {
    TemporaryFolder folder;
    TemporaryFolder ready; // gets one file from each rank that runs

    std::string mark() const { return "TMPDIR=" + folder.path.string(); }
};

// Processes with that variable in their environment, and the program each runs.
std::map<pid_t, std::string> processes_of(const Job &job)
{
    std::map<pid_t, std::string> found;
    std::error_code gone; // processes may end while we look

    for (const auto &entry : fs::directory_iterator("/proc")) {
        const pid_t pid = std::atoi(entry.path().filename().c_str());
        if (pid <= 0 || read_file(entry.path() / "environ").find(job.mark()) == std::string::npos)
            continue;
        found[pid] = fs::read_symlink(entry.path() / "exe", gone);
    }
    return found;
}

std::set<std::string> shared_objects()
{
    std::set<std::string> names;

    for (const auto &entry : fs::directory_iterator("/dev/shm"))
        names.insert(entry.path().filename());
    return names;
}

size_t files_in(const fs::path &folder)
{
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

std::vector<pid_t> ranks_of(const Job &job)
{
    std::vector<pid_t> found;

    for (const auto &[pid, program] : processes_of(job))
        if (program == ENDLESS)
            found.push_back(pid);
    return found;
}

// Start an endless job of 4 ranks and have `strike` kill some of it when all run.
Outcome run_and_strike(const Job &job, const std::function<void(pid_t launcher)> &strike,
                       const std::string &backend = "auto")
{
    Command command = ranks(4, ENDLESS, {job.ready.path.string()});

    command.environment = {job.mark(), "SPLITC_BACKEND=" + backend};
    command.limit = 30s;
    command.meanwhile = [&](pid_t launcher) {
        if (eventually([&] { return files_in(job.ready.path) == 4; }, 20s))
            strike(launcher);
        else
            FAIL_CHECK("the ranks did not begin within 20 s");
    };
    return run(command);
}

void require_nothing_left(const Job &job, const std::set<std::string> &objects_before)
{
    const bool gone = eventually([&] { return processes_of(job).empty(); }, 2s);
    std::string left;

    for (const auto &[pid, program] : processes_of(job))
        left += std::to_string(pid) + " " + program + "\n";
    INFO("processes left:\n" << left);
    CHECK(gone);
    CHECK(eventually([&] { return files_in(job.folder.path) == 0; }, 2s));
    CHECK(shared_objects() == objects_before);
}

} // namespace

TEST_CASE("A file that opens and cannot be read is empty")
{
    CHECK(read_file("/") == ""); // as a process's files are when it ends meanwhile
}

TEST_CASE("A rank that is killed ends the job, and nothing is left")
{
    const std::string backend = GENERATE(as<std::string>(), BACKENDS);
    const auto objects = shared_objects();
    Job job;
    std::chrono::steady_clock::time_point struck;

    const Outcome outcome = run_and_strike(
        job,
        [&](pid_t) {
            struck = std::chrono::steady_clock::now();
            const std::vector<pid_t> found = ranks_of(job);
            CHECK(found.size() == 4);
            if (!found.empty())
                kill(found.front(), SIGKILL);
        },
        backend);
    INFO(backend << ": " << outcome.out << outcome.err);
    CHECK(outcome.code == 128 + SIGKILL);
    CHECK(std::chrono::steady_clock::now() - struck < 5s);
    CHECK_THAT(outcome.err, Catch::Contains("killed"));
    require_nothing_left(job, objects);
}

TEST_CASE("A launcher that is killed leaves nothing")
{
    const auto objects = shared_objects();
    Job job;

    const Outcome outcome = run_and_strike(job, [](pid_t launcher) { kill(launcher, SIGKILL); });
    CHECK(outcome.code == 128 + SIGKILL);
    require_nothing_left(job, objects);
}

TEST_CASE("All ranks killed at once leave nothing")
{
    const auto objects = shared_objects();
    Job job;

    const Outcome outcome = run_and_strike(job, [&](pid_t) {
        for (const pid_t pid : ranks_of(job))
            kill(pid, SIGKILL);
    });
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 128 + SIGKILL);
    require_nothing_left(job, objects);
}

TEST_CASE("An interrupted job ends and leaves nothing")
{
    const auto objects = shared_objects();
    Job job;

    const Outcome outcome = run_and_strike(job, [](pid_t launcher) { kill(launcher, SIGINT); });
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code != 0);
    CHECK(outcome.code != -1);
    require_nothing_left(job, objects);
}

TEST_CASE("A job that is stopped by its time limit leaves nothing")
{
    const auto objects = shared_objects();
    Job job;
    Command command{{launcher(), "-n", "3", "--timeout", "1", ENDLESS, job.ready.path.string()}};

    command.environment = {job.mark()};
    const Outcome outcome = run(command);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 124);
    require_nothing_left(job, objects);
}
