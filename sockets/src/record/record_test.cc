// SPDX-License-Identifier: BSD-3-Clause
//
// Processes end without giving their records up.
#include <catch2/catch.hpp>
#include <sched.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern "C" {
struct sockets_record;
void sockets_real_init();
void sockets_record_init();
void sockets_record_after_fork();
sockets_record *sockets_record_new();
bool sockets_record_drop(sockets_record *record);
void sockets_record_watch(sockets_record *record);
bool sockets_record_settle(sockets_record *record);
void sockets_record_exec(sockets_record *record, bool failed);
}

namespace {

// A child that has the record, and is a zombie then.
pid_t ends_with(sockets_record *record)
{
    const pid_t child = fork();

    if (child == 0) {
        sockets_record_after_fork();
        sockets_record_watch(record);
        _exit(0);
    }
    siginfo_t info;
    REQUIRE(child > 0);
    REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
    return child;
}

void reap(pid_t child)
{
    REQUIRE(waitpid(child, nullptr, 0) == child);
}

} // namespace

TEST_CASE("a record is free when the last process that had it has ended, and not before that")
{
    sockets_real_init();
    sockets_record_init();
    sockets_record *const ours = sockets_record_new(), *of_child = sockets_record_new();
    std::vector<sockets_record *> others;

    REQUIRE(ours != nullptr);
    REQUIRE(of_child != nullptr);
    while (sockets_record *record = sockets_record_new())
        others.push_back(record);
    CHECK(others.size() > 1000);
    sockets_record_watch(ours);
    CHECK(sockets_record_new() == nullptr); // this process lives
    const pid_t child = ends_with(of_child);
    CHECK(sockets_record_new() == of_child);
    CHECK(sockets_record_new() == nullptr);
    reap(child);
    CHECK(sockets_record_drop(ours)); // closed after all: that is no second holder's end
    CHECK(sockets_record_drop(of_child));
    for (sockets_record *record : others)
        CHECK(sockets_record_drop(record));
}

TEST_CASE("who ends is a holder less once")
{
    sockets_real_init();
    sockets_record_init();
    sockets_record *const record = sockets_record_new();
    int go[2];
    char byte = 0;

    REQUIRE(record != nullptr);
    REQUIRE(pipe(go) == 0);
    const pid_t lives = fork();
    if (lives == 0) { // it is about to end
        sockets_record_after_fork();
        sockets_record_watch(record);
        sockets_record_watch(record);
        close(go[1]);
        _exit(read(go[0], &byte, 1) == 0 ? 0 : 1);
    }
    REQUIRE(lives > 0);
    CHECK_FALSE(sockets_record_settle(record));
    CHECK(close(go[1]) == 0);
    int status = -1;
    REQUIRE(waitpid(lives, &status, 0) == lives);
    CHECK(status == 0);
    while (!sockets_record_settle(record)) // who lived a moment ago is not asked for
        sched_yield();
    CHECK_FALSE(sockets_record_settle(record));
    close(go[0]);
}

TEST_CASE(
    "who closes a record, or executes a program without it, is a holder less at once, and once")
{
    const bool closes = GENERATE(false, true);

    sockets_real_init();
    sockets_record_init();
    sockets_record *const record = sockets_record_new();
    REQUIRE(record != nullptr);
    const pid_t child = fork();
    if (child == 0) {
        sockets_record_after_fork();
        sockets_record_watch(record);
        if (closes)
            sockets_record_drop(record);
        else
            sockets_record_exec(record, false);
        _exit(0);
    }
    reap(child);
    CHECK_FALSE(sockets_record_settle(record));
}
