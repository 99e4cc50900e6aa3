// SPDX-License-Identifier: BSD-3-Clause
//
// unetrun from end to end: real jobs, seen from outside.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <signal.h>
#include <split-c/status.h>
#include <sstream>
#include <unistd.h>

#include "common/protocol.h"
#include "test/job.h"

using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using Catch::Matchers::Matches;
using Catch::Matchers::StartsWith;
using Strings = TestJob::Strings;
using namespace std::chrono_literals;

namespace fs = std::filesystem;

namespace {

constexpr auto aftermath = 2s; // for everything of a job to be gone

Strings shell(int ranks, const std::string &script)
{
    return {"-n", std::to_string(ranks), "sh", "-c", script};
}

Strings client(const Strings &options, const Strings &words = {})
{
    Strings arguments = options;
    arguments.push_back(PMIX_CLIENT);
    arguments.insert(arguments.end(), words.begin(), words.end());
    return arguments;
}

// A job of one rank that is unetrun under this option of ulimit, started by `user`.
Strings limited(const std::string &limit, const std::string &user = "env", int ranks = 2,
                const std::string &unetrun = UNETRUN_PROGRAM)
{
    return {"bash", "-c",
            "cd / && exec " + user + " bash -c \"ulimit " + limit + "; exec '" + unetrun + "' -n " +
                std::to_string(ranks) + " sleep 1000\""};
}

// A job of one rank that is this script, in which $0 is unetrun.
Strings script(const std::string &text)
{
    return {"--timeout", "20", "--bind-to", "none", "bash", "-c", text, UNETRUN_PROGRAM};
}

// A script by which each rank has a child of its own and one that hides in a session.
const char *const with_family = "sleep 1000 & setsid sleep 1000 & echo up; wait";

void check_clean(const TestJob &job)
{
    const bool clean = job.clean_within(aftermath);
    INFO("left behind: " << job.leftovers());
    CHECK(clean);
}

} // namespace

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
    TestJob job({"-n", "2", "--timeout", "0.5", "yes"});
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
    }
    CHECK(some == 2);
    CHECK(hints == 2);
    REQUIRE(keys.size() == 1);
    CHECK_THAT(*keys.begin(), Matches("SPLITC_JOB_KEY=[0-9a-f]{32}"));
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

// ---- bad input --------------------------------------------------------------------------

TEST_CASE("what cannot be run gets one line and its exit code")
{
    struct Case {
        Strings arguments;
        int code;
        const char *text;
    };
    const auto bad = GENERATE(
        Case{{"-n", "0", "true"}, 2, "-n wants a number"},
        Case{{"--bogus", "true"}, 2, "unknown option --bogus"}, Case{{"-n", "2"}, 2, "no program"},
        Case{{"-x", "NOT_SET_AT_ALL", "true"}, 2, "-x NOT_SET_AT_ALL: it is not set"},
        Case{{"-n", "2", "./a", ":", "./b"}, 2, "start two jobs"},
        Case{{"-x", "SPLITC_HEAP=lots", "true"}, 2, "SPLITC_HEAP wants bytes"},
        Case{{"--backend", "pigeon", "true"}, 2, "--backend wants shm"},
        Case{{"--net", "198.51.100.0/24", "true"}, 2, "this machine cannot be reached there"},
        Case{{"--iface", "nosuch0", "true"}, 2, "no such interface"},
        Case{{"-n", "2", "no-such-program"}, 127, "cannot find the program no-such-program"},
        Case{{"./no/such"}, 127, "No such file or directory"},
        Case{{"/etc/passwd"}, 126, "not executable"}, Case{{"/usr"}, 126, "directory"},
        Case{{"--wdir", "/no/such", "true"}, 1, "cannot change to the directory /no/such"},
        Case{{"-x", "TMPDIR=/x", "-n", "100", "./nothing"}, 127, "./nothing"});
    TestJob job(bad.arguments);
    CHECK(job.wait() == bad.code);
    CHECK(job.out() == "");
    CHECK_THAT(job.err(), StartsWith("unetrun: ") && Contains(bad.text));
    CHECK(count_lines(job.err()) == 1);
    check_clean(job);
}

TEST_CASE("a directory for temporary files that does not exist is told")
{
    TestJob job({"true"}, {"TMPDIR=/no/such"});
    CHECK(job.wait() == 1);
    CHECK_THAT(job.err(), StartsWith("unetrun: cannot make the directory /no/such/unetrun-") &&
                              Contains("set TMPDIR"));
    check_clean(job);
}

TEST_CASE("a relative directory for temporary files is one of where unetrun was started")
{
    TestJob job(script(R"(cd "$TMPDIR" && mkdir t && export TMPDIR=t
        "$0" -n 2 --wdir / sh -c 'test -d "$TMPDIR"' && rmdir t)"));
    CHECK(job.wait() == 0);
    CHECK(job.err() == "");
    check_clean(job);
}

#ifndef __SANITIZE_ADDRESS__ // it needs descriptors of its own
TEST_CASE("too few descriptors are told, and the ranks already started end")
{
    TestJob job(limited("-n 60", "env", 64));
    CHECK(job.wait() == 1);
    CHECK_THAT(job.err(), Matches("unetrun: the limit of open files \\(ulimit -n\\) is 60; for "
                                  "64 ranks it has to be [0-9]+: raise it\n"
                                  "unetrun: rank 0 \\(pid [0-9]+\\) exited with code 1\n"));
    check_clean(job);
}

TEST_CASE("limits too low for unetrun itself are told in one line, with the remedy")
{
    struct Case {
        const char *limit, *says;
    };
    const auto low = GENERATE(
        Case{"-s 64", "the limit of the stack (ulimit -s) is 64 KiB, and unetrun takes"},
        Case{"-s 200", "the limit of the stack (ulimit -s) is 200 KiB, and unetrun takes"},
        Case{"-n 5", "the limit of open files (ulimit -n) is 5; for unetrun itself it"},
        Case{"-n 14", "the limit of open files (ulimit -n) is 14; for 1 daemon it has to be"},
        Case{"-n 30", "the limit of open files (ulimit -n) is 30; for 2 ranks it has"},
        Case{"-d 10000", "the limit of data (ulimit -d) is 10000 KiB; raise it"},
        Case{"-v 60000", "the limit of memory (ulimit -v) is 60000 KiB; raise it"});
    INFO("ulimit " << low.limit);
    TestJob job(limited(low.limit));
    CHECK(job.wait() == 1);
    CHECK_THAT(job.err(), StartsWith("unetrun: ") && Contains(low.says));
    CHECK(count_lines(job.err()) == 2); // the second tells of the inner unetrun's end
    check_clean(job);
}
#endif

TEST_CASE("a limit of file sizes that leaves no room for what ranks show is told, and they run")
{
    TestJob job(script("ulimit -f 1; exec \"$0\" -n 2 echo hi"));
    CHECK(job.wait() == 0);
    CHECK(job.out() == "hi\nhi\n");
    CHECK_THAT(job.err(), StartsWith("unetrun: cannot watch the ranks: ") &&
                              Contains("raise the limit of file sizes (ulimit -f)"));
    CHECK(count_lines(job.err()) == 1);
}

TEST_CASE("a daemon that cannot watch its ranks sleeps while they run")
{
    TestJob job(script("ulimit -f 1; exec \"$0\" -n 2 " PMIX_CLIENT " hang"));
    REQUIRE(job.prints("rank ", 2));
    const std::vector<pid_t> daemons = job.named("unetd"); // that of the script, too
    REQUIRE(daemons.size() == 2);
    const auto ticks = [&] { return cpu_ticks(daemons[0]) + cpu_ticks(daemons[1]); };
    const std::uint64_t before = ticks();
    CHECK_FALSE(eventually(1500ms, [&] { return ticks() > before + 20; }));
    job.send(SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
}

#ifndef __SANITIZE_ADDRESS__ // it needs a process of its own
TEST_CASE("a limit of processes that leaves no room for unetrun is told")
{
    // root is above that limit; whom root becomes here has no other process, and perhaps no way to
    // the build folder
    const std::string user = geteuid() == 0 ? "setpriv --reuid 54321 --clear-groups" : "env";
    std::string folder = "/tmp/unetrun-test-XXXXXX";
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    const std::string unetrun = folder + "/unetrun";
    std::filesystem::permissions(folder, std::filesystem::perms(0755));
    std::filesystem::copy(UNETRUN_PROGRAM, unetrun);
    TestJob job(limited("-u 1", user, 2, unetrun));
    const int code = job.wait();
    std::filesystem::remove_all(folder);
    CHECK(code == 1);
    CHECK_THAT(job.err(), StartsWith("unetrun: cannot start ") &&
                              Contains("the limit of processes (ulimit -u) is 1: raise it"));
    CHECK(count_lines(job.err()) == 2);
    check_clean(job);
}
#endif

TEST_CASE("options --version and --help answer")
{
    TestJob version({"--version"}), help({"--help"});
    CHECK(version.wait() == 0);
    CHECK_THAT(version.out(), StartsWith("unetrun 0.") && Contains("PMIx"));
    CHECK(help.wait() == 0);
    CHECK_THAT(help.out(), StartsWith("usage: unetrun"));
}

TEST_CASE("in valgrind heaps are small unless they are told")
{
    const Strings words{"--valgrind", "all", "sh", "-c", "echo $SPLITC_HEAP"};
    for (const auto &[first, heap] : {std::pair<Strings, std::string>{{"-n", "1"}, "256M"},
                                      {{"--heap", "1G"}, "1G"},
                                      {{"-x", "SPLITC_HEAP=64M"}, "64M"}}) {
        Strings arguments = first;
        arguments.insert(arguments.end(), words.begin(), words.end());
        TestJob job(arguments);
        CHECK(job.wait() == 0);
        CHECK(job.out() == "[0] " + heap + "\n");
    }
}

TEST_CASE("a debugger that is not there is asked for in vain")
{
    TestJob job({"-n", "2", "-x", "PATH=/nowhere", "--gdb", "all", "/bin/true"});
    CHECK(job.wait() == 127);
    CHECK_THAT(job.err(), Contains("cannot find the program gdbserver in PATH") &&
                              Contains("install gdbserver, or leave the option out"));
}

// ---- signals ----------------------------------------------------------------------------

TEST_CASE("signals reach every rank")
{
    const int number = GENERATE(SIGUSR2, SIGHUP, SIGTERM, SIGINT, SIGQUIT);
    TestJob job(shell(3, "for s in USR2 HUP TERM INT QUIT; do trap \"echo got $s; exit 3\" $s; "
                         "done; echo up; while :; do sleep 0.02; done"));
    REQUIRE(job.prints("up\n", 3));
    job.send(number);
    CHECK(job.prints("got ", number == SIGUSR2 ? 1 : 3));
    CHECK(job.wait() == 3);
    check_clean(job);
}

TEST_CASE("signals that were ignored when unetrun started are so for good")
{
    const int number = GENERATE(SIGHUP, SIGINT, SIGQUIT, SIGTSTP);
    TestJob job(script("echo $$; trap '' " + std::to_string(number) +
                       "; exec \"$0\" sh -c 'echo up; exec sleep 1000'"));
    REQUIRE(job.prints("up\n"));
    const pid_t inner = std::stoi(job.out());
    kill(inner, number);
    kill(inner, SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
    check_clean(job);
}

TEST_CASE("SIGUSR1 asks what every rank is at, and does not reach them")
{
    TestJob job({"-n", "2", "sh", "-c", "echo up; exec sleep 1000"});
    REQUIRE(job.prints("up\n", 2));
    job.send(SIGUSR1);
    job.send(SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
    CHECK(count_lines(job.err()) == 2);
    for (const char *rank : {"0", "1"})
        CHECK_THAT(job.err(),
                   Matches("(.|\n)*unetrun: rank " + std::string(rank) +
                           " \\(pid [0-9]+\\) has not joined as a Split-C program; (.|\n)*"));
    check_clean(job);
}

TEST_CASE("an interrupt ends the job with 128 + its number")
{
    const int number = GENERATE(SIGINT, SIGTERM);
    TestJob job({"-n", "3", "sh", "-c", "echo up; exec sleep 1000"});
    REQUIRE(job.prints("up\n", 3));
    job.send(number);
    CHECK(job.wait() == 128 + number);
    CHECK(job.err() == "");
    check_clean(job);
}

TEST_CASE("ranks that ignore an interrupt are killed two seconds later, or by a second one")
{
    const bool twice = GENERATE(true, false);
    TestJob job(shell(2, "trap 'echo no' INT; echo up; while :; do sleep 0.02; done"));
    REQUIRE(job.prints("up\n", 2));
    const auto begin = std::chrono::steady_clock::now();
    job.send(SIGINT);
    CHECK(job.prints("no\n", 2));
    if (twice)
        job.send(SIGINT);
    CHECK(job.wait() == 128 + SIGINT);
    const auto took = std::chrono::steady_clock::now() - begin;
    CHECK((took >= 2s) == !twice);
    check_clean(job);
}

TEST_CASE("an interrupt at any moment of the start leaves nothing")
{
    std::mt19937 random(11);
    for (int round = 0; round < 10; round++) {
        TestJob job({"-n", "4", "sleep", "1000"});
        usleep(random() % 40000); // any moment will do
        job.send(SIGINT);
        CHECK(job.wait() == 128 + SIGINT);
        check_clean(job);
    }
}

TEST_CASE("a suspended job stops, ranks and all, and goes on")
{
    TestJob job(shell(2, "echo $$; exec sleep 1000"));
    REQUIRE(job.prints("\n", 2));
    std::vector<pid_t> all{job.pid()};
    for (const std::string &line : sorted_lines(job.out()))
        all.push_back(std::stoi(line));
    const auto stopped = [&] {
        return std::count_if(all.begin(), all.end(), [](pid_t p) { return state_of(p) == "T"; });
    };
    job.send(SIGTSTP);
    CHECK(eventually(10s, [&] { return stopped() == 3; }));
    job.send(SIGCONT);
    CHECK(eventually(10s, [&] { return stopped() == 0; }));
    job.send(SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
    check_clean(job);
}

// ---- sudden deaths ------------------------------------------------------------------------

TEST_CASE("kill -9 of a rank leaves nothing and is told")
{
    TestJob job(shell(4, std::string("echo \"$$\"; ") + with_family));
    REQUIRE(job.prints("up\n", 4));
    const pid_t victim = std::stoi(job.out());
    kill(victim, SIGKILL);
    CHECK(job.wait() == 128 + SIGKILL);
    CHECK_THAT(job.err(), Contains("(pid " + std::to_string(victim) +
                                   ") was killed by signal 9 (Killed); ending the job\n"));
    check_clean(job);
}

TEST_CASE("of ranks that end together the one that was killed is told")
{
    TestJob job(shell(2, "trap 'exit 7' USR1; echo $PMIX_RANK $$; while :; do sleep 0.02; done"));
    REQUIRE(job.prints("\n", 2));
    const Strings ranks = sorted_lines(job.out()); // "0 PID", "1 PID"
    const pid_t first = std::stoi(ranks[0].substr(2)), second = std::stoi(ranks[1].substr(2));
    const pid_t daemon = job.daemon();
    REQUIRE(daemon > 1);
    kill(daemon, SIGSTOP); // and so learns of both at once, of the older child before the younger
    kill(first, SIGUSR1);
    kill(second, SIGKILL);
    CHECK(eventually(10s, [&] { return state_of(first) == "Z" && state_of(second) == "Z"; }));
    kill(daemon, SIGCONT);
    CHECK(job.wait() == 128 + SIGKILL);
    CHECK_THAT(job.err(), StartsWith("unetrun: rank 1 (pid " + std::to_string(second) +
                                     ") was killed by signal 9 (Killed)"));
    check_clean(job);
}

TEST_CASE("kill -9 of unetrun leaves nothing")
{
    TestJob job(shell(4, with_family));
    REQUIRE(job.prints("up\n", 4));
    job.send(SIGKILL);
    check_clean(job);
    CHECK(job.wait() == 128 + SIGKILL);
}

TEST_CASE("kill -9 of a daemon leaves nothing and is told")
{
    TestJob job(shell(4, with_family));
    REQUIRE(job.prints("up\n", 4));
    const pid_t victim = job.daemon();
    REQUIRE(victim != 0);
    kill(victim, SIGKILL);
    check_clean(job);
    CHECK(job.wait() == 1);
    CHECK_THAT(job.err(), Contains("(pid " + std::to_string(victim) +
                                   ") died: killed by signal 9 (Killed); ending the job"));
}

TEST_CASE("kill -9 of one of several daemons leaves nothing")
{
    TestJob job({"-n", "4", "--nodes", "2", "sh", "-c", with_family});
    REQUIRE(job.prints("up\n", 4));
    const pid_t victim = job.daemon();
    REQUIRE(victim > 1);
    kill(victim, SIGKILL);
    CHECK(job.wait() == 1);
    check_clean(job);
}

// In a namespace of processes: unetrun has a child from before it began.  Its rank ends that child,
// starts a process that gets the same number, and kills the daemon, so that it is left to the front
// end to end the process.
const char *const reuses_a_number = R"(
export UNETRUN="$0" PID_FILE="$TMPDIR/child" RANK='
    p=$(cat "$PID_FILE")
    kill -9 $p
    while [ -d /proc/$p ]; do :; done
    until [ "$child" = $p ]; do
        [ -z "$child" ] || kill -9 $child
        echo $((p - 1)) >/proc/sys/kernel/ns_last_pid
        setsid sleep 1000 & child=$!
    done
    kill -9 $PPID'
unshare --pid --fork --mount-proc --kill-child bash -c '
    bash -c "sleep 1000 & echo \$! >\"\$PID_FILE\"; exec \"\$UNETRUN\" -n 1 bash -c \"\$RANK\""
    echo "ended with $?"
    [ ! -d /proc/$(cat "$PID_FILE") ] || echo "survived"
    rm "$PID_FILE"'
)";

TEST_CASE("a process with the number of a child from before unetrun is ended with the job")
{
    if (std::system("unshare --pid --fork --mount-proc true 2>/dev/null") != 0) {
        std::puts("\nnot run: a namespace of processes takes root");
        return;
    }
    TestJob job(script(reuses_a_number));
    CHECK(job.wait() == 0);
    CHECK(job.out() == "ended with 1\n");
    CHECK_THAT(job.err(), Contains("died: killed by signal 9 (Killed); ending the job\n"));
    check_clean(job);
}

TEST_CASE("kill -9 of anything at any moment leaves nothing")
{
    std::mt19937 random(std::random_device{}());
    const unsigned seed = random();
    INFO("seed " << seed);
    random.seed(seed);
    for (int round = 0; round < 24; round++) {
        TestJob job(client({"-n", "3"}, {"hang"}));
        usleep(random() % 80000); // any moment will do
        const std::vector<pid_t> processes = job.processes();
        const pid_t victim = round % 3 == 0 || processes.empty()
                                 ? job.pid()
                                 : processes[random() % processes.size()];
        INFO("round " << round << ", victim " << victim << " of " << processes.size());
        kill(victim, SIGKILL);
        CHECK(job.wait() != 0);
        check_clean(job);
    }
}

TEST_CASE("what a job left that died with all its daemons, the next one removes")
{
    TestJob job({"-n", "2", "sh", "-c", "echo up; exec sleep 1000"});
    REQUIRE(job.prints("up\n", 2));
    const pid_t daemon = job.daemon();
    REQUIRE(daemon > 1);
    kill(job.pid(), SIGSTOP); // so that it cannot tidy up
    kill(daemon, SIGKILL);
    job.send(SIGKILL);
    CHECK(job.wait() == 128 + SIGKILL);
    CHECK(eventually(aftermath, [&] { return job.processes().empty(); }));
    REQUIRE(job.files().size() == 1);
    TestJob next({"sh", "-c", "true"}, {"TMPDIR=" + job.tmpdir()});
    CHECK(next.wait() == 0);
    CHECK(job.files().empty());
}

TEST_CASE("what another user has prepared under a job's name stays as it is")
{
    constexpr uid_t stranger = 54321;
    if (geteuid() != 0) {
        std::puts("\nnot run: being two users takes root");
        return;
    }
    char name[] = "/tmp/unetrun-stranger-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    const fs::path place = name, trap = place / "unetrun-0-1-0123456789abcdef.0";
    fs::permissions(place, fs::perms(01777));
    fs::create_directory(trap);
    std::ofstream(trap / "precious") << "mine\n";
    REQUIRE(chown(trap.c_str(), stranger, stranger) == 0);
    TestJob job({"-n", "2", "true"}, {"TMPDIR=" + place.string()});
    CHECK(job.wait() == 0);
    CHECK(fs::exists(trap / "precious"));
    fs::remove_all(place);
}
