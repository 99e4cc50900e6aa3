// SPDX-License-Identifier: BSD-3-Clause
//
// Where unetrun's ranks run, as a batch system or the user says, and where their output goes.

#include <catch2/catch.hpp>

#include <algorithm>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "common/test_scratch.h"
#include "test/job.h"

using Catch::Matchers::Contains;
using Strings = TestJob::Strings;
using unetrun::Scratch;
using namespace std::chrono_literals;

namespace {

std::string content_of(const std::filesystem::path &path)
{
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

} // namespace

TEST_CASE("a batch system's allocation is taken, unless hosts are named")
{
    const Strings slurm{"SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=localhost", "SLURM_TASKS_PER_NODE=3"};
    TestJob job({"-v", "sh", "-c", "echo hi"}, slurm),
        named({"--hosts", "localhost", "echo", "hi"}, slurm),
        fewer({"-n", "2", "echo", "hi"}, slurm);
    CHECK(job.wait() == 0);
    CHECK(job.out() == "hi\nhi\nhi\n");
    CHECK_THAT(job.err(), Contains("unetrun: the hosts are those of Slurm's allocation\n"));
    CHECK(named.wait() == 0);
    CHECK(named.out() == "hi\n");
    CHECK(fewer.wait() == 0);
    CHECK(fewer.out() == "hi\nhi\n");
}

TEST_CASE("each rank's output goes to a file of its own")
{
    const Scratch scratch;
    const std::string pattern = scratch.path / "out.%r", both = scratch.path / "both";
    const std::string program = "echo rank $PMIX_RANK; echo error >&2";
    TestJob apart({"-n", "3", "--output", pattern, "sh", "-c", program}),
        together({"-n", "2", "--tag-output", "--output", both, "sh", "-c", program}),
        nowhere({"--output", scratch.path / "none" / "out", "true"});
    CHECK(apart.wait() == 0);
    CHECK(apart.out() == "");
    CHECK(apart.err() == "");
    for (const std::string rank : {"0", "1", "2"})
        CHECK(sorted_lines(content_of(scratch.path / ("out." + rank))) ==
              Strings{"error", "rank " + rank});
    CHECK(together.wait() == 0);
    CHECK(sorted_lines(content_of(both)) ==
          Strings{"[0] error", "[0] rank 0", "[1] error", "[1] rank 1"});
    CHECK(nowhere.wait() == 1);
    CHECK_THAT(nowhere.err(),
               Contains("none/out: No such file or directory") && Contains("(--output)"));
}

TEST_CASE("a FIFO for --output waits for no reader, and has one end for who reads it")
{
    const Scratch scratch;
    const std::string fifo = scratch.path / "fifo";
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    TestJob unread({"-n", "2", "--output", fifo, "echo", "hi"});
    CHECK(unread.wait() == 1);
    CHECK_THAT(unread.err(), Contains(fifo + ": nobody reads this FIFO; start its reader"));

    const unetrun::Fd reader(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    TestJob job({"-n", "2", "--output", fifo, "sh", "-c", "seq 20000; sleep 0.2; seq 20000"});
    std::string text;
    bool ended_early = false;
    const auto take_all = [&] {
        char some[4096];
        ssize_t n;
        while ((n = read(reader.get(), some, sizeof some)) > 0)
            text.append(some, static_cast<std::size_t>(n));
        ended_early |= n == 0 && !text.empty() && count_lines(text) < 80000;
        return count_lines(text) == 80000;
    };
    CHECK(eventually(20s, take_all));
    CHECK_FALSE(ended_early);
    CHECK(job.wait() == 0);
}

TEST_CASE("who reads --output's FIFO may take nothing, or leave")
{
    const Scratch scratch;
    const std::string fifo = scratch.path / "fifo";
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    unetrun::Fd reader(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    const bool leaves = GENERATE(false, true);
    TestJob job({"-n", "2", "--output", fifo, "yes"});
    char byte;
    REQUIRE(eventually(20s, [&] { return read(reader.get(), &byte, 1) == 1; }));
    if (leaves)
        reader.reset();
    else
        job.send(SIGTERM);
    CHECK(job.wait() == 128 + (leaves ? SIGPIPE : SIGTERM));
}

TEST_CASE("a full disk under --output ends the job with a word")
{
    TestJob job({"-n", "2", "--timeout", "20", "--output", "/dev/full", "yes"});
    CHECK(job.wait() == 1);
    CHECK_THAT(job.err(),
               Contains("cannot write the ranks' output to /dev/full: No space left on device"));
}

TEST_CASE("the output of some ranks alone is shown")
{
    TestJob job({"-n", "4", "--only", "1,3", "sh", "-c", "echo rank $PMIX_RANK; seq 100000"}),
        none({"-n", "2", "--only", "2", "true"});
    CHECK(job.wait() == 0);
    const Strings lines = sorted_lines(job.out());
    CHECK(lines.size() == 200002);
    CHECK(std::count(lines.begin(), lines.end(), "rank 1") == 1);
    CHECK(std::count(lines.begin(), lines.end(), "rank 3") == 1);
    CHECK(none.wait() == 2);
    CHECK_THAT(none.err(), Contains("there is no rank 2 to show (--only)"));
}

TEST_CASE("option --report-bindings says what ranks have")
{
    const std::string bind_to = GENERATE("core", "none");
    TestJob job({"-n", "2", "--report-bindings", "--bind-to", bind_to, "sh", "-c",
                 "taskset -cp $$ | grep -o '[^ ]*$'"});
    REQUIRE(job.wait() == 0);
    INFO(job.err());
    for (const std::string &line : sorted_lines(job.out()))
        if (bind_to == "core")
            CHECK_THAT(job.err(), Contains("processor " + line + "\n") ||
                                      Contains("processors " + line + "\n"));
    CHECK_THAT(job.err(), Contains("unetrun: rank 0 on ") && Contains("unetrun: rank 1 on "));
    CHECK((job.err().find("all processors") != std::string::npos) == (bind_to == "none"));
}
