// SPDX-License-Identifier: BSD-3-Clause
//
// What unetrun cannot do, is not told rightly, or has not the means for, and what it says then.

#include <catch2/catch.hpp>

#include <filesystem>
#include <unistd.h>

#include "quoted.h"
#include "test/commands.h"
#include "test/job.h"

using Catch::Matchers::Contains;
using Catch::Matchers::Matches;
using Catch::Matchers::StartsWith;
using Strings = TestJob::Strings;
using namespace std::chrono_literals;

namespace {

// A job of one rank that is unetrun under this option of ulimit, started by `user`.
Strings limited(const std::string &limit, const std::string &user = "env", int ranks = 2,
                const std::string &unetrun = UNETRUN_PROGRAM)
{
    return {"bash", "-c",
            "cd / && exec " + user + " bash -c \"ulimit " + limit + "; exec '" + unetrun + "' -n " +
                std::to_string(ranks) + " sleep 1000\""};
}

} // namespace

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
        Case{{"-n", "2", "./a", ":", "./b"}, 2, "-n N in front of ./b"},
        Case{
            {"-n", "1", "true", ":", "-n", "1", "no-such"}, 127, "cannot find the program no-such"},
        Case{{"-n", "1", "true", ":", "-n", "1", "-x", "NOT_SET", "true"}, 2, "-x NOT_SET"},
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

TEST_CASE("a machine whose interfaces are all down is told to bring one up")
{
    if (std::system("unshare --net true 2>/dev/null") != 0) {
        std::puts("\nnot run: a namespace of networks takes root");
        return;
    }
    TestJob job({"unshare", "--net", UNETRUN_PROGRAM, "-n", "2", "true"});
    CHECK(job.wait() == 1);
    CHECK_THAT(job.err(),
               StartsWith("unetrun: no network interface is up") && Contains("ip link set lo up"));
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
        Case{"-v 20000", "the limit of memory (ulimit -v) is 20000 KiB; raise it"},
        Case{"-v 30000", "the limit of memory (ulimit -v) is 30000 KiB; raise it"});
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
    TestJob job(script("ulimit -f 1; exec \"$0\" -n 2 " + quoted(PMIX_CLIENT) + " hang"));
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
    const std::string user = geteuid() == 0 ? "setpriv --reuid 54323 --clear-groups" : "env";
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

TEST_CASE("answers, and output, that cannot be written are no success")
{
    struct Case {
        const char *words, *says;
    };
    const auto bad = GENERATE(
        Case{"--help >/dev/full", "cannot write to standard output: No space left on device\n"},
        Case{"--version >/dev/full", "cannot write to standard output: No space left on device\n"},
        Case{"--print-options >/dev/full", "cannot write to standard output: No space left"},
        Case{"--version >&-", "cannot write to standard output: Bad file descriptor\n"},
        Case{"-n 2 echo hi >&-", "cannot write the ranks' output: standard output is closed; "
                                 "ending the job (>/dev/null drops it)\n"});
    INFO(bad.words);
    TestJob job(script("exec \"$0\" " + std::string(bad.words)));
    CHECK(job.wait() == 1);
    CHECK_THAT(job.err(), StartsWith("unetrun: ") && Contains(bad.says));
    TestJob silent(script("exec \"$0\" -n 2 true >&- 2>&-"));
    CHECK(silent.wait() == 0);
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
