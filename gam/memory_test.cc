// SPDX-License-Identifier: BSD-3-Clause
//
// memory_test.cc - what an instance is told of windows, and what it answers.
#include "world.h"

#include <cstdlib>
#include <cstring>

using namespace world;

namespace {

// One window: of rank 1, a kilobyte at 0x1000.
struct Window {
    uint8_t memory[1024] = {};
    int live = 0;

    static void *find(void *arg, uint32_t rank, uint64_t address, size_t n)
    {
        auto *w = static_cast<Window *>(arg);

        return rank == 1 && address >= 0x1000 && n <= 1024 && address - 0x1000 <= 1024 - n
                   ? w->memory + (address - 0x1000)
                   : nullptr;
    }
    static void *allocate(void *arg, size_t n)
    {
        static_cast<Window *>(arg)->live++;
        return std::calloc(1, n);
    }
    static void release(void *arg, void *at)
    {
        static_cast<Window *>(arg)->live--;
        std::free(at);
    }
};

} // namespace

TEST_CASE("an instance finds memory of others through the windows that it was told of")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        Window w;
        const gam_memory windows = {Window::find, Window::allocate, Window::release, &w};

        r.expect("without windows", gam_memory_find(r.g, 1, 0x1000, 1),
                 static_cast<void *>(nullptr));
        auto *own = static_cast<uint8_t *>(gam_memory_alloc(r.g, 100));
        r.expect("zeroed", own && own[0] == 0 && std::memcmp(own, own + 1, 99) == 0, true);
        r.expect("aligned", reinterpret_cast<uintptr_t>(own) % 64, 0u);
        gam_memory_free(r.g, own);
        gam_memory_free(r.g, nullptr);

        gam_set_memory(r.g, &windows);
        auto found = [&](uint32_t rank, uint64_t address, size_t n) {
            return gam_memory_find(r.g, rank, address, n);
        };
        void *const none = nullptr;
        r.expect("found", found(1, 0x1010, 0x3f0), static_cast<void *>(w.memory + 0x10));
        r.expect("beyond", found(1, 0x1010, 0x3f1), none);
        r.expect("wraps", found(1, 0x1010, SIZE_MAX), none);
        r.expect("no address", found(1, 0, 1), none);
        r.expect("another rank", found(0, 0x1010, 1), none);
        r.expect("no rank", found(2, 0x1010, 1), none);
        void *shared = gam_memory_alloc(r.g, 10);
        r.expect("allocated", w.live, 1);
        gam_memory_free(r.g, shared);
        gam_memory_free(r.g, nullptr);
        r.expect("released", w.live, 0);
        gam_set_memory(r.g, nullptr);
        r.expect("no more", found(1, 0x1010, 1), none);
        r.barrier();
    });
}
