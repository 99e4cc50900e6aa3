// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs on several hosts, which are all this machine: relays, the tree, and what goes
// wrong there.  tests/hosts_test.cc does it with real remote shells.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <signal.h>
#include <unistd.h>

#include "front/hosts.h"
#include "quoted.h"
#include "test/job.h"

using Catch::Matchers::Contains;
using Catch::Matchers::Matches;
using Strings = TestJob::Strings;
using namespace std::chrono_literals;

namespace {

constexpr auto aftermath = 20s; // for everything of a job to be gone

Strings on(const std::string &hosts, const Strings &more)
{
    Strings arguments{"--hosts", hosts, "--rsh", "sh " + quoted(TEST_RSH)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

void check_clean(const TestJob &job)
{
    const bool clean = job.clean_within(aftermath);
    INFO("left behind: " << job.leftovers());
    CHECK(clean);
}

// A script by which each rank has a child of its own and one that hides in a session.
const char *const with_family = "sleep 1000 & setsid sleep 1000 & echo up; wait";

} // namespace

TEST_CASE("fences and data go over a tree of any shape")
{
    const std::string fanout = GENERATE("1", "2", "32");
    TestJob job(on("a,b,c,d,e", {"--fanout", fanout, "--ppn", "2", PMIX_CLIENT}));
    CHECK(job.wait() == 0);
    CHECK(job.err() == "");
    for (int rank = 0; rank < 10; rank++)
        CHECK_THAT(job.out(), Contains("rank " + std::to_string(rank) + " got 10 cards"));
    CHECK_THAT(job.out(), Contains("rank 9 of 10, universe 10, local rank 1 of 2, node 4 of 5, "
                                   "app 0 of 1, peers 8,9, host named"));
    check_clean(job);
}

TEST_CASE("ranks that take turns on hosts know their neighbours")
{
    TestJob job(on("a,b:3,c", {"-n", "5", "--map-by", "node", PMIX_CLIENT}));
    CHECK(job.wait() == 0);
    CHECK_THAT(job.out(), Contains("rank 4 of 5, universe 5, local rank 2 of 3, node 1 of 3, app "
                                   "0 of 1, peers 1,3,4, host named"));
}

TEST_CASE("hosts that get no rank are left alone")
{
    TestJob job(on("a:2,b:2,refusing", {"-n", "4", PMIX_CLIENT}));
    CHECK(job.wait() == 0);
    CHECK_THAT(job.out(), Contains("node 1 of 2"));
}

TEST_CASE("a host that gets no rank because another has many cores ends with the job")
{
    TestJob job(on("a:8,b:8", {"-n", "2", "--map-by", "core", PMIX_CLIENT}));
    CHECK(job.wait() == 0);
    CHECK_THAT(job.out(), Contains("node 0 of 1"));
    check_clean(job);
}

TEST_CASE("input, output and exit codes pass through relays")
{
    TestJob job(on("a,b,c", {"--fanout", "1", "--ppn", "1", "--tag-output", "sh", "-c",
                             "[ $PMIX_RANK = 2 ] && trap 'exit 7' USR2 || trap '' USR2;"
                             "cat; echo done >&2; echo ready; sleep 1000 & wait"}));
    job.write_input("some words\n");
    job.close_input();
    for (const char *rank : {"[0]", "[1]", "[2]"})
        REQUIRE(job.prints(rank + std::string(" ready\n")));
    job.send(SIGUSR2);
    CHECK(job.wait() == 7);
    CHECK_THAT(job.out(), Contains("[0] some words\n"));
    CHECK_THAT(job.err(), Contains("[2] done\n"));
    CHECK_THAT(job.err(),
               Matches("(.|\n)*unetrun: rank 2 \\(pid [0-9]+ on c\\) exited with code 7; "
                       "ending the job\n"));
    check_clean(job);
}

// ---- this machine among the hosts -------------------------------------------------------

namespace {

// A program ssh that goes nowhere, and notes for which hosts it was called.
class FalseSsh {
public:
    FalseSsh()
    {
        char name[] = "/tmp/unetrun-ssh-XXXXXX";
        folder_ = mkdtemp(name);
        std::ofstream(folder_ / "ssh") << "#!/bin/sh\n"
                                          "while [ \"$1\" != \"${1#-}\" ]; do\n"
                                          "    [ \"$1\" = -o ] && shift\n"
                                          "    shift\n"
                                          "done\n"
                                          "echo \"$1\" >>\"${0%/*}/asked\"\n"
                                          "shift\n"
                                          "exec /bin/sh -c \"$*\"\n";
        std::filesystem::permissions(folder_ / "ssh", std::filesystem::perms(0755));
    }
    ~FalseSsh() { std::filesystem::remove_all(folder_); }
    FalseSsh(const FalseSsh &) = delete;
    FalseSsh &operator=(const FalseSsh &) = delete;

    Strings environment() const
    {
        return {"PATH=" + folder_.string() + ":" + std::getenv("PATH"), "SSH_CONNECTION="};
    }

    // The hosts, in alphabetical order.
    Strings asked() const
    {
        std::ifstream file(folder_ / "asked");
        Strings hosts;
        for (std::string host; std::getline(file, host);)
            hosts.push_back(host);
        std::sort(hosts.begin(), hosts.end());
        return hosts;
    }

private:
    std::filesystem::path folder_;
};

} // namespace

TEST_CASE("this machine needs no sshd, by whatever name it is one of the hosts")
{
    const std::string name =
        GENERATE(as<std::string>(), "localhost", "127.0.0.1", "::1", unetrun::host_name());
    const FalseSsh ssh;
    TestJob job({"--hosts", name, "--ppn", "2", PMIX_CLIENT}, ssh.environment());
    CHECK(job.wait() == 0);
    CHECK_THAT(job.out(), Contains("rank 1 of 2, universe 2, local rank 1 of 2, node 0 of 1"));
    CHECK(ssh.asked() == Strings{});
    check_clean(job);
}

TEST_CASE("this machine and others are hosts of one job, wherever it is in the tree")
{
    struct Case {
        const char *hosts;
        Strings others;
    };
    const auto mix = GENERATE(Case{"localhost,b,c", {"b", "c"}}, Case{"a,b,localhost", {"a", "b"}},
                              Case{"a,b,c,localhost,d", {"a", "b", "c", "d"}});
    const std::string fanout = GENERATE("1", "32");
    const std::size_t ranks = 2 * (mix.others.size() + 1);
    const FalseSsh ssh;
    TestJob job({"--hosts", mix.hosts, "--fanout", fanout, "--ppn", "2", PMIX_CLIENT},
                ssh.environment());
    CHECK(job.wait() == 0);
    CHECK(job.err() == "");
    for (std::size_t rank = 0; rank < ranks; rank++)
        CHECK_THAT(job.out(), Contains("rank " + std::to_string(rank) + " got " +
                                       std::to_string(ranks) + " cards"));
    CHECK(ssh.asked() == mix.others);
    check_clean(job);
}

TEST_CASE("a remote shell that was named reaches this machine, too")
{
    const FalseSsh ssh;
    TestJob job({"--hosts", "localhost", "--rsh", "ssh", "true"}, ssh.environment());
    CHECK(job.wait() == 0);
    CHECK(ssh.asked() == Strings{"localhost"});
}

TEST_CASE("kill -9 of what runs here of a job on several hosts leaves nothing and is told")
{
    const std::string name = GENERATE("unetrun", "unetd-relay", "unetd");
    const std::size_t which = GENERATE(0, 1);
    const FalseSsh ssh;
    TestJob job({"--hosts", "a,localhost", "--fanout", "1", "sh", "-c", with_family},
                ssh.environment());
    REQUIRE(job.prints("up\n", 2));
    const std::vector<pid_t> found = job.named(name);
    REQUIRE(found.size() == (name == "unetrun" ? 1 : 2));
    kill(found[which % found.size()], SIGKILL);
    CHECK(job.wait() == (name == "unetrun" ? 128 + SIGKILL : 1));
    check_clean(job);
}

TEST_CASE("much output of many hosts is neither lost nor torn, however slowly it is taken")
{
    TestJob job(on("a,b,c,d", {"--fanout", "1", "seq", "200000"}));
    CHECK(job.wait() == 0);
    CHECK(count_lines(job.out()) == 800000);
    CHECK(job.out().size() == 4 * 1288895u);
}

TEST_CASE("a rank's death, its abort and what it is at are told with its host")
{
    TestJob killed(on("a,b", {"sh", "-c", "[ $PMIX_RANK = 1 ] && kill -9 $$; sleep 1000"})),
        aborted(on("a,b", {PMIX_CLIENT, "abort", "9", "1"})),
        asked(on("a,b", {"sh", "-c", "echo up; exec sleep 1000"}));
    CHECK(killed.wait() == 128 + SIGKILL);
    CHECK_THAT(killed.err(), Matches("unetrun: rank 1 \\(pid [0-9]+ on b\\) was killed by signal 9 "
                                     "\\(Killed\\); ending the job\n"));
    CHECK(aborted.wait() == 9);
    CHECK_THAT(aborted.err(),
               Matches("unetrun: rank 1 \\(pid [0-9]+ on b\\) aborted the job (.|\n)*"));
    REQUIRE(asked.prints("up\n", 2));
    asked.send(SIGUSR1);
    asked.send(SIGTERM);
    CHECK(asked.wait() == 128 + SIGTERM);
    CHECK_THAT(asked.err(), Matches("(.|\n)*rank 1 \\(pid [0-9]+ on b\\) has not joined(.|\n)*"));
}

TEST_CASE("signals reach ranks on every host")
{
    TestJob job(on("a,b,c", {"--fanout", "1", "sh", "-c",
                             "trap 'echo got; exit 3' TERM; echo up; while :; do sleep 0.02; "
                             "done"}));
    REQUIRE(job.prints("up\n", 3));
    job.send(SIGTERM);
    CHECK(job.wait() == 3);
    CHECK(job.prints("got\n", 3));
    check_clean(job);
}

TEST_CASE("option --timeout ends a job on several hosts")
{
    TestJob job(on("a,b,c", {"--fanout", "1", "--timeout", "1", "sleep", "1000"}));
    CHECK(job.wait() == 124);
    check_clean(job);
}

TEST_CASE("option --stage runs a copy of the program, and takes it away")
{
    TestJob job(on("a,b", {"--wdir", "/", "--stage", "sh", "-c", "readlink /proc/$$/exe"}));
    CHECK(job.wait() == 0);
    CHECK_THAT(job.out(), Matches("(.*/unetrun-[^/]*\\.[01]/program\n){2}"));
    check_clean(job);
}

// ---- what goes wrong at the start ---------------------------------------------------------

TEST_CASE("a host that cannot be used is told in one line, and no rank starts")
{
    struct Case {
        const char *host, *text;
    };
    const auto bad = GENERATE(
        Case{"refusing", "refusing refuses the key: me@refusing: Permission denied (publickey).; "},
        Case{"curt", "curt refuses the key: me@curt: Permission denied (publickey).; "},
        Case{"stammering",
             "stammering refuses the key: me@stammering: Permission denied (publickey).; "},
        Case{"unknown", "unknown is not known: ssh: Could not resolve hostname"},
        Case{"bare", "cannot run " UNETRUN_PROGRAM " on bare: "},
        Case{"chatty", "'Welcome to chatty, the talking machine'; let the shell's start-up files"},
        Case{"old", "old has another version of unetrun (9.9, this is "});
    const std::string fanout = GENERATE("1", "32");
    TestJob job(on(std::string("a,") + bad.host, {"--fanout", fanout, "echo", "started"}));
    CHECK(job.wait() == 1);
    CHECK(job.out() == "");
    CHECK_THAT(job.err(), Contains(bad.text) && Contains("; ending the job\n"));
    CHECK(count_lines(job.err()) == 1);
    check_clean(job);
}

TEST_CASE("a remote shell that is not there is told")
{
    TestJob job({"--hosts", "a", "--rsh", "no-such-shell", "true"});
    CHECK(job.wait() == 127);
    CHECK_THAT(job.err(), Contains("--rsh: cannot find the program no-such-shell in PATH") &&
                              Contains("; install it or name another one\n") &&
                              !Contains("openssh"));
}

TEST_CASE("a host that cannot reach those below it is told")
{
    TestJob job(on("pathless,b", {"--fanout", "1", "echo", "started"}));
    CHECK(job.wait() == 127);
    CHECK(job.out() == "");
    CHECK_THAT(job.err(),
               Contains("unetrun: pathless: --rsh: cannot find the program sh in PATH") &&
                   !Contains("--stage"));
    check_clean(job);
}

TEST_CASE("what is missing on a host is told with the host's name")
{
    TestJob program(on("a,b", {"./no/such"})), folder(on("a", {"--wdir", "/no/such", "true"}));
    CHECK(program.wait() == 127);
    CHECK_THAT(program.err(), Contains("./no/such: No such file") && Contains("; --stage sends") &&
                                  Matches("unetrun: [ab]: cannot run (.|\n)*"));
    CHECK(folder.wait() == 1);
    CHECK_THAT(folder.err(), Contains("a: cannot change to the directory /no/such"));
    check_clean(program);
}

TEST_CASE("an interrupt at any moment of the start on several hosts leaves nothing")
{
    std::mt19937 random(17);
    for (int round = 0; round < 8; round++) {
        TestJob job(on("a,b,c", {"--fanout", "1", "sleep", "1000"}));
        usleep(random() % 150000); // any moment will do
        job.send(SIGINT);
        CHECK(job.wait() == 128 + SIGINT);
        check_clean(job);
    }
}

// ---- a host that lies ----------------------------------------------------------------------

TEST_CASE("a host that speaks of another's ranks, or of none there are, ends the job")
{
    const std::string about =
        GENERATE("output", "started", "exited", "aborted", "report", "no-rank");
    TestJob job(on("a,lying-" + about, {"--timeout", "10", "sleep", "1000"}),
                {"UNETRUN_LIAR=" TEST_LIAR});
    INFO("lies about " << about);
    CHECK(job.wait() == 1);
    CHECK(job.out() == "");
    CHECK(job.err() == "unetrun: a daemon speaks of a rank that is not its own\n");
    check_clean(job);
}

TEST_CASE("a host that speaks of ranks before there are any ends the job")
{
    TestJob job(on("a,lying-early", {"--timeout", "10", "sleep", "1000"}),
                {"UNETRUN_LIAR=" TEST_LIAR});
    CHECK(job.wait() == 1);
    CHECK(job.out() == "");
    CHECK(job.err() == "unetrun: a daemon speaks of ranks before there are any\n");
    check_clean(job);
}

TEST_CASE("a host that speaks for another one ends the job")
{
    TestJob job(on("a,lying-node", {"--timeout", "10", "sleep", "1000"}),
                {"UNETRUN_LIAR=" TEST_LIAR});
    CHECK(job.wait() == 1);
    CHECK(job.out() == "");
    CHECK(job.err() == "unetrun: the daemon of lying-node speaks for a node that is not its own\n");
    check_clean(job);
}

// ---- sudden deaths -------------------------------------------------------------------------

TEST_CASE("kill -9 of a relay or daemon, wherever in the tree, leaves nothing and is told")
{
    const std::string name = GENERATE("unetd-relay", "unetd");
    const std::size_t which = GENERATE(0, 1, 2);
    TestJob job(on("a,b,c", {"--fanout", "1", "sh", "-c", with_family}));
    REQUIRE(job.prints("up\n", 3));
    const std::vector<pid_t> found = job.named(name);
    REQUIRE(found.size() == 3);
    kill(found[which], SIGKILL);
    CHECK(job.wait() == 1);
    CHECK_THAT(job.err(),
               Matches(name == "unetd"
                           ? "unetrun: the daemon of [abc] \\(pid " + std::to_string(found[which]) +
                                 "\\) died: killed by signal 9 \\(Killed\\); ending the job\n"
                           : "unetrun: lost the connection to [abc] "
                             "\\(killed by signal 9 \\(Killed\\)\\); "
                             "ending the job\n"));
    check_clean(job);
}

TEST_CASE("kill -9 of unetrun leaves nothing on any host")
{
    TestJob job(on("a,b,c", {"--fanout", "1", "sh", "-c", with_family}));
    REQUIRE(job.prints("up\n", 3));
    job.send(SIGKILL);
    CHECK(job.wait() == 128 + SIGKILL);
    check_clean(job);
}

TEST_CASE("kill -9 of anything on several hosts, at any moment, leaves nothing")
{
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 24; round++) {
        TestJob job(on("a,b,c", {"--fanout", "1", "--ppn", "2", PMIX_CLIENT, "hang"}));
        usleep(random() % 200000); // any moment will do
        const std::vector<pid_t> processes = job.processes();
        const pid_t victim = processes.empty() ? job.pid() : processes[random() % processes.size()];
        INFO("round " << round << ", victim " << victim << " of " << processes.size());
        kill(victim, SIGKILL);
        CHECK(job.wait() != 0);
        check_clean(job);
    }
}
