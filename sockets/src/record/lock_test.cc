// SPDX-License-Identifier: BSD-3-Clause
//
// Who owns a lock may be killed.
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdint>
#include <sys/wait.h>
#include <unistd.h>

extern "C" bool sockets_thread_is_dead(uint32_t thread);

namespace {

bool is_dead(pid_t process)
{
    return sockets_thread_is_dead(static_cast<uint32_t>(process));
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
