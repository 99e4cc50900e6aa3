// SPDX-License-Identifier: BSD-3-Clause
//
// Attacks on the shared memory: where it is mapped, and what is written there.
#include "raw.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

// ---- mapping --------------------------------------------------------------------

static long map(int fd, size_t bytes, int protection, int flags, off_t offset)
{
    void *at = mmap(nullptr, bytes, protection, flags, fd, offset);

    if (at == MAP_FAILED)
        return -errno;
    munmap(at, bytes);
    return 0;
}

static const int kBoth = PROT_READ | PROT_WRITE;

TEST_CASE("mmap: before the creation")
{
    CHECK(map(open_device(), 4096, kBoth, MAP_SHARED, 0) == -ENOTCONN);
}

TEST_CASE("mmap: a private copy")
{
    Raw ep;

    CHECK(map(ep.fd, 4096, kBoth, MAP_PRIVATE, 0) == -EINVAL);
}

TEST_CASE("mmap: to execute")
{
    Raw ep;

    CHECK(map(ep.fd, 4096, kBoth | PROT_EXEC, MAP_SHARED, 0) == -EINVAL);
    CHECK(mprotect(ep.area, 4096, kBoth | PROT_EXEC) == -1);
    CHECK(errno == EACCES);
}

TEST_CASE("mmap: beyond the end")
{
    Raw ep;
    const size_t bytes = ep.layout.area_bytes;

    CHECK(map(ep.fd, bytes + 4096, kBoth, MAP_SHARED, 0) == -ENXIO);
    CHECK(map(ep.fd, bytes, kBoth, MAP_SHARED, 4096) == -ENXIO);
    CHECK(map(ep.fd, 4096, kBoth, MAP_SHARED, static_cast<off_t>(bytes)) == -ENXIO);
    CHECK(map(ep.fd, 1ul << 40, kBoth, MAP_SHARED, 0) < 0);
}

TEST_CASE("mmap: an offset that wraps around")
{
    Raw ep;

    CHECK(map(ep.fd, 8192, kBoth, MAP_SHARED, 0x7ffffffffffff000) < 0);
    CHECK(map(ep.fd, 8192, kBoth, MAP_SHARED, -4096) < 0);
}

TEST_CASE("mmap: to grow it afterwards")
{
    Raw ep;

    CHECK(mremap(ep.area, ep.layout.area_bytes, ep.layout.area_bytes + 4096, MREMAP_MAYMOVE) ==
          MAP_FAILED);
    CHECK(errno == EFAULT);
}

TEST_CASE("mmap: new memory holds nothing of anybody")
{
    for (int i = 0; i < 8; i++) {
        Raw ep;
        const uint8_t *end = ep.area + ep.layout.area_bytes;

        CHECK(std::all_of(ep.area + 4096, const_cast<uint8_t *>(end),
                          [](uint8_t byte) { return byte == 0; }));
        std::memset(ep.segment(), 0xa5, ep.layout.segment_bytes);
    }
}

TEST_CASE("mmap: endpoints do not see each other's memory")
{
    Raw a, b;

    std::memset(a.segment(), 0x11, 4096);
    std::memset(b.segment(), 0x22, 4096);
    CHECK(a.segment()[0] == 0x11);
    CHECK(a.segment()[4095] == 0x11);
}

TEST_CASE("mmap: the memory keeps its endpoint")
{
    RawPair pair;

    pair.b.fd.close();
    pair.a.push(inline_desc(1, "x"));
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    pair.b.end();
    CHECK(pair.a.shared()->state[1] == 3);
}

TEST_CASE("mmap: unmapped in the middle of traffic")
{
    RawPair pair;

    pair.a.push(inline_desc(1, "before"));
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    pair.a.push(inline_desc(1, "after"));
    munmap(pair.a.segment(), 4096);
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 2) == 2);
}

TEST_CASE("madvise: to drop what the module writes to")
{
    RawPair pair;

    madvise(pair.b.area, pair.b.layout.area_bytes, MADV_DONTNEED);
    madvise(pair.b.area, pair.b.layout.area_bytes, MADV_REMOVE);
    pair.a.push(inline_desc(1, "still"));
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
}

// ---- what the module tells ---------------------------------------------------------

TEST_CASE("shared: states and counters overwritten")
{
    RawPair pair;

    std::memset(pair.a.shared(), 0xff, pair.a.layout.send);
    pair.a.shared()->armed = 0;
    pair.a.push(inline_desc(1, "open all the same"));
    pair.a.push(inline_desc(2, "closed all the same"));
    CHECK(pair.a.trap() == 2);
    CHECK(pair.a.error() == ENOTCONN);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
}

TEST_CASE("shared: armed with nonsense")
{
    RawPair pair;

    pair.b.shared()->armed = 0xffffffff;
    for (int i = 0; i < 10; i++) {
        pair.a.push(inline_desc(1, "x"));
        CHECK(pair.a.trap() == 1);
    }
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 10) == 10);
    CHECK(pair.b.shared()->armed == 0);
}

// ---- receive rings and free queue -----------------------------------------------------

static uint64_t send_until_overrun(RawPair &pair, const unet_desc &desc, int most)
{
    for (int i = 0; i < most; i++) {
        pair.a.push(desc);
        pair.a.trap();
    }
    return wait_for(pair.b, UNET_FE_OVERRUNS, 1);
}

TEST_CASE("receive ring: a consumer that claims to be ahead")
{
    RawPair pair;

    pair.b.in(1)->consumed = 1u << 31;
    CHECK(send_until_overrun(pair, inline_desc(1, "x"), 20) == 4);
    CHECK(pair.b.counter(UNET_FE_RECEIVED) == 16);
}

TEST_CASE("receive ring: slots filled by their consumer")
{
    RawPair pair;

    for (unsigned i = 0; i < 16; i++)
        std::memset(&pair.b.in(1)->slot[i], 0xff, sizeof(unet_desc));
    pair.a.push(inline_desc(1, "right"));
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    const unet_desc got = pair.b.next(1);
    CHECK(got.kind == UNET_INLINE);
    CHECK(got.length == 5);
    CHECK(got.channel == 1);
}

TEST_CASE("free queue: buffers outside the segment")
{
    RawPair pair;
    const uint32_t end = pair.b.layout.segment_bytes;
    const unet_piece bad[] = {{end, 1},         {end - 1, 2},    {0, end + 1},
                              {UINT32_MAX, 1},  {1, UINT32_MAX}, {UINT32_MAX, UINT32_MAX},
                              {0x80000000, 64}, {0, 0},          {end, 0}};

    for (const unet_piece &piece : bad)
        pair.b.give(piece.offset, piece.length);
    pair.b.give(128, 64);
    std::memset(pair.a.segment(), 0x44, 64);
    pair.a.push(pieces_desc(1, {{0, 64}}));
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    CHECK(pair.b.counter(UNET_FE_BAD_BUFFERS) == std::size(bad));
    CHECK(pair.b.next(1).piece[0].offset == 128);
    CHECK(pair.b.segment()[128] == 0x44);
}

TEST_CASE("free queue: nothing but nonsense")
{
    RawPair pair;

    for (int i = 0; i < 16; i++)
        pair.b.give(UINT32_MAX, UINT32_MAX);
    CHECK(send_until_overrun(pair, pieces_desc(1, {{0, 64}}), 1) == 1);
    CHECK(pair.b.counter(UNET_FE_BAD_BUFFERS) == 16);
}

TEST_CASE("free queue: so much nonsense that others would wait for it")
{
    unet_fe_create wanted = small();
    wanted.free_slots = 1024;
    RawPair pair(wanted);

    for (int i = 0; i < 1000; i++)
        pair.b.give(UINT32_MAX, UINT32_MAX);
    pair.b.give(128, 64);
    for (uint64_t frames = 1; frames <= 15; frames++) { // each looks at 64
        pair.a.push(pieces_desc(1, {{0, 64}}));
        CHECK(pair.a.trap() == 1);
        CHECK(wait_for(pair.b, UNET_FE_OVERRUNS, frames) == frames);
        CHECK(pair.b.counter(UNET_FE_BAD_BUFFERS) == 64 * frames);
    }
    pair.a.push(pieces_desc(1, {{0, 64}}));
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    CHECK(pair.b.counter(UNET_FE_BAD_BUFFERS) == 1000);
}

TEST_CASE("free queue: the same buffer again and again")
{
    RawPair pair;

    for (int i = 0; i < 8; i++)
        pair.b.give(0, 4096);
    for (int i = 0; i < 8; i++) {
        pair.a.push(pieces_desc(1, {{0, 100}}));
        CHECK(pair.a.trap() == 1);
    }
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 8) == 8);
}

TEST_CASE("free queue: buffers of one byte for a long message")
{
    RawPair pair;

    for (uint32_t i = 0; i < 16; i++)
        pair.b.give(i, 1);
    CHECK(send_until_overrun(pair, pieces_desc(1, {{0, 5}}), 1) == 1);
    pair.a.push(pieces_desc(1, {{0, 4}}));
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    CHECK(pair.b.next(1).pieces == 4);
}

// ---- send queue --------------------------------------------------------------------------

// The error with which the descriptor, made from a good one, is refused.
static uint32_t refusal(const std::function<void(unet_desc &)> &spoil)
{
    RawPair pair;
    unet_desc desc = pieces_desc(1, {{0, 100}});

    spoil(desc);
    pair.a.push(desc);
    CHECK(pair.a.trap() == 1);
    CHECK(pair.a.counter(UNET_FE_SENT) == 0);
    return pair.a.error();
}

TEST_CASE("send: kinds that are none")
{
    const int kind = GENERATE(UNET_EMPTY, UNET_DIRECT, UNET_ERROR, 5, 128, 255);

    CHECK(refusal([=](unet_desc &d) { d.kind = static_cast<uint8_t>(kind); }) == EINVAL);
}

TEST_CASE("send: channels that are not open")
{
    const int channel = GENERATE(0, 2, 8, 9, 255, 65535);

    CHECK(refusal([=](unet_desc &d) { d.channel = static_cast<uint16_t>(channel); }) == ENOTCONN);
}

TEST_CASE("send: an inline message longer than its descriptor")
{
    const uint32_t length = GENERATE(49u, 64u, 65536u, 0x80000000u, UINT32_MAX);

    CHECK(refusal([=](unet_desc &d) {
              d.kind = UNET_INLINE;
              d.length = length;
          }) == EMSGSIZE);
}

TEST_CASE("send: no pieces, or more than there is room for")
{
    const int pieces = GENERATE(0, 5, 6, 255);

    CHECK(refusal([=](unet_desc &d) { d.pieces = static_cast<uint8_t>(pieces); }) == EINVAL);
}

TEST_CASE("send: a piece behind the segment")
{
    CHECK(refusal([](unet_desc &d) { d.piece[0].offset = 65536; }) == EFAULT);
    CHECK(refusal([](unet_desc &d) { d.piece[0].offset = 65537; }) == EFAULT);
    CHECK(refusal([](unet_desc &d) { d.piece[0].offset = UINT32_MAX; }) == EFAULT);
}

TEST_CASE("send: a piece across the segment's end")
{
    CHECK(refusal([](unet_desc &d) { d.piece[0].offset = 65536 - 99; }) == EFAULT);
}

TEST_CASE("send: a piece that wraps around")
{
    CHECK(refusal([](unet_desc &d) { d.piece[0] = {UINT32_MAX - 50, 100}; }) == EFAULT);
    CHECK(refusal([](unet_desc &d) { d.piece[0] = {100, UINT32_MAX - 50}; }) == EFAULT);
}

TEST_CASE("send: a negative length")
{
    CHECK(refusal([](unet_desc &d) { d.piece[0].length = d.length = static_cast<uint32_t>(-1); }) ==
          EFAULT);
}

TEST_CASE("send: a sum that is not the message's length")
{
    CHECK(refusal([](unet_desc &d) { d.length = 99; }) == EINVAL);
    CHECK(refusal([](unet_desc &d) { d.length = 0; }) == EINVAL);
    CHECK(refusal([](unet_desc &d) { d.length = UINT32_MAX; }) == EINVAL);
}

TEST_CASE("send: pieces that overflow their sum")
{
    CHECK(refusal([](unet_desc &d) {
              d.pieces = 4;
              for (unet_piece &piece : d.piece)
                  piece = {0, 65536};
              d.length = 4 * 65536;
          }) == EMSGSIZE);
    CHECK(refusal([](unet_desc &d) {
              d.pieces = 4;
              for (unet_piece &piece : d.piece)
                  piece = {0, 0x40000000};
              d.length = 0;
          }) == EFAULT);
}

TEST_CASE("send: an empty message in pieces")
{
    CHECK(refusal([](unet_desc &d) { d.piece[0].length = d.length = 0; }) == EINVAL);
}

TEST_CASE("send: longer than a frame")
{
    CHECK(refusal([](unet_desc &d) { d.piece[0].length = d.length = 65536; }) == EMSGSIZE);
    CHECK(refusal([](unet_desc &d) { d.piece[0].length = d.length = 65513; }) == EMSGSIZE);
}

TEST_CASE("send: pieces that overlap are one's own affair")
{
    RawPair pair;

    pair.b.give(0, 4096);
    pair.a.push(pieces_desc(1, {{0, 100}, {50, 100}, {0, 100}, {99, 1}}));
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    CHECK(pair.b.next(1).length == 301);
}

TEST_CASE("send: to a dead peer")
{
    RawPair pair;

    pair.b.end();
    CHECK(pair.a.shared()->state[1] == 3);
    pair.a.push(inline_desc(1, "x"));
    CHECK(pair.a.trap() == 1);
    CHECK(pair.a.error() == EPIPE);
}

TEST_CASE("send: turns from laps to come")
{
    RawPair pair;
    unet_ring_shared *ring = pair.a.ring(pair.a.layout.send);

    for (unsigned i = 0; i < 16; i++) {
        ring->slot[i] = inline_desc(1, "x");
        ring->slot[i].turn = i + 1 + 16 * (i % 3 + 1);
    }
    CHECK(pair.a.trap() == 0);
}

TEST_CASE("send: completions that nobody reads")
{
    RawPair pair;

    for (int i = 0; i < 40; i++) {
        pair.a.push(inline_desc(7, "x"));
        CHECK(pair.a.trap() == 1);
    }
    CHECK(pair.a.counter(UNET_FE_BAD_DESCRIPTORS) == 40);
    CHECK(pair.a.counter(UNET_FE_ERRORS_LOST) == 24);
}

// Who writes at random into the queue while another thread traps sends nothing but what a
// descriptor may say.
TEST_CASE("send: descriptors that change while they are read")
{
    RawPair pair;
    std::atomic<bool> stop{false};
    uint64_t bad = 0;

    std::thread hostile([&] {
        std::mt19937 random(1);
        unet_ring_shared *ring = pair.a.ring(pair.a.layout.send);

        while (!stop) {
            unet_desc &slot = ring->slot[random() % 16];
            const uint32_t which = random() % 8;

            if (which == 0)
                slot.turn += 1;
            else if (which == 1)
                slot = inline_desc(1, "x");
            else if (which == 2)
                slot = pieces_desc(1, {{static_cast<uint32_t>(random() % 65536),
                                        static_cast<uint32_t>(random() % 2000)}});
            else
                reinterpret_cast<uint32_t *>(&slot)[random() % 16] = random();
        }
    });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (std::chrono::steady_clock::now() < end) {
        pair.a.push(inline_desc(1, "mine"));
        const long done = pair.a.trap();
        bad += done < 0 || done > 16;
        pair.a.error();
        for (unet_desc got; (got = pair.b.next(1)).kind != UNET_EMPTY;)
            bad += got.channel != 1 || (got.kind == UNET_INLINE && got.length > UNET_INLINE_MAX) ||
                   (got.kind != UNET_INLINE && got.kind != UNET_PIECES);
    }
    stop = true;
    hostile.join();
    CHECK(bad == 0);
}
