// SPDX-License-Identifier: BSD-3-Clause
//
// A peer that plays against the rules: forged addresses, and scribbling over everything that
// it can map.  Uses the layout of the area, as such a peer would.
#include "conformance/process.h"
#include "shared_memory/area.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

struct ForgedAddress {
    uint32_t magic;
    int32_t pid;
    int32_t area;
    int32_t bell;
    uint64_t nonce[2];
};

ForgedAddress read(const struct unet_address &address)
{
    ForgedAddress forged;

    REQUIRE(address.length == sizeof forged);
    std::memcpy(&forged, address.bytes, sizeof forged);
    return forged;
}

int connect_to(unet_endpoint *ep, const ForgedAddress &forged)
{
    struct unet_address address = {};
    uint16_t channel;

    address.length = sizeof forged;
    std::memcpy(address.bytes, &forged, sizeof forged);
    return unet_connect(ep, &address, 1, &channel);
}

// The area of an endpoint, mapped behind the library's back.
sm_area map_area(const struct unet_address &address)
{
    ForgedAddress forged = read(address);
    std::string path = "/proc/" + std::to_string(forged.pid) + "/fd/" + std::to_string(forged.area);
    int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat status;
    sm_area area;

    REQUIRE(fd >= 0);
    REQUIRE(fstat(fd, &status) == 0);
    auto bytes = static_cast<size_t>(status.st_size);
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    REQUIRE(memory != MAP_FAILED);
    REQUIRE(unet_sm_area_view(&area, memory, bytes) == 0);
    return area;
}

void scribble(void *memory, size_t bytes, std::mt19937 &random)
{
    auto *word = static_cast<uint32_t *>(memory);

    for (size_t i = 0; i < bytes / sizeof *word; i++)
        __atomic_store_n(&word[i], random() % 2 ? random() : random() % 70, __ATOMIC_RELAXED);
}

// Turns that the consumer takes for real, everything else random.
void forge_lane(const sm_area &area, uint32_t lane, std::mt19937 &random)
{
    auto *ring = static_cast<unet_ring_shared *>(sm_lane_ring(&area, lane));

    for (uint32_t round = 0; round < 2000; round++) {
        uint32_t position = __atomic_load_n(&ring->consumed, __ATOMIC_ACQUIRE);
        for (uint32_t i = 0; i < area.recv_slots; i++, position++) {
            unet_desc *slot = &ring->slot[position & (area.recv_slots - 1)];
            scribble(reinterpret_cast<uint8_t *>(slot) + 4, sizeof *slot - 4, random);
            if (random() % 2)
                slot->channel = static_cast<uint16_t>(lane);
            slot->kind = static_cast<uint8_t>(random() % 6);
            __atomic_store_n(&slot->turn, position + 1, __ATOMIC_RELEASE);
        }
    }
}

// Takes one message and checks that nothing in it points out of bounds.
bool take_sound(unet_endpoint *ep, uint16_t honest, uint32_t &next)
{
    Message m = take(ep);

    if (m.kind == UNET_EMPTY || m.kind == UNET_ERROR)
        return m.kind != UNET_EMPTY;
    REQUIRE(m.length <= UNET_MESSAGE_MAX);
    for (const unet_piece &p : m.pieces)
        REQUIRE(uint64_t(p.offset) + p.length <= ep->config.segment_bytes);
    if (m.channel == honest)
        REQUIRE(m.user == next++);
    return true;
}

} // namespace

TEST_CASE("forged addresses reach nothing and leak nothing")
{
    Endpoint ep, target;
    ForgedAddress forged = read(target.address());
    int plain = memfd_create("plain", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int sealed = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int pipes[2];
    int expected = -EHOSTUNREACH;

    REQUIRE(pipe2(pipes, O_CLOEXEC) == 0);
    REQUIRE(ftruncate(plain, 1 << 20) == 0);
    REQUIRE(ftruncate(sealed, 1 << 20) == 0);
    REQUIRE(fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
    size_t before = open_descriptors();

    SECTION("no such descriptor")
    {
        forged.area = 1 << 20;
    }
    SECTION("negative descriptor")
    {
        forged.area = -1;
        expected = -EADDRNOTAVAIL;
    }
    SECTION("a pipe instead of an area")
    {
        forged.area = pipes[0];
    }
    SECTION("a directory instead of an area")
    {
        forged.area = directory;
    }
    SECTION("a memfd that can be truncated")
    {
        forged.area = plain;
    }
    SECTION("a sealed memfd that is no area")
    {
        forged.area = sealed;
    }
    SECTION("a true area in a memfd that can be truncated")
    {
        sm_area area = map_area(target.address());
        REQUIRE(ftruncate(plain, static_cast<off_t>(area.bytes)) == 0);
        REQUIRE(pwrite(plain, area.header, sizeof *area.header, 0) == sizeof *area.header);
        munmap(area.header, area.bytes);
        forged.area = plain;
    }
    SECTION("an area instead of a bell")
    {
        forged.bell = forged.area;
    }
    SECTION("no bell")
    {
        forged.bell = -1;
    }
    SECTION("wrong nonce")
    {
        forged.nonce[0]++;
    }
    SECTION("no such process")
    {
        forged.pid = 0x3fffffff;
    }
    SECTION("no process at all")
    {
        forged.pid = 0;
        expected = -EADDRNOTAVAIL;
    }
    SECTION("negative process")
    {
        forged.pid = -1;
        expected = -EADDRNOTAVAIL;
    }
    SECTION("another backend's address")
    {
        forged.magic++;
        expected = -EADDRNOTAVAIL;
    }
    CHECK(connect_to(ep, forged) == expected);
    CHECK(open_descriptors() == before);
    for (int fd : {plain, sealed, directory, pipes[0], pipes[1]})
        close(fd);
}

TEST_CASE("an area whose sizes lie is refused")
{
    Endpoint ep, target;
    sm_area area = map_area(target.address());
    uint32_t lie = GENERATE(0u, 1u, 3u, 64u, 65536u, 0x80000000u, UINT32_MAX);
    uint16_t channel;
    struct unet_address address = target.address();

    SECTION("segment")
    {
        area.header->segment_bytes = lie;
    }
    SECTION("receive slots")
    {
        area.header->recv_slots = lie;
    }
    SECTION("free slots")
    {
        area.header->free_slots = lie;
    }
    SECTION("channels")
    {
        area.header->channels = lie == 64 ? 63 : lie;
    }
    SECTION("magic")
    {
        area.header->magic = lie;
    }
    SECTION("ABI version")
    {
        area.header->abi = lie == 1 ? 2 : lie;
    }
    CHECK(unet_connect(ep, &address, 1, &channel) == -EHOSTUNREACH);
    munmap(area.header, area.bytes);
}

TEST_CASE("each forged arrival is dropped and counted, and the next one is read")
{
    Pair pair;
    sm_area area = map_area(pair.b.address());
    auto *ring = static_cast<unet_ring_shared *>(sm_lane_ring(&area, pair.ba));
    unet_desc *slot = &ring->slot[0];
    uint32_t segment = pair.b->config.segment_bytes;
    bool foreign = false;

    REQUIRE(send_text(pair.a, pair.ab, "to be forged") == 0);
    REQUIRE(send_text(pair.a, pair.ab, "honest", 5) == 0);
    SECTION("another channel")
    {
        slot->channel++;
        foreign = true;
    }
    SECTION("channel zero")
    {
        slot->channel = 0;
        foreign = true;
    }
    SECTION("inline too long")
    {
        slot->length = UNET_INLINE_MAX + 1;
    }
    SECTION("inline far too long")
    {
        slot->length = UINT32_MAX;
    }
    SECTION("kind empty")
    {
        slot->kind = UNET_EMPTY;
    }
    SECTION("a completion from outside")
    {
        slot->kind = UNET_ERROR;
    }
    SECTION("unknown kind")
    {
        slot->kind = 77;
    }
    SECTION("pieces of another length")
    {
        slot->kind = UNET_PIECES;
        slot->pieces = 1;
        slot->piece[0] = {0, 13};
    }
    SECTION("too many pieces")
    {
        slot->kind = UNET_PIECES;
        slot->pieces = 5;
    }
    SECTION("a piece outside the segment")
    {
        slot->kind = UNET_PIECES;
        slot->pieces = 1;
        slot->piece[0] = {segment - 11, 12};
    }
    SECTION("a direct one outside the segment")
    {
        slot->kind = UNET_DIRECT;
        slot->pieces = 1;
        slot->piece[0] = {UINT32_MAX - 5, 12};
    }
    CHECK(take(pair.b).user == 5);
    CHECK(pair.b->stats.foreign == (foreign ? 1 : 0));
    CHECK(pair.b->stats.malformed == (foreign ? 0 : 1));
    munmap(area.header, area.bytes);
}

TEST_CASE("a free queue that names memory outside the segment is refused")
{
    Pair pair;
    sm_area area = map_area(pair.b.address());
    uint64_t segment = pair.b->config.segment_bytes;
    unet_piece piece = {0, 100};
    uint64_t buffer =
        GENERATE_COPY(segment | uint64_t(100) << 32, (segment - 99) | uint64_t(100) << 32,
                      uint64_t(UINT32_MAX) | uint64_t(100) << 32,
                      uint64_t(1) | uint64_t(UINT32_MAX) << 32, uint64_t(0));

    give_buffers(pair.b, 1, 4096);
    area.free->slot[0].word[0] = buffer;
    REQUIRE(unet_send(pair.a, pair.ab, 1, &piece, 1, nullptr) == 0);
    Message refused = await(pair.a);
    CHECK(refused.kind == UNET_ERROR);
    CHECK(refused.error == EPROTO);
    CHECK(take(pair.b).kind == UNET_EMPTY);
    munmap(area.header, area.bytes);
}

TEST_CASE("a peer that forges its own lane is counted, and others go on")
{
    Endpoint ep;
    Endpoint honest, hostile;
    uint16_t from_honest, to_ep, from_hostile, unused;
    uint32_t sent = 0, next = 0;
    std::mt19937 random(3);

    join(ep, honest, 1, from_honest, to_ep);
    join(ep, hostile, 2, from_hostile, unused);
    struct unet_address address = ep.address();
    Child child([&] {
        sm_area area = map_area(address);
        forge_lane(area, from_hostile, random);
        return true;
    });
    for (Deadline deadline; !child.ended() && !deadline.passed();) {
        sent += send_text(honest, to_ep, "honest", sent) == 0;
        for (int i = 0; i < 100 && take_sound(ep, from_honest, next); i++)
            ;
    }
    CHECK(child.wait() == 0);
    while (next < sent && take_sound(ep, from_honest, next))
        ;
    CHECK(sent > 0);
    CHECK(next == sent);
    CHECK(ep->stats.malformed > 0);
    CHECK(ep->stats.foreign > 0);
}

TEST_CASE("a peer that scribbles over the whole area does not crash its owner")
{
    uint32_t seed = GENERATE(1u, 2u, 3u);
    Board board;
    Endpoint ep, other;
    uint16_t at_ep, at_other;
    uint32_t ignored = 0;

    CAPTURE(seed);
    join(ep, other, 1, at_ep, at_other);
    struct unet_address address = ep.address();
    Child child([&] {
        std::mt19937 random(seed);
        sm_area area = map_area(address);
        size_t shared = area.segment - reinterpret_cast<uint8_t *>(area.header);
        for (int i = 0; i < 20; i++)
            scribble(area.header, shared, random);
        board.raise(0);
        return true;
    });
    for (Deadline deadline; !board.raised(0) && !deadline.passed();) {
        take_sound(ep, 0, ignored);
        take_sound(other, 0, ignored);
        unet_free_put(ep, 0, 4096);
        send_text(other, at_other, "x");
        send_text(ep, at_ep, "x");
        unet_channel_state(ep, at_ep);
        unet_wait(ep, 0);
        unet_wait(other, 0);
    }
    CHECK(child.wait() == 0);
}

TEST_CASE("a receiver that scribbles over its own area does not crash its senders")
{
    uint32_t seed = GENERATE(1u, 2u, 3u);
    Board board;
    Endpoint ep, good;
    uint16_t to_hostile, to_good, unused;
    unet_piece piece = {0, 3000};

    CAPTURE(seed);
    Child child([&] {
        Endpoint own;
        std::mt19937 random(seed);
        board.show(1, own);
        uint16_t channel = meet(own, board, 0, 9);
        eventually([&] { return board.raised(4); });
        sm_area area = map_area(own.address());
        size_t shared = area.segment - reinterpret_cast<uint8_t *>(area.header);
        for (int i = 0; i < 20 && channel; i++)
            scribble(area.header, shared, random);
        board.raise(2);
        eventually([&] { return board.raised(3); });
        if (channel)
            _exit(0); // closing is no use: its own state is ruined
        return false;
    });
    board.show(0, ep);
    to_hostile = meet(ep, board, 1, 9);
    REQUIRE(to_hostile != 0);
    join(ep, good, 1, to_good, unused);
    board.raise(4);
    for (Deadline deadline; !board.raised(2) && !deadline.passed();) {
        send_text(ep, to_hostile, "x");
        unet_send(ep, to_hostile, 0, &piece, 1, nullptr);
        unet_send_direct(ep, to_hostile, 0, &piece, 1, 4096, nullptr);
        while (take(ep).kind != UNET_EMPTY)
            ;
    }
    REQUIRE(eventually([&] { return send_text(ep, to_good, "fine", 5) == 0; }));
    CHECK(await(good).user == 5);
    board.raise(3);
    CHECK(child.wait() == 0);
}

TEST_CASE("an area cannot be shrunk under its users")
{
    Endpoint ep;
    ForgedAddress address = read(ep.address());

    CHECK(ftruncate(address.area, 4096) == -1);
    CHECK(errno == EPERM);
    struct stat status;
    REQUIRE(fstat(address.area, &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}
