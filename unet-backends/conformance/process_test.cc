// SPDX-License-Identifier: BSD-3-Clause
//
// What a backend that reaches other processes has to keep.
#include "conformance/process.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <poll.h>
#include <random>
#include <unistd.h>

namespace {

// A child that opens an endpoint, meets the parent's (board entry 0) and runs `body`.
std::unique_ptr<Child> partner(const Board &board, unsigned i, uint64_t tag,
                               const std::function<bool(unet_endpoint *, uint16_t)> &body)
{
    return std::make_unique<Child>([&board, i, tag, body] {
        Endpoint ep;

        board.show(i, ep);
        uint16_t channel = meet(ep, board, 0, tag);
        return channel != 0 && body(ep, channel);
    });
}

// Sends numbered inline and segment messages until killed.
bool flood(unet_endpoint *ep, uint16_t channel)
{
    fill(ep, 0, pattern(4096, 1));
    for (uint32_t i = 0;;) {
        unet_piece piece = {i % 100, 1 + i % 700};
        int error = i % 3 == 2 ? unet_send(ep, channel, i, &piece, 1, nullptr)
                               : unet_send_inline(ep, channel, i, &i, sizeof i);
        if (error == 0)
            i++;
        unet_progress(ep);
    }
}

void check_flood(const Message &m, uint32_t number)
{
    Bytes all = pattern(4096, 1);

    REQUIRE(m.user == number);
    if (number % 3 != 2) {
        REQUIRE(m.bytes.size() == sizeof number);
        REQUIRE(std::memcmp(m.bytes.data(), &number, sizeof number) == 0);
    } else {
        auto from = all.begin() + number % 100;
        REQUIRE(m.bytes == Bytes(from, from + 1 + number % 700));
    }
}

bool echo(unet_endpoint *ep, uint16_t channel)
{
    for (;;) {
        Message m = await(ep);
        if (m.kind == UNET_EMPTY)
            return false;
        if (text(m) == "bye")
            return true;
        if (unet_send_inline(ep, channel, m.user, m.bytes.data(), m.length) != 0)
            return false;
    }
}

} // namespace

TEST_CASE("two processes talk")
{
    Board board;
    Endpoint ep;
    auto child = partner(board, 1, 7, echo);

    board.show(0, ep);
    uint16_t channel = meet(ep, board, 1, 7);
    REQUIRE(channel != 0);
    for (uint32_t i = 0; i < 1000; i++) {
        REQUIRE(send_text(ep, channel, "number " + std::to_string(i), i) == 0);
        Message m = await(ep);
        REQUIRE(m.user == i);
        REQUIRE(text(m) == "number " + std::to_string(i));
    }
    REQUIRE(send_text(ep, channel, "bye") == 0);
    CHECK(child->wait() == 0);
    CHECK(soon([&] { return unet_channel_state(ep, channel) == UNET_DEAD; }));
}

TEST_CASE("segment messages and direct sends cross processes", "[direct]")
{
    Board board;
    Endpoint ep;
    Bytes sent = pattern(UNET_MESSAGE_MAX, 3);
    auto child = partner(board, 1, 7, [](unet_endpoint *far, uint16_t) {
        give_buffers(far, 4, 20000, 100000);
        Message first = await(far);
        Message second = await(far);
        return first.kind == UNET_PIECES && first.bytes == pattern(UNET_MESSAGE_MAX, 3) &&
               second.kind == UNET_DIRECT && second.pieces[0].offset == 777 &&
               second.bytes == pattern(5000, 3);
    });

    board.show(0, ep);
    uint16_t channel = meet(ep, board, 1, 7);
    REQUIRE(channel != 0);
    fill(ep, 0, sent);
    unet_piece all = {0, UNET_MESSAGE_MAX}, some = {0, 5000};
    REQUIRE(unet_send(ep, channel, 0, &all, 1, nullptr) == 0);
    REQUIRE(eventually([&] {
        unet_progress(ep);
        return unet_send_direct(ep, channel, 0, &some, 1, 777, nullptr) == 0;
    }));
    REQUIRE(eventually([&] {
        unet_progress(ep);
        return child->ended();
    }));
    CHECK(child->wait() == 0);
}

TEST_CASE("blocking ping-pong between processes loses no wake-up")
{
    constexpr uint32_t rounds = 10000;
    Board board;
    Endpoint ep;
    auto wait_for = [](unet_endpoint *e, uint32_t i) {
        for (Deadline deadline; !deadline.passed();) {
            if (unet_wait(e, 10000) == 1)
                return take(e).user == i;
        }
        return false;
    };
    auto child = partner(board, 1, 7, [&](unet_endpoint *far, uint16_t channel) {
        for (uint32_t i = 0; i < rounds; i++) {
            if (!wait_for(far, i) || send_text(far, channel, "pong", i) != 0)
                return false;
        }
        return true;
    });

    board.show(0, ep);
    uint16_t channel = meet(ep, board, 1, 7);
    REQUIRE(channel != 0);
    uint32_t done = 0;
    while (done < rounds && send_text(ep, channel, "ping", done) == 0 && wait_for(ep, done))
        done++;
    CHECK(done == rounds);
    CHECK(child->wait() == 0);
}

TEST_CASE("killing a flooding peer at any moment harms only its channel", "[reliable][many]")
{
    uint32_t seed = GENERATE(range(1u, 13u));
    std::mt19937 random(seed);
    uint32_t last = random() % 5000;
    size_t before = open_descriptors();
    CAPTURE(seed, last);
    {
        Board board;
        Endpoint ep;
        auto victim = partner(board, 1, 1, flood);
        auto survivor = partner(board, 2, 2, echo);
        uint32_t next = 0, echoed = 0;

        board.show(0, ep);
        give_buffers(ep, 64, 1024);
        uint16_t from_victim = meet(ep, board, 1, 1), other = meet(ep, board, 2, 2);
        REQUIRE((from_victim != 0 && other != 0));
        auto handle = [&](const Message &m) {
            if (m.channel == from_victim)
                check_flood(m, next++);
            else if (m.channel == other)
                REQUIRE(m.user == echoed++);
        };
        while (next < last)
            handle(await(ep, 1024));
        victim->kill();
        REQUIRE(victim->wait() == 128 + SIGKILL);
        CHECK(is_dead(ep, from_victim));
        CHECK(send_text(ep, from_victim, "x") == -EPIPE);
        for (uint32_t i = 0; i < 500; i++) {
            REQUIRE(send_text(ep, other, "still there", i) == 0);
            while (echoed <= i)
                handle(await(ep, 1024));
        }
        // What the victim had published is whole, and then there is silence.
        while (unet_rx_peek(ep))
            handle(take(ep, 1024));
        REQUIRE(send_text(ep, other, "bye") == 0);
        CHECK(survivor->wait() == 0);
        CHECK(ep->stats.malformed + ep->stats.foreign == 0);
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("a peer's death ends a wait")
{
    Board board;
    Endpoint ep;
    auto child = partner(board, 1, 7, [](unet_endpoint *far, uint16_t) {
        await(far);
        return raise(SIGKILL) == 0;
    });

    board.show(0, ep);
    uint16_t channel = meet(ep, board, 1, 7);
    REQUIRE(channel != 0);
    REQUIRE(send_text(ep, channel, "die") == 0);
    Deadline deadline;
    CHECK(unet_wait(ep, 20000) == 0);
    CHECK_FALSE(deadline.passed());
    CHECK(is_dead(ep, channel));
    CHECK(child->wait() == 128 + SIGKILL);
    CHECK(unet_wait(ep, 0) == 0);
}

TEST_CASE("a peer's death makes the descriptor readable, once", "[shared]")
{
    Board board;
    Endpoint ep;
    auto child = partner(board, 1, 7, [](unet_endpoint *far, uint16_t) {
        await(far);
        return true;
    });

    board.show(0, ep);
    uint16_t channel = meet(ep, board, 1, 7);
    REQUIRE(channel != 0);
    REQUIRE(unet_arm(ep, nullptr) == 0);
    child->kill();
    pollfd fd = {unet_fd(ep), POLLIN, 0};
    CHECK(poll(&fd, 1, 20000) == 1);
    unet_disarm(ep);
    CHECK(ep->channel[channel].state == UNET_DEAD);
    CHECK(poll(&fd, 1, 0) == 0);
}

TEST_CASE("progress alone notices a peer's death")
{
    Board board;
    Endpoint ep;
    auto child = partner(board, 1, 7, [](unet_endpoint *far, uint16_t) {
        await(far);
        return true;
    });

    board.show(0, ep);
    uint16_t channel = meet(ep, board, 1, 7);
    REQUIRE(channel != 0);
    child->kill();
    CHECK(eventually([&] {
        unet_progress(ep);
        return ep->channel[channel].state == UNET_DEAD;
    }));
}

TEST_CASE("a dead peer completes what is queued for it, and its lane is given again",
          "[reliable][lanes]")
{
    unet_config config = {};
    config.channels = 1;
    Board board;
    Endpoint ep(config);
    unet_piece piece = {0, 100};

    for (uint32_t round = 0; round < 5; round++) {
        board->ready[1] = 0;
        auto child = partner(board, 1, 7, [](unet_endpoint *far, uint16_t) {
            eventually([&] { return unet_progress(far) < 0; });
            return true;
        });
        board.show(0, ep);
        uint16_t channel = meet(ep, board, 1, 7);
        REQUIRE(channel == 1);
        REQUIRE(unet_send(ep, channel, round, &piece, 1, nullptr) == 0);
        child->kill();
        REQUIRE(child->wait() == 128 + SIGKILL);
        CHECK(is_dead(ep, channel));
        CHECK(await(ep).error == EPIPE);
        REQUIRE(unet_disconnect(ep, channel) == 0);
    }
}

TEST_CASE("the address of a dead process is unreachable", "[shared]")
{
    Board board;
    Endpoint ep;
    Child child([&] {
        Endpoint far;
        board.show(1, far);
        return true;
    });
    uint16_t channel;

    REQUIRE(child.wait() == 0);
    size_t before = open_descriptors();
    struct unet_address gone = board.see(1);
    CHECK(unet_connect(ep, &gone, 1, &channel) == -EHOSTUNREACH);
    CHECK(open_descriptors() == before);
}

TEST_CASE("a ring on the bell of a dead sleeper does no harm", "[shared]")
{
    Board board;
    Endpoint ep;
    auto child = partner(board, 1, 7, [&](unet_endpoint *far, uint16_t) {
        unet_arm(far, nullptr);
        board.raise(2);
        pause();
        return true;
    });

    board.show(0, ep);
    uint16_t channel = meet(ep, board, 1, 7);
    REQUIRE(channel != 0);
    REQUIRE(eventually([&] { return board.raised(2); }));
    child->kill();
    REQUIRE(child->wait() == 128 + SIGKILL);
    CHECK(send_text(ep, channel, "x") == 0); // nobody has looked yet
    CHECK(ep->stats.wakeups == 1);
}

TEST_CASE("two pairs of processes do not see each other's data", "[reliable][lanes]")
{
    Board board;
    Endpoint ep;
    // The same tag and the same conversation twice; each child knows all addresses.
    auto stranger = [&](unsigned me, unsigned friend_, char letter) {
        return [&board, me, friend_, letter] {
            Endpoint e;
            board.show(me, e);
            uint16_t channel = meet(e, board, friend_, 99);
            bool good = channel != 0;
            for (int i = 0; i < 200 && good; i++) {
                good = send_text(e, channel, std::string(40, letter)) == 0 &&
                       text(await(e)) == std::string(40, letter);
            }
            std::ifstream maps("/proc/self/maps");
            int areas = 0;
            for (std::string line; std::getline(maps, line);)
                areas += line.find("unet-endpoint") != std::string::npos;
            board.raise(me + 4 < 8 ? me + 4 : 7);
            return good && areas == 2; // its own and its friend's
        };
    };
    ep.close();
    Child a(stranger(0, 1, 'a')), b(stranger(1, 0, 'a'));
    Child c(stranger(2, 3, 'c')), d(stranger(3, 2, 'c'));
    CHECK(a.wait() == 0);
    CHECK(b.wait() == 0);
    CHECK(c.wait() == 0);
    CHECK(d.wait() == 0);
}

TEST_CASE("another user is kept out", "[shared]")
{
    if (geteuid() != 0) {
        WARN("not run: to become another user takes root");
        return;
    }
    Board board;
    Endpoint ep;
    Child nobody([&] {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            return false;
        Endpoint own;
        struct unet_address theirs = board.see(0);
        uint16_t channel;
        board.show(1, own);
        bool kept_out = unet_connect(own, &theirs, 1, &channel) == -EACCES;
        return eventually([&] { return board.raised(2); }) && kept_out;
    });
    board.show(0, ep);
    struct unet_address theirs = board.see(1);
    uint16_t channel;

    CHECK(unet_connect(ep, &theirs, 1, &channel) == -EACCES); // not even for root
    board.raise(2);
    CHECK(nobody.wait() == 0);
}
