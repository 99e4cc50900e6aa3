// SPDX-License-Identifier: BSD-3-Clause
//
// Direct access to ranges of the address space, as the library's users have it.
#include "conformance/harness.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unet/unet_fe.h>
#include <unistd.h>

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kBlock = 16 * kPage; // what is pinned at once

struct Memory {
    explicit Memory(size_t size)
        : bytes(size), at(static_cast<uint8_t *>(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
    {
        REQUIRE(at != MAP_FAILED);
    }
    ~Memory() { munmap(at, bytes); }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    const size_t bytes;
    uint8_t *const at;
};

// What is missing at its destination is sent again: the network may lose it.
bool arrives(Pair &pair, uint64_t local, uint32_t length, uint64_t remote, uint64_t grant)
{
    for (int tries = 0; tries < 10; tries++) {
        const Deadline soon(std::chrono::milliseconds(500));
        uint32_t ticket = 0;
        REQUIRE(unet_put(pair.a, pair.ab, 7, local, length, remote, grant, &ticket) == 0);
        while (!soon.passed()) {
            const unet_desc *desc;
            unet_progress(pair.a);
            unet_progress(pair.b);
            if ((desc = unet_rx_peek(pair.b)) == nullptr)
                continue;
            const unet_desc copy = *desc;
            unet_rx_release(pair.b);
            return copy.kind == UNET_DIRECT && copy.pieces == 0 && copy.user == 7 &&
                   copy.length == length && copy.remote == remote && copy.channel == pair.ba &&
                   eventually([&] { return unet_sent(pair.a, ticket); });
        }
    }
    return false;
}

} // namespace

TEST_CASE("ranges: what is put lands in the place that was named")
{
    Pair pair;
    Memory from(3 * kPage), to(4 * kPage);
    uint16_t ours = 0, theirs = 0;

    REQUIRE((pair.a->capabilities & UNET_CAP_RANGES) != 0);
    REQUIRE(unet_export(pair.a, from.at, from.bytes, &ours) == 0);
    REQUIRE(unet_export(pair.b, to.at, to.bytes, &theirs) == 0);
    const Bytes bytes = pattern(3 * kPage, 5);
    std::memcpy(from.at, bytes.data(), bytes.size());
    REQUIRE(unet_hold(pair.a, UNET_PLACE(ours, 0), from.bytes) == 0);
    REQUIRE(unet_hold(pair.b, UNET_PLACE(theirs, 0), to.bytes) == 0);
    uint64_t grant = 0;
    REQUIRE(unet_grant(pair.b, pair.ba, UNET_PLACE(theirs, 0), to.bytes, &grant) == 0);
    const uint32_t most = pair.a->packet_bytes - UNET_DIRECT_BYTES;
    for (const uint32_t length : {1u, 8u, 48u, 255u, 256u, 257u, 1000u, 1460u, 4096u, 9000u}) {
        if (length > most)
            continue;
        INFO("length " << length);
        const uint64_t offset = 4095 + length % 77; // unaligned, mostly across pages
        std::memset(to.at, 0, to.bytes);
        REQUIRE(arrives(pair, UNET_PLACE(ours, 77), length, UNET_PLACE(theirs, offset), grant));
        CHECK(std::memcmp(to.at + offset, bytes.data() + 77, length) == 0);
        CHECK(to.at[offset - 1] == 0);
        CHECK(to.at[offset + length] == 0);
    }
}

TEST_CASE("ranges: a message that is too long, or from a place that is not held, is refused")
{
    Pair pair;
    Memory from(32 * kPage);
    uint16_t ours = 0;

    REQUIRE(unet_export(pair.a, from.at, from.bytes, &ours) == 0);
    REQUIRE(unet_put(pair.a, pair.ab, 1, UNET_PLACE(ours, 0), 100, UNET_PLACE(1, 0), 1, nullptr) ==
            0);
    CHECK(await(pair.a).error == EFAULT);
    REQUIRE(unet_hold(pair.a, UNET_PLACE(ours, 0), from.bytes) == 0);
    const uint32_t length = pair.a->packet_bytes - UNET_DIRECT_BYTES + 1;
    REQUIRE(unet_put(pair.a, pair.ab, 1, UNET_PLACE(ours, 0), length, UNET_PLACE(1, 0), 1,
                     nullptr) == 0);
    CHECK(await(pair.a).error == EMSGSIZE);
}

TEST_CASE("ranges: places are held in ranges alone")
{
    Endpoint ep;
    Memory memory(2 * kPage);
    uint16_t range = 0;

    CHECK(unet_hold(ep, UNET_PLACE(1, 0), 1) == -EINVAL);
    CHECK(unet_unexport(ep, 1) == -EINVAL);
    CHECK(unet_export(ep, memory.at + 1, kPage, &range) == -EINVAL);
    CHECK(unet_export(ep, memory.at, UINT64_MAX, &range) == -EINVAL);
    REQUIRE(unet_export(ep, memory.at, memory.bytes, &range) == 0);
    CHECK(unet_hold(ep, UNET_PLACE(range, 0), 0) == -EINVAL);
    CHECK(unet_hold(ep, UNET_PLACE(range, 0), memory.bytes + 1) == -EINVAL);
    CHECK(unet_hold(ep, UNET_PLACE(range, memory.bytes), 1) == -EINVAL);
    CHECK(unet_hold(ep, UNET_PLACE(range, memory.bytes - 1), 1) == 0);
    CHECK(unet_unexport(ep, range) == 0);
    CHECK(unet_unexport(ep, range) == -EINVAL);
}

TEST_CASE("ranges: memory that is not there cannot be held, and what is there still can")
{
    Endpoint ep;
    Memory memory(2 * kBlock);
    uint16_t range = 0;

    REQUIRE(unet_export(ep, memory.at, memory.bytes, &range) == 0);
    REQUIRE(munmap(memory.at + kBlock, kPage) == 0);
    CHECK(unet_hold(ep, UNET_PLACE(range, 0), memory.bytes) == -EFAULT);
    CHECK(unet_hold(ep, UNET_PLACE(range, 0), kBlock) == 0);
    CHECK(unet_hold(ep, UNET_PLACE(range, kBlock), 1) == -EFAULT);
    CHECK(unet_hold(ep, UNET_PLACE(range, kBlock + 3 * kPage - 1), 2) == 0); // beside it
    CHECK(unet_hold(ep, UNET_PLACE(range, kBlock + 2 * kPage), 2 * kPage) == 0);
    CHECK(unet_hold(ep, UNET_PLACE(range, kBlock + 5 * kPage), 1) == -EBUSY); // more of it
    unet_release(ep, UNET_PLACE(range, kBlock + 3 * kPage - 1), 2);
    unet_release(ep, UNET_PLACE(range, kBlock + 2 * kPage), 2 * kPage);
    CHECK(unet_hold(ep, UNET_PLACE(range, kBlock + 5 * kPage), 1) == 0);
}

TEST_CASE("ranges: a range may be all of the address space")
{
    Endpoint ep;
    static uint8_t here[100];
    uint16_t range = 0;

    REQUIRE(unet_export(ep, nullptr, (1ull << 47) - kBlock, &range) == 0);
    CHECK(unet_hold(ep, UNET_PLACE(range, reinterpret_cast<uint64_t>(here)), sizeof(here)) == 0);
    CHECK(unet_hold(ep, UNET_PLACE(range, 0), 1) == -EFAULT);
}

TEST_CASE("ranges: what is held is the memory that is there now")
{
    Pair pair;
    Memory from(kPage), to(2 * kBlock);
    uint16_t ours = 0, theirs = 0;
    const uint64_t first = UNET_PLACE(1, 0), second = UNET_PLACE(1, kPage);

    REQUIRE(unet_export(pair.a, from.at, from.bytes, &ours) == 0);
    REQUIRE(unet_export(pair.b, to.at, to.bytes, &theirs) == 0);
    REQUIRE(theirs == 1);
    uint64_t grant = 0;
    REQUIRE(unet_grant(pair.b, pair.ba, first, to.bytes, &grant) == 0);
    REQUIRE(unet_hold(pair.a, UNET_PLACE(ours, 0), from.bytes) == 0);
    std::memset(from.at, 'x', from.bytes);
    const auto renew = [&](uint8_t *page) {
        REQUIRE(mmap(page, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                     -1, 0) == page);
    };

    REQUIRE(unet_hold(pair.b, first, 100) == 0);
    unet_release(pair.b, first, 100);
    renew(to.at); // unmapped, and other memory in its place
    REQUIRE(unet_hold(pair.b, first, 100) == 0);
    REQUIRE(arrives(pair, UNET_PLACE(ours, 0), 100, first, grant));
    CHECK(to.at[99] == 'x');

    renew(to.at + kPage); // beside what is held
    CHECK(unet_hold(pair.b, second, 100) == -EBUSY);
    unet_release(pair.b, first, 100);
    REQUIRE(unet_hold(pair.b, second, 100) == 0);
    REQUIRE(arrives(pair, UNET_PLACE(ours, 0), 100, second, grant));
    CHECK(to.at[kPage + 99] == 'x');

    REQUIRE(madvise(to.at + kBlock, kPage, MADV_DONTNEED) == 0); // which nobody has pinned
    CHECK(unet_hold(pair.b, first, 100) == 0);
}

TEST_CASE("ranges: nothing comes any more by a grant that was revoked")
{
    Pair pair;
    Memory from(kPage), to(kPage);
    uint16_t ours = 0, theirs = 0;
    uint64_t grant = 0, other = 0;

    REQUIRE(unet_export(pair.a, from.at, from.bytes, &ours) == 0);
    REQUIRE(unet_export(pair.b, to.at, to.bytes, &theirs) == 0);
    const uint64_t place = UNET_PLACE(theirs, 100);
    CHECK(unet_grant(pair.b, pair.ba, place, to.bytes, &grant) == -EINVAL); // beyond the range
    CHECK(unet_grant(pair.b, 77, place, 100, &grant) == -EINVAL);
    REQUIRE(unet_grant(pair.b, pair.ba, place, 100, &grant) == 0);
    REQUIRE(unet_grant(pair.b, pair.ba, place, 100, &other) == 0);
    CHECK(grant != 0);
    CHECK(grant != other);
    REQUIRE(unet_hold(pair.a, UNET_PLACE(ours, 0), from.bytes) == 0);
    REQUIRE(unet_hold(pair.b, place, 100) == 0);
    std::memset(from.at, 'x', from.bytes);
    REQUIRE(arrives(pair, UNET_PLACE(ours, 0), 100, place, grant));
    REQUIRE(unet_revoke(pair.b, grant) == 0);
    CHECK(unet_revoke(pair.b, grant) == -EINVAL);
    std::memset(to.at, 0, to.bytes);
    REQUIRE(unet_put(pair.a, pair.ab, 7, UNET_PLACE(ours, 0), 100, place, grant, nullptr) == 0);
    REQUIRE(arrives(pair, UNET_PLACE(ours, 0), 1, place + 99, other)); // behind it
    CHECK(to.at[99] == 0);
    CHECK(to.at[100] == 0);
    CHECK(to.at[199] == 'x');
}

// Within a limit of locked memory, in a process of its own user.
static int walk_through()
{
    Endpoint ep;
    Memory memory(64 * kBlock); // 4 MiB
    uint16_t range = 0;

    if (unet_export(ep, memory.at, memory.bytes, &range) != 0)
        return 1;
    if (unet_hold(ep, UNET_PLACE(range, 0), kBlock) != 0) // for good
        return 2;
    for (size_t i = 1; i < 64; i++) {
        if (unet_hold(ep, UNET_PLACE(range, i * kBlock), kBlock) != 0)
            return 3;
        unet_release(ep, UNET_PLACE(range, i * kBlock), kBlock);
    }
    // What is held is not given up, however much is asked for.
    return unet_hold(ep, UNET_PLACE(range, kBlock), 63 * kBlock) == -ENOBUFS ? 0 : 4;
}

TEST_CASE("ranges: at the limit the oldest pages go that nobody holds")
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        const rlimit some = {4 << 20, 4 << 20};
        setrlimit(RLIMIT_MEMLOCK, &some);
        if (chmod(UNET_FE_DEVICE, 0666) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
            _exit(10);
        try {
            _exit(walk_through());
        } catch (...) { // of a REQUIRE
            _exit(11);
        }
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(chmod(UNET_FE_DEVICE, 0600) == 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("ranges: other backends have none")
{
    unet_endpoint *ep = nullptr;
    uint16_t range = 0;
    Memory memory(kPage);

    REQUIRE(unet_open(unet_backend("udp"), nullptr, &ep) == 0);
    CHECK((ep->capabilities & UNET_CAP_RANGES) == 0);
    CHECK(unet_export(ep, memory.at, memory.bytes, &range) == -EOPNOTSUPP);
    CHECK(unet_hold(ep, UNET_PLACE(1, 0), 1) == -EOPNOTSUPP);
    uint64_t grant = 0;
    CHECK(unet_grant(ep, 1, UNET_PLACE(1, 0), 1, &grant) == -EOPNOTSUPP);
    CHECK(unet_revoke(ep, 1) == -EOPNOTSUPP);
    CHECK(unet_put(ep, 1, 0, UNET_PLACE(1, 0), 1, UNET_PLACE(1, 0), 1, nullptr) == -EOPNOTSUPP);
    unet_close(ep);
}
