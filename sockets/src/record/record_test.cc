// SPDX-License-Identifier: BSD-3-Clause
//
// Processes end without giving their records up.
#include <catch2/catch.hpp>
#include <chrono>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern "C" {
struct sockets_record;
void sockets_real_init();
void sockets_watch_init();
void sockets_record_after_fork();
sockets_record *sockets_record_new();
bool sockets_record_drop(sockets_record *record);
void sockets_record_watch(sockets_record *record);
void sockets_record_inherit(sockets_record *record);
void sockets_record_end(sockets_record *record);
void sockets_record_exec(sockets_record *record, bool failed);
bool sockets_record_settle(sockets_record *record);
bool sockets_process_is_filtered();
}

namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
    int end[2];
    Pipe() { REQUIRE(pipe(end) == 0); }
    ~Pipe() { close(end[0]); }
};

sockets_record *begin()
{
    sockets_real_init();
    sockets_watch_init();
    sockets_record *const record = sockets_record_new();
    REQUIRE(record != nullptr);
    return record;
}

// Whoever is under a filter of system calls asks for nobody.
bool asks()
{
    sockets_watch_init();
    if (sockets_process_is_filtered())
        WARN("left out: it takes no seccomp");
    return !sockets_process_is_filtered();
}

// A child that does something, and lives until the pipe is closed.
template <class Do> pid_t child_that(const Do &does, Pipe &go)
{
    const pid_t child = fork();
    char byte = 0;

    if (child == 0) {
        sockets_record_after_fork();
        close(go.end[1]);
        does();
        _exit(read(go.end[0], &byte, 1) == 0 ? 0 : 1);
    }
    REQUIRE(child > 0);
    return child;
}

void end(pid_t child, const Pipe &go)
{
    siginfo_t info;

    close(go.end[1]);
    REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
    CHECK(info.si_code == CLD_EXITED);
    CHECK(info.si_status == 0);
}

void reap(pid_t child)
{
    REQUIRE(waitpid(child, nullptr, 0) == child);
}

// None is looked for right after that was in vain, and who lived a moment ago is not asked for.
sockets_record *next()
{
    const auto until = Clock::now() + std::chrono::milliseconds(300);
    sockets_record *record = nullptr;

    while (!record && Clock::now() < until)
        record = sockets_record_new();
    return record;
}

bool settles(sockets_record *record, int milliseconds)
{
    const auto until = Clock::now() + std::chrono::milliseconds(milliseconds);
    bool settled = false;

    while (!settled && Clock::now() < until)
        settled = sockets_record_settle(record) || sched_yield() != 0;
    return settled;
}

// Whether a hold is given up as of a process that had this one's number.
bool gives_up_of_namesake()
{
    sockets_record *const record = begin();

    sockets_record_watch(record);
    sockets_record_inherit(record);
    sockets_record *const after = sockets_record_new(); // the one that has become free first
    sockets_record_drop(after);
    return after == record;
}

// From now on system calls are filtered, though all are allowed.
void filter()
{
    sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const sock_fprog program = {1, &allow};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

} // namespace

TEST_CASE("a record is free when the last process that had it is dead, and not before that")
{
    if (!asks())
        return;
    sockets_record *const ours = begin(), *const of_child = sockets_record_new();
    std::vector<sockets_record *> others;
    Pipe go;

    REQUIRE(of_child != nullptr);
    while (sockets_record *record = sockets_record_new())
        others.push_back(record);
    CHECK(others.size() > 1000);
    sockets_record_end(ours);
    const pid_t child = child_that([&] { sockets_record_watch(of_child); }, go);
    CHECK(next() == nullptr);
    end(child, go);
    CHECK(next() == of_child); // it is a zombie
    CHECK(next() == nullptr);
    reap(child);
    CHECK(sockets_record_drop(ours)); // closed after all: that is no second holder's end
    CHECK(sockets_record_drop(of_child));
    for (sockets_record *record : others)
        CHECK(sockets_record_drop(record));
}

TEST_CASE("several children are watched, and each is a holder less once, however it ends")
{
    enum { CHILDREN = 4 };
    if (!asks())
        return;
    sockets_record *const record = begin();
    const bool ends = GENERATE(false, true), executes = GENERATE(false, true);

    for (int i = 0; i < CHILDREN; i++) {
        Pipe go;
        const pid_t child = child_that(
            [&] {
                sockets_record_watch(record);
                if (executes)
                    sockets_record_exec(record, false);
                if (ends)
                    sockets_record_end(record);
            },
            go);
        CHECK_FALSE(settles(record, i == 0 ? 50 : 0));
        end(child, go);
        reap(child);
    }
    int times = 0;
    while (settles(record, 50)) // some, or all of them
        times++;
    CHECK(times >= 1);
    CHECK(times <= CHILDREN);
}

TEST_CASE("who closes a record is a holder no more, and not once more less when it is dead")
{
    sockets_record *const record = begin();
    Pipe go;
    const pid_t child = child_that(
        [&] {
            sockets_record_watch(record);
            sockets_record_drop(record);
        },
        go);

    end(child, go);
    reap(child);
    CHECK_FALSE(settles(record, 50));
}

TEST_CASE(
    "who executes another program is a holder no more after a while, and is one if that fails")
{
    const bool fails = GENERATE(false, true);
    sockets_record *const record = begin();
    Pipe go;
    const pid_t child = child_that( // it lives on as another program
        [&] {
            sockets_record_watch(record);
            sockets_record_exec(record, false);
            if (fails)
                sockets_record_exec(record, true);
        },
        go);

    CHECK_FALSE(settles(record, 1000));
    CHECK(settles(record, 3000) == !fails);
    end(child, go);
    reap(child);
}

TEST_CASE("who executes another program under a filter is a holder no more after a while, either")
{
    Pipe go;
    const pid_t child = child_that(
        [&] {
            filter();
            sockets_record *const record = begin();
            const pid_t executes = fork();
            if (executes == 0) {
                sockets_record_after_fork();
                sockets_record_watch(record);
                sockets_record_exec(record, false);
                _exit(0);
            }
            reap(executes);
            if (!sockets_process_is_filtered() || settles(record, 1000) || !settles(record, 3000))
                _exit(1);
        },
        go);

    end(child, go);
    reap(child);
}

TEST_CASE("what bears the number of a new child is of one that is dead")
{
    CHECK(gives_up_of_namesake());
}

TEST_CASE("a process whose number others do not know it by names itself in no record")
{
    int status = 0;

    const pid_t outside = fork();
    if (outside == 0) {
        if (unshare(CLONE_NEWPID) != 0)
            _exit(2);
        const pid_t inside = fork(); // /proc is that of the namespace outside
        if (inside == 0) {
            sockets_record_after_fork();
            _exit(gives_up_of_namesake() ? 1 : 0);
        }
        waitpid(inside, &status, 0);
        _exit(WEXITSTATUS(status));
    }
    REQUIRE(waitpid(outside, &status, 0) == outside);
    if (WEXITSTATUS(status) == 2)
        WARN("left out: it takes a namespace of processes");
    else
        CHECK(WEXITSTATUS(status) == 0);
}
