// SPDX-License-Identifier: BSD-3-Clause
//
// Who owns a lock may be killed.
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdint>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" bool sockets_thread_is_dead(uint32_t thread);
extern "C" bool sockets_process_is_dead(uint32_t process);

namespace {

bool is_dead(pid_t process)
{
    const auto number = static_cast<uint32_t>(process);
    const bool dead = sockets_thread_is_dead(number);

    CHECK(sockets_process_is_dead(number) == dead);
    return dead;
}

} // namespace

TEST_CASE("a process is dead once it was killed, and not only when its parent has heard of that")
{
    const pid_t child = fork();
    siginfo_t info;

    if (child == 0) {
        pause();
        _exit(0);
    }
    REQUIRE(child > 0);
    CHECK_FALSE(is_dead(child));
    CHECK_FALSE(is_dead(getpid()));
    kill(child, SIGKILL);
    REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
    CHECK(is_dead(child));
    REQUIRE(waitpid(child, nullptr, 0) == child);
    CHECK(is_dead(child));
}

TEST_CASE("a process whose first thread has ended lives as long as others do")
{
    int go[2];

    REQUIRE(pipe(go) == 0);
    const pid_t child = fork();
    if (child == 0) {
        pthread_t thread;

        close(go[1]);
        pthread_create(
            &thread, nullptr,
            [](void *fd) -> void * {
                char byte;
                _exit(read(*static_cast<int *>(fd), &byte, 1) == 0 ? 0 : 1);
            },
            &go[0]);
        syscall(SYS_exit, 0);
    }
    REQUIRE(child > 0);
    const auto number = static_cast<uint32_t>(child);
    while (!sockets_thread_is_dead(number))
        sched_yield();
    CHECK_FALSE(sockets_process_is_dead(number));
    close(go[1]);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(sockets_process_is_dead(number));
    close(go[0]);
}
