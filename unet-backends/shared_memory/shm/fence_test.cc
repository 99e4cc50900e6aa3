// SPDX-License-Identifier: BSD-3-Clause
//
// The fences that who sleeps makes for those who send (unet.md, E and F).
#include "conformance/harness.h"

extern "C" {
#include "core/core.h"
}
#include <catch2/catch.hpp>
#include <cstdarg>
#include <cstdio>
#include <dlfcn.h>
#include <functional>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

// What happens at a fence in all threads; the library's calls come by here.
static std::function<void()> at_fence;

extern "C" long syscall(long number, ...)
{
    static const auto libc = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
    long word[6];
    va_list words;

    va_start(words, number);
    for (long &one : word)
        one = va_arg(words, long);
    va_end(words);
    if (number == SYS_membarrier && word[0] == MEMBARRIER_CMD_GLOBAL_EXPEDITED && at_fence)
        at_fence();
    return libc(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

TEST_CASE("who arms looks for what his senders' fences bring to light")
{
    Pair pair;
    int fences = 0;

    if (!pair.b->fences_for_others) {
        std::puts("\nnot run: this kernel makes no fences in other processes");
        return;
    }
    // A store that its processor kept back until now.
    at_fence = [&] {
        fences++;
        REQUIRE(__atomic_load_n(pair.b->armed, __ATOMIC_RELAXED) != 0);
        REQUIRE(send_text(pair.a, pair.ab, "late") == 0);
    };
    const int found = unet_arm(pair.b, nullptr);
    at_fence = nullptr;
    CHECK(fences == 1);
    CHECK(found == 1);
    CHECK(text(take(pair.b)) == "late");
}

TEST_CASE("a slow sender rings for the arming that it saw, and leaves the next one")
{
    int bell[2];
    char rung[4];
    uint32_t armed = 2 << UNET_ARMED_SHIFT | UNET_NONEMPTY;

    REQUIRE(unet_bell_open(bell) == 0);
    unet_bell_ring(bell[1], &armed, 1 << UNET_ARMED_SHIFT | UNET_NONEMPTY);
    CHECK(armed == (2 << UNET_ARMED_SHIFT | UNET_NONEMPTY));
    unet_bell_ring(bell[1], &armed, armed);
    CHECK(armed == 0);
    CHECK(read(bell[0], rung, sizeof rung) == 2);
    unet_bell_close(bell);
}
