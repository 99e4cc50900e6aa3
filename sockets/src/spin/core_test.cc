// SPDX-License-Identifier: BSD-3-Clause
//
// Who waits on the core of the other end, and what the kernel is told of that.
#include <catch2/catch.hpp>
#include <cerrno>
#include <csetjmp>
#include <cstdlib>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <time.h>
#include <unistd.h>

extern "C" {
#include "spin/core.h"
void sockets_real_init(void);
}

namespace {

// A clock of the test's.
uint64_t now_ns = 1000000000;

} // namespace

extern "C" int clock_gettime(clockid_t /*clock*/, timespec *t) noexcept
{
    t->tv_sec = static_cast<time_t>(now_ns / 1000000000);
    t->tv_nsec = static_cast<long>(now_ns % 1000000000);
    return 0;
}

namespace {

constexpr int one = 0, other = 0;
const void *const stream = &one, *const another = &other + 1;

// The two ends of a connection as one thread sees them, which begins anew in each test.
struct End {
    uint64_t received = 0, sent = 0;
    uint32_t core = 0; // that was announced

    // Answers have come, and so much time has passed.
    uint32_t turn(uint64_t ns, bool leads = true, uint32_t theirs = 0, const void *with = stream,
                  bool is_strangers = false)
    {
        now_ns += ns;
        received += 64;
        sent += 64;
        return core = sockets_core_announce(with, leads, is_strangers, theirs, received, sent);
    }
};

void begin()
{
    unsetenv("UNETSOCK_CORE");
    sockets_real_init();
    sockets_core_init();
}

// Of so many turns, which take as long as the test says on one core and on two, those on one.
int joined(End &end, int turns, uint64_t apart_ns, uint64_t joined_ns)
{
    int n = 0;

    for (int i = 0; i < turns; i++)
        n += end.turn(end.core ? joined_ns : apart_ns) != 0;
    return n;
}

template <typename Test> void in_thread(Test test)
{
    std::thread(test).join();
}

bool is_whole()
{
    cpu_set_t mask;

    return sched_getaffinity(0, sizeof(mask), &mask) == 0 &&
           CPU_COUNT(&mask) == sysconf(_SC_NPROCESSORS_ONLN);
}

bool is_possible()
{
    return sysconf(_SC_NPROCESSORS_ONLN) > 1 && is_whole();
}

// In a thread that may be confined, if this process and machine have any.
template <typename Test> void in_free_thread(Test test)
{
    begin();
    if (is_possible())
        in_thread(test);
    else
        WARN("left out: it takes two cores, and all of them");
}

// What a sleep has seen.
struct Sleep {
    int cores = 0;
    std::jmp_buf *jump = nullptr;
    pid_t thread = 0;
};

ssize_t sleep(void *arg)
{
    Sleep &s = *static_cast<Sleep *>(arg);
    cpu_set_t mask;

    sched_getaffinity(0, sizeof(mask), &mask);
    s.cores = CPU_COUNT(&mask);
    if (s.jump)
        std::longjmp(*s.jump, 1);
    errno = EINTR;
    return -1;
}

// A follower that has announced the core where it is.
void follow(uint32_t core)
{
    End end;

    for (int i = 0; i < 6; i++)
        end.turn(1000, false, core);
}

uint32_t here()
{
    return static_cast<uint32_t>(sched_getcpu()) + 1;
}

} // namespace

TEST_CASE("two that take turns wait on one core where that is faster")
{
    in_free_thread([] {
        End end;

        CHECK(joined(end, 40, 100000, 10000) > 0);
        CHECK(joined(end, 100000, 100000, 10000) > 99000);
    });
}

TEST_CASE("where it is not faster they are apart but for some trials")
{
    begin();
    in_thread([] {
        End end;

        CHECK(joined(end, 100000, 10000, 9000) < 600);
        CHECK(joined(end, 100000, 10000, 9000) < 100);
    });
    in_thread([] {
        End end;
        const uint64_t before = now_ns;

        // A trial that goes badly is given up by the first turn that takes as long as all of them.
        joined(end, 100000, 10000, 5000000);
        CHECK(now_ns - before < 1050000000);
    });
}

TEST_CASE("what was tried in vain is not tried anew for each connection")
{
    in_free_thread([] {
        const char streams[100] = {};
        End end;
        int n = 0;

        for (const char &with : streams) // of sixty turns each
            for (int i = 0; i < 60; i++)
                n += end.turn(10000, true, 0, &with) != 0;
        CHECK(n > 0);
        CHECK(n < 50);
    });
}

TEST_CASE("they part when it is no longer faster, and meet when it is again")
{
    in_free_thread([] {
        End end;

        joined(end, 1000, 100000, 10000);
        CHECK(joined(end, 1000, 100000, 10000) == 1000);
        CHECK(joined(end, 200, 100000, 300000) < 60);
        joined(end, 20000, 100000, 10000);
        CHECK(joined(end, 1000, 100000, 10000) > 900);
    });
}

TEST_CASE("who has been on one core by chance is tried anew when that has ended")
{
    in_free_thread([] {
        End end;

        CHECK(joined(end, 1000, 9000, 9000) < 100);
        joined(end, 100, 100000, 10000);
        CHECK(joined(end, 1000, 100000, 10000) > 900);
    });
}

TEST_CASE("who takes no turns announces nothing")
{
    begin();
    in_thread([] {
        End end;
        int n = 0;

        for (int i = 0; i < 1000; i++) { // wakes two
            n += end.turn(100000, true, 0, stream) != 0;
            n += end.turn(100000, true, 0, another) != 0;
        }
        for (int i = 0; i < 1000; i++) { // and hears nothing
            now_ns += 100000;
            n += sockets_core_announce(stream, true, false, 0, 1, static_cast<uint64_t>(i)) != 0;
        }
        CHECK(n == 0);
    });
    setenv("UNETSOCK_CORE", "0", 1);
    sockets_core_init();
    in_thread([] {
        End end;

        CHECK(joined(end, 1000, 100000, 10000) == 0);
    });
}

TEST_CASE("the other end is followed to the core that it names time and again")
{
    in_free_thread([] {
        End end;
        int n = 0;

        for (int i = 0; i < 10; i++)
            n += end.turn(1000, false, 2) == 2;
        CHECK(n == 5);
        CHECK(end.turn(1000, false, 0) == 0);
        for (uint32_t i = 0; i < 100; i++)
            CHECK(end.turn(1000, false, 1 + i % 2) == 0);
    });
}

TEST_CASE("a stranger who has named a busy core is not followed for a second")
{
    for (bool is_strangers : {false, true})
        for (uint64_t took_ns : {900000, 1100000})
            in_free_thread([=] {
                const auto turns = [is_strangers](End &end, int n) {
                    int followed = 0;

                    for (int i = 0; i < n; i++)
                        followed += end.turn(1000000, false, here(), stream, is_strangers) != 0;
                    return followed;
                };
                const bool is_wary = is_strangers && took_ns > 1000000;
                End end;
                Sleep s;

                CHECK(turns(end, 20) > 0);
                sockets_core_sleep(sleep, &s);
                CHECK(sockets_core_learn(took_ns));
                CHECK((turns(end, 900) == 0) == is_wary);
                CHECK(turns(end, 200) > 0);
            });
}

TEST_CASE("a thread sleeps on the core, and has all of them before and after")
{
    in_free_thread([] {
        Sleep s;

        follow(here());
        CHECK(sockets_core_sleep(sleep, &s) == -1);
        CHECK(errno == EINTR);
        CHECK(s.cores == 1);
        CHECK(sockets_core_learn(0));
        CHECK(is_whole());
    });
}

TEST_CASE("who leaves a sleep by a jump has all cores when it wakes somebody, or sleeps")
{
    for (bool wakes : {false, true})
        in_free_thread([wakes] {
            std::jmp_buf jump;
            Sleep s;

            follow(here());
            s.jump = &jump;
            if (setjmp(jump) == 0)
                sockets_core_sleep(sleep, &s);
            CHECK(!is_whole());
            now_ns += 60000000;
            s.jump = nullptr;
            if (wakes)
                sockets_core_announce(stream, true, false, 0, 1000, 1000);
            else
                sockets_core_sleep(sleep, &s);
            CHECK(is_whole());
        });
}

TEST_CASE("what was announced long ago counts no more")
{
    in_free_thread([] {
        Sleep s;

        follow(here());
        now_ns += 60000000;
        sockets_core_sleep(sleep, &s);
        CHECK(s.cores > 1);
        CHECK(!sockets_core_learn(0));
    });
}

TEST_CASE("a thread that has cores of its own keeps them")
{
    in_free_thread([] {
        cpu_set_t mine;
        Sleep s;

        CPU_ZERO(&mine);
        CPU_SET(0, &mine);
        follow(1);
        sched_setaffinity(0, sizeof(mine), &mine);
        sockets_core_sleep(sleep, &s);
        CHECK(!sockets_core_learn(0));
        CHECK(!is_whole());
    });
    in_thread([] { // or none that there is
        Sleep s;

        follow(100000);
        sockets_core_sleep(sleep, &s);
        CHECK(s.cores > 1);
        CHECK(is_whole());
    });
}

TEST_CASE("a process that places threads or forbids itself system calls has none confined")
{
    in_free_thread([] {
        const auto never = [](void *arg) -> ssize_t {
            const pid_t thread = static_cast<Sleep *>(arg)->thread;

            in_thread([thread] { // another one, while this one sleeps
                cpu_set_t mask;

                CHECK(
                    (sched_getaffinity(thread, sizeof(mask), &mask) == 0 && CPU_COUNT(&mask) == 1));
                sockets_core_never();
                CHECK(
                    (sched_getaffinity(thread, sizeof(mask), &mask) == 0 && CPU_COUNT(&mask) > 1));
                CPU_ZERO(&mask);
                CPU_SET(0, &mask);
                sched_setaffinity(thread, sizeof(mask), &mask);
            });
            return 1;
        };
        Sleep s;

        s.thread = static_cast<pid_t>(syscall(SYS_gettid));
        follow(1);
        CHECK(sockets_core_sleep(never, &s) == 1);
        CHECK(!is_whole()); // as it was placed
        follow(1);
        sockets_core_sleep(sleep, &s);
        CHECK(!sockets_core_learn(0));
    });
}
