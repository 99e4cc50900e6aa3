// SPDX-License-Identifier: BSD-3-Clause
//
// unetrun from end to end: real jobs, seen from outside.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <signal.h>
#include <split-c/status.h>
#include <sstream>
#include <unistd.h>

#include "common/protocol.h"
#include "common/test_scratch.h"
#include "test/commands.h"
#include "test/job.h"

using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using Catch::Matchers::Matches;
using Catch::Matchers::StartsWith;
using Strings = TestJob::Strings;
using namespace std::chrono_literals;

// ---- output -----------------------------------------------------------------------

TEST_CASE("lines of eight ranks at full speed are never torn, and none is lost")
{
    // each rank writes 12,500 lines in odd portions, to both streams
    TestJob job(shell(8, "i=0; seq 12500 | sed \"s/.*/rank $PMIX_RANK line & $(seq -s. 20)/\" | "
                         "dd obs=777 status=none; seq 100 | sed \"s/^/$PMIX_RANK err /\" >&2"));
    REQUIRE(job.wait() == 0);
    const std::regex whole("rank ([0-7]) line ([0-9]+) 1\\.2\\..*\\.20");
    std::map<std::string, unsigned> last;
    std::istringstream lines(job.out());
    unsigned count = 0, torn = 0, disordered = 0;
    for (std::string line; std::getline(lines, line); count++) {
        std::smatch match;
        if (!std::regex_match(line, match, whole))
            torn++;
        else
            disordered += std::stoul(match[2]) != ++last[match[1]];
    }
    CHECK(count == 100000);
    CHECK(torn == 0);
    CHECK(disordered == 0);
    CHECK(count_lines(job.err()) == 800);
    check_clean(job);
}

TEST_CASE("stdout and stderr keep apart, and an unfinished last line comes out")
{
    TestJob job(shell(1, "echo out; echo err >&2; printf 'no end'"));
    CHECK(job.wait() == 0);
    CHECK(job.out() == "out\nno end");
    CHECK(job.err() == "err\n");
}

TEST_CASE("option --tag-output puts the rank in front of each line")
{
    TestJob job({"-n", "2", "--tag-output", "sh", "-c", "printf 'a\\n\\nb\\n'; echo e >&2"});
    CHECK(job.wait() == 0);
    CHECK(sorted_lines(job.out()) == Strings{"[0] ", "[0] a", "[0] b", "[1] ", "[1] a", "[1] b"});
    CHECK(sorted_lines(job.err()) == Strings{"[0] e", "[1] e"});
}

TEST_CASE("a rank that is alone is seen at once, without the end of its line")
{
    TestJob job(shell(1, "printf 'name? '; read name; echo \"hello $name\""));
    CHECK(job.prints("name? "));
    job.write_input("world\n");
    CHECK(job.prints("hello world\n"));
    CHECK(job.wait() == 0);
}

TEST_CASE("any bytes pass, a very long line too")
{
    TestJob job(shell(1, "cat"));
    std::mt19937 random(3);
    std::string bytes(3 << 20, '\0');
    for (char &byte : bytes)
        byte = static_cast<char>(random());
    bytes += std::string(4 << 20, 'x');
    job.write_input(bytes);
    job.close_input();
    CHECK(job.wait() == 0);
    CHECK(job.out().size() == bytes.size());
    CHECK(job.out() == bytes);
}

TEST_CASE("a reader who takes his time stops the writers, not the signals")
{
    TestJob job({"-n", "2", "--timeout", "3", "yes"});
    REQUIRE(job.prints("y\n")); // then nobody reads until the end
    CHECK(eventually(20s, [&] { return job.processes().size() == 1; }));
    CHECK(job.wait() == 124);
    CHECK(job.out().size() < 16u << 20);
    check_clean(job);
}

TEST_CASE("a reader who leaves ends the job quietly")
{
    TestJob job({"-n", "2", "yes"});
    REQUIRE(job.prints("y\n"));
    job.close_output();
    CHECK(job.wait() == 128 + SIGPIPE);
    CHECK(job.err().empty());
    check_clean(job);
}

TEST_CASE("output that cannot be written ends the job with the reason")
{
    TestJob job({"/bin/sh", "-c", "exec '" UNETRUN_PROGRAM "' yes > /dev/full"});
    CHECK(job.wait() == 1);
    CHECK_THAT(job.err(), Contains("No space left on device"));
    check_clean(job);
}

// ---- input ------------------------------------------------------------------------

TEST_CASE("stdin goes to rank 0, and ends for all")
{
    TestJob job(shell(3, "echo \"$PMIX_RANK: $(cat | md5sum)\""));
    std::string text;
    for (int i = 0; i < 300000; i++)
        text += std::to_string(i) + "\n";
    job.write_input(text);
    job.close_input();
    CHECK(job.wait() == 0);
    const Strings lines = sorted_lines(job.out());
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == "0: 5767afb4d3f431cf8704d8bddfbe71c0  -");
    CHECK(lines[1] == "1: d41d8cd98f00b204e9800998ecf8427e  -");
    CHECK(lines[2] == "2: d41d8cd98f00b204e9800998ecf8427e  -");
}

TEST_CASE("input that nobody reads holds up nothing")
{
    TestJob job(shell(2, "echo done"));
    job.write_input(std::string(200 << 10, 'x')); // more than all the pipes on its way
    CHECK(job.wait() == 0);
    CHECK(count_lines(job.out()) == 2);
}

// ---- what the ranks are given -------------------------------------------------------

TEST_CASE("options -x and --wdir reach the ranks")
{
    TestJob job({"-n", "2", "-x", "COLOUR=dark red", "--wdir", "/usr/bin", "sh", "-c",
                 "echo $COLOUR $(pwd)"});
    CHECK(job.wait() == 0);
    CHECK(job.out() == "dark red /usr/bin\ndark red /usr/bin\n");
}

TEST_CASE("a job may have several programs")
{
    TestJob job({"-n", "2", "-x", "COLOUR=red", "sh", "-c", "echo $COLOUR $PMIX_RANK", ":", "-n",
                 "1", "-x", "COLOUR=blue", "sh", "-c", "echo $COLOUR $PMIX_RANK $0", "last"});
    CHECK(job.wait() == 0);
    CHECK(sorted_lines(job.out()) == Strings{"blue 2 last", "red 0", "red 1"});
}

TEST_CASE("the ranks of several programs are those of one PMIx job")
{
    TestJob job({"-n", "1", PMIX_CLIENT, ":", "-n", "2", PMIX_CLIENT});
    CHECK(job.wait() == 0);
    CHECK_THAT(job.out(), Contains("rank 0 of 3") && Contains("rank 2 of 3") &&
                              Contains("app 0 of 2") && Contains("app 1 of 2") &&
                              Contains("rank 0 got 3 cards"));
}

TEST_CASE("programs of one job run on several nodes, and their copies, too")
{
    const unetrun::Scratch scratch;
    const std::string file = scratch.path / "programs";
    std::ofstream(file) << "-n 1 sh -c 'echo one'\n-n 3 echo two\n";
    TestJob job({"--nodes", "2", "--stage", "--configfile", file});
    CHECK(job.wait() == 0);
    CHECK(sorted_lines(job.out()) == Strings{"one", "two", "two", "two"});
}

TEST_CASE("arguments reach the program untouched")
{
    TestJob job({"-n", "1", "--", "printf", "<%s>", "-n", "", "a b", "--", "*", ":"});
    CHECK(job.wait() == 0);
    CHECK(job.out() == "<-n><><a b><--><*><:>");
}

TEST_CASE("the environment is the user's, plus the job's secret and a hint for waiting")
{
    TestJob job({"-n", "2", "--bind-to", "none", "env"}, {"SOME=thing", "SPLITC_JOB_KEY=stale"});
    CHECK(job.wait() == 0);
    const Strings lines = sorted_lines(job.out());
    std::set<std::string> keys;
    unsigned some = 0, hints = 0;
    for (const std::string &line : lines) {
        some += line == "SOME=thing";
        hints += std::regex_match(line, std::regex("SPLITC_RANKS_PER_CORE=[1-9][0-9]*"));
        if (line.starts_with("SPLITC_JOB_KEY="))
            keys.insert(line);
        CHECK_FALSE(line.starts_with("PMIX_MCA_"));
        CHECK_FALSE(line.starts_with("HWLOC_"));
    }
    CHECK(some == 2);
    CHECK(hints == 2);
    REQUIRE(keys.size() == 1);
    CHECK_THAT(*keys.begin(), Matches("SPLITC_JOB_KEY=[0-9a-f]{32}"));
}

TEST_CASE("a daemon loads no plugins of hwloc, unless it is told where they are")
{
    const std::string list = "grep -o '/hwloc_.*' /proc/$PPID/maps | sort -u";
    TestJob job({"-n", "1", "sh", "-c", list});
    CHECK(job.wait() == 0);
    CHECK(job.out() == "");
    TestJob told({"-n", "1", "sh", "-c", "echo $HWLOC_PLUGINS_PATH"}, {"HWLOC_PLUGINS_PATH=/none"});
    CHECK(told.wait() == 0);
    CHECK(told.out() == "/none\n");
}

TEST_CASE("what -v says of the ranks' processors is what they have")
{
    // a machine of one core, or of all
    const bool one = GENERATE(true, false);
    const std::string bind_to = GENERATE("core", "none");
    const std::string nodes = GENERATE("1", "2");
    TestJob job(script((one ? "exec taskset -c $(taskset -cp $$ | grep -o '[0-9]*$') " : "exec ") +
                       std::string("\"$0\" -v -n 2 --nodes ") + nodes + " --bind-to " + bind_to +
                       " sh -c 'taskset -cp $$ | grep -o \"[^ ]*$\"'"));
    REQUIRE(job.wait() == 0);
    const Strings processors = sorted_lines(job.out());
    REQUIRE(processors.size() == 2);
    INFO(job.out() << job.err());
    const bool shared = processors[0] == processors[1];
    CHECK((job.err().find("each bound to a core") != std::string::npos) == !shared);
    CHECK((job.err().find("bound to 1 core, 2 to a core") != std::string::npos) ==
          (one && bind_to == "core"));
    CHECK((job.err().find("not bound") != std::string::npos) == (bind_to == "none"));
    CHECK((job.err().find("--bind-to core: 2 ranks share the only core") != std::string::npos) ==
          (one && bind_to == "core"));
}

TEST_CASE("ranks for which there is no core each are told to share, once, without -v")
{
    const std::string nodes = GENERATE("1", "2");
    TestJob job(
        script("exec taskset -c $(taskset -cp $$ | grep -o '[0-9]*$') \"$0\" -n 2 --nodes " +
               nodes + " --bind-to core true"));
    CHECK(job.wait() == 0);
    CHECK_THAT(job.err(), Contains("unetrun: --bind-to core: 2 ranks share the only core that "
                                   "unetrun may use on ") &&
                              Contains("(taskset, the batch system)\n"));
    CHECK(count_lines(job.err()) == 1);
}

TEST_CASE("ranks may open as many files as unetrun was allowed to")
{
    TestJob job(script("ulimit -Sn 123; exec \"$0\" -n 2 sh -c 'ulimit -Sn'"));
    CHECK(job.wait() == 0);
    CHECK(job.out() == "123\n123\n");
}

TEST_CASE("a daemon takes no orders that make no sense")
{
    const auto orders = GENERATE(encode(unetrun::Tree{}), encode(unetrun::Job{}),
                                 encode(unetrun::Modex{}), encode(unetrun::Started{}));
    TestJob daemon({"--daemon"});
    daemon.write_input(orders);
    CHECK(daemon.wait() == 1);
    CHECK_THAT(daemon.err(), StartsWith("unetrun: the daemon of process "));
}

TEST_CASE("what says of unetrun's own place in an outer job does not reach the ranks")
{
    TestJob job({"-n", "2", "env"}, {"PMIX_OUTER=1", "PMIX_RANK=77", "PMIX_MCA_gds=hash"});
    CHECK(job.wait() == 0);
    const Strings lines = sorted_lines(job.out());
    CHECK(std::count(lines.begin(), lines.end(), "PMIX_OUTER=1") == 0);
    CHECK(std::count(lines.begin(), lines.end(), "PMIX_RANK=77") == 0);
    CHECK(std::count(lines.begin(), lines.end(), "PMIX_MCA_gds=hash") == 2);
}

TEST_CASE("ranks have no descriptors but the standard three, and no signal blocked")
{
    TestJob job(shell(2, "ls /proc/self/fd | tr '\\n' ' '; grep -E 'Sig(Blk|Ign)' /proc/self/status"
                         " | tr '\\n' ' '; echo"));
    CHECK(job.wait() == 0);
    for (const std::string &line : sorted_lines(job.out())) // 3 is ls reading the directory
        CHECK_THAT(line, Matches("0 1 2 3 SigBlk:\t0+ SigIgn:\t0+ ?"));
    CHECK(count_lines(job.out()) == 2);
}

TEST_CASE("every job has a key of its own")
{
    TestJob one(shell(1, "echo $SPLITC_JOB_KEY")), other(shell(1, "echo $SPLITC_JOB_KEY"));
    CHECK(one.wait() == 0);
    CHECK(other.wait() == 0);
    CHECK(one.out().size() == 33);
    CHECK(one.out() != other.out());
}

// ---- PMIx -----------------------------------------------------------------------------

TEST_CASE("PMIx clients learn who they are and exchange data")
{
    TestJob job(client({"-n", "4"}));
    CHECK(job.wait() == 0);
    CHECK(job.err() == "");
    Strings expected;
    for (int i = 0; i < 4; i++) {
        const std::string rank = std::to_string(i);
        expected.push_back("rank " + rank + " got 4 cards");
        expected.push_back("rank " + rank + " of 4, universe 4, local rank " + rank +
                           " of 4, node 0 of 1, app 0 of 1, peers 0,1,2,3, host named");
    }
    std::sort(expected.begin(), expected.end());
    CHECK(sorted_lines(job.out()) == expected);
    check_clean(job);
}

TEST_CASE("fences and data cross the borders of nodes")
{
    TestJob job(client({"-n", "5", "--nodes", "3"}));
    CHECK(job.wait() == 0);
    CHECK(job.err() == "");
    for (int i = 0; i < 5; i++)
        CHECK_THAT(job.out(), Contains("rank " + std::to_string(i) + " got 5 cards"));
    CHECK_THAT(job.out(), Contains("local rank 0 of 1, node 0 of 3, app 0 of 1, peers 0,") &&
                              Contains("local rank 1 of 2, node 2 of 3, app 0 of 1, peers 3,4,"));
    check_clean(job);
}

TEST_CASE("PMIx_Abort ends the job with its code and its text on one line")
{
    TestJob job(client({"-n", "4"}, {"abort", "9", "2"}));
    CHECK(job.wait() == 9);
    CHECK_THAT(job.err(), Matches("unetrun: rank 2 \\(pid [0-9]+\\) aborted the job with code 9: "
                                  "told\\?to abort\n"));
    check_clean(job);
}

TEST_CASE("a rank that leaves without PMIx_Finalize ends the job")
{
    TestJob job(client({"-n", "4"}, {"quit", "1"}));
    CHECK(job.wait() == 1);
    CHECK_THAT(job.err(), Matches("unetrun: rank 1 \\(pid [0-9]+\\) exited with code 0 without "
                                  "calling PMIx_Finalize; ending the job\n"));
    check_clean(job);
}

TEST_CASE("a rank that never joins what others have joined ends the job")
{
    TestJob job({"-n", "3", "sh", "-c", "[ $PMIX_RANK = 2 ] && exit 0; exec '" PMIX_CLIENT "'"});
    CHECK(job.wait() == 1);
    CHECK_THAT(job.err(), Contains("rank 2 (pid ") && Contains("PMIx_Init"));
    check_clean(job);
}

TEST_CASE("unetrun runs inside a job of unetrun")
{
    TestJob job({"-n", "2", UNETRUN_PROGRAM, "-n", "2", PMIX_CLIENT});
    CHECK(job.wait() == 0);
    CHECK(count_lines(job.out()) == 8);
    check_clean(job);
}

// ---- how jobs end -----------------------------------------------------------------------

TEST_CASE("plain programs may be run, and their success is the job's")
{
    TestJob job({"-n", "4", "true"});
    CHECK(job.wait() == 0);
    CHECK(job.out() + job.err() == "");
    check_clean(job);
}

TEST_CASE("the exit code is that of the rank that failed")
{
    TestJob job(shell(3, "[ $PMIX_RANK = 1 ] && exit 7; sleep 1000"));
    const auto begin = std::chrono::steady_clock::now();
    CHECK(job.wait() == 7);
    CHECK(std::chrono::steady_clock::now() - begin < 10s);
    CHECK_THAT(job.err(), Matches("unetrun: rank 1 \\(pid [0-9]+\\) exited with code 7; ending "
                                  "the job\n"));
    check_clean(job);
}

TEST_CASE("the exit code is known even if whoever started unetrun ignores the ends of children")
{
    TestJob job(script("trap '' CHLD; exec \"$0\" -n 2 --timeout 10 sh -c 'exit 3'"));
    CHECK(job.wait() == 3);
    check_clean(job);
}

TEST_CASE("a rank killed by a signal is named, and its code is 128 + the signal")
{
    TestJob job(shell(3, "[ $PMIX_RANK = 2 ] && kill -SEGV $$; sleep 1000"));
    CHECK(job.wait() == 128 + SIGSEGV);
    CHECK_THAT(job.err(), Matches("unetrun: rank 2 \\(pid [0-9]+\\) was killed by signal 11 "
                                  "\\(Segmentation fault.*\\); ending the job\n"));
    check_clean(job);
}

TEST_CASE("ranks that show a fault where there is no code crash as others do")
{
    const std::string field = std::to_string(offsetof(splitc_status, fault));
    TestJob job(script(R"(exec "$0" -n 8 --backtrace bash -c 'trap "" TERM
        seek=$((${SPLITC_STATUS##*:} + FIELD))
        printf 1 | dd of="${SPLITC_STATUS%:*}" bs=1 seek=$seek conv=notrunc status=none
        kill -SEGV $$')"),
                {"FIELD=" + field});
    CHECK(job.wait() == 128 + SIGSEGV);
    CHECK_THAT(job.err(), Contains(" left no backtrace: it had not joined as a Split-C program\n"));
    check_clean(job);
}

TEST_CASE("what a rank wrote before it failed is not lost")
{
    TestJob job(shell(2, "[ $PMIX_RANK = 0 ] && sleep 1000; seq 50000; exit 3"));
    CHECK(job.wait() == 3);
    CHECK(count_lines(job.out()) == 50000);
}

TEST_CASE("a rank's last words come before the news of its death")
{
    for (int i = 0; i < 30; i++) {
        TestJob job(shell(2, "echo last words >&2; exit 3"));
        CHECK(job.wait() == 3);
        CHECK_THAT(job.err(), StartsWith("last words\n"));
    }
}

TEST_CASE("ranks that ignore SIGTERM are killed")
{
    TestJob job(shell(3, "trap '' TERM; echo up; [ $PMIX_RANK = 0 ] && read x && exit 5; "
                         "while :; do sleep 1000; done"));
    REQUIRE(job.prints("up\n", 3));
    job.write_input("go\n");
    CHECK(job.wait() == 5);
    check_clean(job);
}

TEST_CASE("option --timeout ends the job with 124")
{
    TestJob job({"-n", "2", "--timeout", "0.3", "sleep", "1000"});
    CHECK(job.wait() == 124);
    CHECK(job.err() == "unetrun: the job did not end within 0.3 s (--timeout); ending it\n");
    check_clean(job);
}

TEST_CASE("children that ranks leave behind end with the job")
{
    TestJob job(shell(2, "sleep 1000 & setsid sleep 1000 & echo hi"));
    CHECK(job.wait() == 0);
    CHECK(job.out() == "hi\nhi\n");
    check_clean(job);
}

TEST_CASE("a reader that the shell has started gets all of the output, and finishes")
{
    // the inner shell becomes unetrun, so the reader is unetrun's child
    TestJob job(script("bash -c 'exec \"$0\" -n 1 seq 20000 > >(wc -l)' \"$0\" | cat"));
    CHECK(job.wait() == 0);
    CHECK(job.out() == "20000\n");
    check_clean(job);
}

TEST_CASE("children that unetrun had before live on, those that its ranks leave behind do not")
{
    TestJob job(script(R"(cd "$TMPDIR"
        bash -c 'sleep 1000 & echo $! > before
            exec "$0" sh -c "setsid sleep 1000 & echo \$! > since; kill -9 \$PPID"' "$0"
        echo "code $?"
        kill $(cat before) && echo "one lives"
        kill -0 $(cat since) || echo "the other does not"
        rm before since)"));
    CHECK(job.wait() == 0);
    CHECK(job.out() == "code 1\none lives\nthe other does not\n");
    check_clean(job);
}
