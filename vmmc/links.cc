// SPDX-License-Identifier: BSD-3-Clause
//
// links.cc - an arena for each rank, mapped by all, as the runtime's windows are.
#include "links.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace {

constexpr size_t SIZE = size_t{256} << 20; // of a rank's arena; pages are had when they are touched
constexpr size_t HEAD = 64;                // in front of each allocation: its class
constexpr size_t CLASSES = 40;

uint8_t *arenas = nullptr; // those of all ranks
uint8_t *mine = nullptr;   // NULL: this process allocates as ever
size_t used = 0;
void *unused[CLASSES]; // lists of what was freed, by the logarithm of its size

bool is_in_arena(const void *at)
{
    const auto *byte = static_cast<const uint8_t *>(at);

    return mine && byte >= mine && byte < mine + SIZE;
}

size_t class_of(size_t n)
{
    size_t c = 6;

    while ((size_t{1} << c) < n)
        c++;
    return c;
}

void *arena_allocate(size_t n)
{
    const size_t c = class_of(n);
    void *at = unused[c];

    if (at) {
        std::memcpy(&unused[c], at, sizeof(void *));
        return at;
    }
    if (used + HEAD + (size_t{1} << c) > SIZE)
        return nullptr;
    at = mine + used + HEAD;
    std::memcpy(mine + used, &c, sizeof c);
    used += HEAD + (size_t{1} << c);
    return at;
}

void arena_release(void *at)
{
    size_t c;

    std::memcpy(&c, static_cast<uint8_t *>(at) - HEAD, sizeof c);
    std::memcpy(at, &unused[c], sizeof(void *));
    unused[c] = at;
}

void *find(void *, uint32_t rank, uint64_t address, size_t n)
{
    const auto start = reinterpret_cast<uintptr_t>(arenas + rank * SIZE);

    if (address < start || n > SIZE || address - start > SIZE - n)
        return nullptr;
    return reinterpret_cast<void *>(address);
}

void *allocate(void *, size_t n)
{
    void *at = arena_allocate(n);

    return at ? std::memset(at, 0, n) : nullptr;
}

void release(void *, void *at)
{
    arena_release(at);
}

// Why there are no endpoints of that link here; "" if there are.
std::string missing(const std::string &link)
{
    const unet_ops *backend = unet_backend(link.c_str()); // not of "windows" and "chaos"
    char network[UNET_NETWORK_MAX];
    const int error = backend ? unet_probe(backend, network) : 0;

    return error < 0 ? link + ": " + std::strerror(-error) : "";
}

} // namespace

// All forms, as sanitizers have their own of those that are left out.
void *operator new(size_t n, const std::nothrow_t &) noexcept
{
    return mine ? arena_allocate(n) : std::malloc(n ? n : 1);
}

void *operator new(size_t n)
{
    void *at = operator new(n, std::nothrow);

    if (!at)
        throw std::bad_alloc();
    return at;
}

void operator delete(void *at) noexcept
{
    if (is_in_arena(at))
        arena_release(at);
    else
        std::free(at);
}

void operator delete(void *at, const std::nothrow_t &) noexcept
{
    operator delete(at);
}

void operator delete(void *at, size_t) noexcept
{
    operator delete(at);
}

void links::run_link(const std::string &link, uint32_t ranks, const world::Body &body,
                     const world::Options &options)
{
    const size_t all = world::MAX_RANKS * SIZE;

    if (const std::string why = missing(link); !why.empty()) {
        WARN("left out: " << why);
        return;
    }
    if (link != "windows")
        return world::run(link, ranks, body, options);
    void *at = mmap(nullptr, all, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(at != MAP_FAILED);
    arenas = static_cast<uint8_t *>(at);
    world::run(
        "shm", ranks,
        [&](world::Rank &r) {
            const gam_memory memory = {find, allocate, release, nullptr};

            mine = arenas + r.me * SIZE;
            gam_set_memory(r.g, &memory);
            body(r);
        },
        options);
    munmap(at, all);
}
