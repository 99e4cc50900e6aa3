// SPDX-License-Identifier: BSD-3-Clause
//
// Signals to unetrun, and sudden deaths of any of its processes: nothing is left behind.

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <signal.h>
#include <unistd.h>

#include "test/commands.h"
#include "test/job.h"

using Catch::Matchers::Contains;
using Catch::Matchers::Matches;
using Catch::Matchers::StartsWith;
using Strings = TestJob::Strings;
using namespace std::chrono_literals;

namespace fs = std::filesystem;

namespace {

// A script by which each rank has a child of its own and one that hides in a session.
const char *const with_family = "sleep 1000 & setsid sleep 1000 & echo up; wait";

} // namespace

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
    auto quickest = std::chrono::steady_clock::duration::max();
    for (int tries = 0; tries < 5 && quickest >= 2s; tries++) { // others may use the machine
        TestJob job(shell(2, "trap 'echo no' INT; echo up; while :; do sleep 0.02; done"));
        REQUIRE(job.prints("up\n", 2));
        const auto begin = std::chrono::steady_clock::now();
        job.send(SIGINT);
        CHECK(job.prints("no\n", 2));
        if (twice)
            job.send(SIGINT);
        CHECK(job.wait() == 128 + SIGINT);
        quickest = std::min(quickest, std::chrono::steady_clock::now() - begin);
        check_clean(job);
        if (!twice)
            break;
    }
    CHECK((quickest >= 2s) == !twice);
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
