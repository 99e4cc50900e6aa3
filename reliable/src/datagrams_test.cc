// SPDX-License-Identifier: BSD-3-Clause
//
// datagrams_test.cc - reliable endpoints over udp, past its queues and through them, on a network
// that takes few packets at a time and puts them anywhere.
#include <catch2/catch.hpp>

#include <array>
#include <climits>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "src/endpoint.h"
}
#include "test/pair.h"

namespace {

using pair::BUFFER;
using pair::BUFFERS;
using pair::Pair;

enum class Way {
    PAST_QUEUES,
    THROUGH_QUEUES,
    STINGY,    // the network takes no more than it likes at a time
    UNALIGNED, // packets arrive at odd addresses
};

// What stands between the endpoint below and its network interface.
struct Fault {
    const unet_ops *real;
    unet_ops ops;
    unet_datagram_ops datagrams;
    unet_packet_fn *arrived = nullptr;
    void *arg = nullptr;
    std::mt19937 random{7};
    bool closed = false; // the network takes nothing
};

std::array<Fault, 2> fault;
std::array<const unet_endpoint *, 2> lowers;

Fault &fault_of(const unet_endpoint *ep)
{
    return fault[ep == lowers[1]];
}

void attach(unet_endpoint *ep, unet_packet_fn *fn, void *arg)
{
    Fault &f = fault_of(ep);

    f.arrived = fn;
    f.arg = arg;
    f.real->datagrams->attach(
        ep,
        [](void *arg, uint16_t channel, const void *bytes, size_t length, bool marked) {
            auto *f = static_cast<Fault *>(arg);
            std::vector<uint8_t> room(length + 9);

            memcpy(room.data() + 1, bytes, length);
            f->arrived(f->arg, channel, room.data() + 1, length, marked);
        },
        &f);
}

unsigned send_some(unet_endpoint *ep, const unet_packet *packet, unsigned count)
{
    Fault &f = fault_of(ep);
    const unsigned some = f.closed ? 0 : f.random() % (count + 1);

    return some > 0 ? f.real->datagrams->send(ep, packet, some) : 0;
}

void put_fault_in(int rank, unet_endpoint *lower, Way way)
{
    Fault &f = fault[rank];

    f = Fault{};
    lowers[rank] = lower;
    if (rank == 0)
        lowers[1] = nullptr; // of the pair before, maybe at this address
    f.real = lower->ops;
    f.ops = *f.real;
    f.datagrams = *f.real->datagrams;
    if (way == Way::STINGY)
        f.datagrams.send = send_some;
    if (way == Way::UNALIGNED)
        f.datagrams.attach = attach;
    f.ops.datagrams = way == Way::THROUGH_QUEUES ? nullptr : &f.datagrams;
    lower->ops = &f.ops;
}

pair::Prepare with(Way way)
{
    return [way](int rank, unet_endpoint *lower) { put_fault_in(rank, lower, way); };
}

std::vector<uint8_t> random_message(std::mt19937 &random)
{
    const size_t length = random() % 4 ? 1 + random() % 60 : 1 + random() % BUFFER;
    std::vector<uint8_t> message(length);

    for (uint8_t &byte : message)
        byte = static_cast<uint8_t>(random());
    return message;
}

// Takes what has arrived, which are the messages sent first; returns how many.
unsigned take(unet_endpoint *ep, std::deque<std::vector<uint8_t>> &sent)
{
    const unet_desc *slot;
    unsigned count = 0;

    while ((slot = unet_rx_peek(ep)) != nullptr) {
        const unet_desc desc = *slot;
        const uint8_t *bytes =
            desc.kind == UNET_INLINE ? desc.data : ep->segment + desc.piece[0].offset;

        unet_rx_release(ep);
        REQUIRE(!sent.empty());
        REQUIRE(std::vector<uint8_t>(bytes, bytes + desc.length) == sent.front());
        sent.pop_front();
        if (desc.kind == UNET_PIECES)
            REQUIRE(unet_free_put(ep, desc.piece[0].offset / BUFFER * BUFFER, BUFFER) == 0);
        count++;
    }
    return count;
}

std::string told(const unet_endpoint *ep)
{
    struct reliable_engine_stats s;

    reliable_engine_stats(reliable_of(const_cast<unet_endpoint *>(ep))->engine, &s);
    std::string text = "sent " + std::to_string(s.sent) + ", again " +
                       std::to_string(s.sent_again) + ", time-outs " + std::to_string(s.timeouts) +
                       ", received " + std::to_string(s.received) + ", refused";
    for (uint64_t refused : s.refused)
        text += " " + std::to_string(refused);
    return text;
}

} // namespace

TEST_CASE("messages of all lengths arrive in order, however the network takes and brings packets")
{
    const Way way = GENERATE(Way::PAST_QUEUES, Way::THROUGH_QUEUES, Way::STINGY, Way::UNALIGNED);
    std::array<std::deque<std::vector<uint8_t>>, 2> on_way;
    std::mt19937 random(static_cast<unsigned>(way) + 1);
    unsigned sent = 0, taken = 0;
    Pair pair(with(way));

    INFO("way " << static_cast<int>(way));
    for (int step = 0; taken < 4000 && step < 2000000; step++) {
        const int rank = static_cast<int>(random() % 2);

        if (sent < 4000 && on_way[rank].size() < BUFFERS / 2) {
            std::vector<uint8_t> message = random_message(random);
            const iovec iov = {message.data(), message.size()};

            if (unet_sendv(pair.ep[rank], pair.channel[rank], 0, &iov, 1) == 0) {
                on_way[rank].push_back(std::move(message));
                sent++;
            }
        }
        unet_progress(pair.ep[rank]);
        taken += take(pair.ep[rank], on_way[!rank]);
    }
    INFO("rank 0: " << told(pair.ep[0]));
    INFO("rank 1: " << told(pair.ep[1]));
    CHECK(taken == 4000);
    CHECK(pair.ep[0]->stats.malformed + pair.ep[1]->stats.malformed == 0);
}

TEST_CASE("what the network does not take now is sent later, and nobody sleeps over it")
{
    const std::string text = "a message longer than what a descriptor holds: it is a hundred bytes "
                             "or more, in a packet of its own";
    const iovec iov = {const_cast<char *>(text.data()), text.size()};
    Pair pair(with(Way::STINGY));
    int timeout_ms = INT_MAX;

    fault[0].closed = true;
    REQUIRE(unet_sendv(pair.ep[0], pair.channel[0], 0, &iov, 1) == 0);
    REQUIRE(unet_sendv(pair.ep[0], pair.channel[0], 0, &iov, 1) == 0);
    CHECK(reliable_of(pair.ep[0])->unsent_end > reliable_of(pair.ep[0])->unsent_first);
    REQUIRE(unet_arm(pair.ep[0], &timeout_ms) == 0);
    unet_disarm(pair.ep[0]);
    CHECK(timeout_ms <= 1);

    fault[0].closed = false;
    const unet_desc *slot = pair.await(1);
    REQUIRE(slot);
    CHECK(slot->length == text.size());
    CHECK(memcmp(pair.ep[1]->segment + slot->piece[0].offset, text.data(), text.size()) == 0);
    unet_rx_release(pair.ep[1]);
}

TEST_CASE("an acknowledgement that the network does not take now is not slept over")
{
    const uint64_t word = 1;
    const iovec iov = {const_cast<uint64_t *>(&word), sizeof(word)};
    Pair pair(with(Way::STINGY));
    const reliable_endpoint *r = reliable_of(pair.ep[1]);
    int timeout_ms = INT_MAX;

    fault[1].closed = true;
    REQUIRE(unet_sendv(pair.ep[0], pair.channel[0], 0, &iov, 1) == 0);
    REQUIRE(pair.await(1));
    unet_rx_release(pair.ep[1]);
    for (int i = 0; i < 1000000 && r->unsent_first == r->unsent_end; i++)
        unet_progress(pair.ep[1]);
    REQUIRE(r->unsent_first < r->unsent_end);
    REQUIRE(unet_arm(pair.ep[1], &timeout_ms) == 0); // nothing else is due within seconds
    unet_disarm(pair.ep[1]);
    CHECK(timeout_ms == 1); // 0 would be a busy loop
    fault[1].closed = false;
}

TEST_CASE("closing frees what the network never took")
{
    const uint64_t word = 1;
    const iovec iov = {const_cast<uint64_t *>(&word), sizeof(word)};
    auto pair = std::make_unique<Pair>(with(Way::STINGY));

    fault[0].closed = true;
    REQUIRE(unet_sendv(pair->ep[0], pair->channel[0], 0, &iov, 1) == 0);
    pair.reset();
    SUCCEED("under AddressSanitizer nothing leaks");
}
