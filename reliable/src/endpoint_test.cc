// SPDX-License-Identifier: BSD-3-Clause
//
// endpoint_test.cc - the reliable endpoint: its channels, its queues, and its packets.
#include <catch2/catch.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <unet/unet_chaos.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "src/connection.h"
#include "src/endpoint.h"
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr unet_chaos NO_FAULTS = {0, 0, 0, 0, 0, 1};
constexpr uint32_t RANKS = 3;

// Rank 0's, and two addresses: at rank 1's nobody has opened a channel.
struct Front {
    unet_endpoint *lower = nullptr, *there[2] = {}, *ep = nullptr;
    uint16_t channel = 0; // to rank 1
    reliable_endpoint *r = nullptr;

    Front()
    {
        const reliable_config config = {RANKS, 0, {}, 1000, RELIABLE_AUTH_FULL, 0, 0};
        const unet_config sizes = {};

        open_endpoint(lower);
        REQUIRE(reliable_open(lower, &config, &sizes, &ep) == 0);
        connect(2);
        open_channel(2);
        channel = connect(1);
        r = reliable_of(ep);
    }
    ~Front()
    {
        unet_close(ep);
        for (unet_endpoint *one : there)
            unet_close(one);
    }
    Front(const Front &) = delete;
    Front &operator=(const Front &) = delete;

private:
    static void open_endpoint(unet_endpoint *&one)
    {
        unet_config sizes = {};

        reliable_lower_config(RANKS, &sizes);
        REQUIRE(unet_chaos_open(unet_backend("loopback"), &NO_FAULTS, &sizes, &one) == 0);
    }
    uint16_t connect(uint32_t rank)
    {
        struct unet_address address;
        uint16_t to;

        open_endpoint(there[rank - 1]);
        unet_address(there[rank - 1], &address);
        REQUIRE(reliable_address(&address, rank, &address) == 0);
        REQUIRE(unet_connect(ep, &address, rank, &to) == 0);
        return to;
    }
    void open_channel(uint32_t rank)
    {
        unet_endpoint *one = there[rank - 1];
        struct unet_address address;
        uint16_t from;

        unet_address(lower, &address);
        REQUIRE(unet_free_put(one, 0, 8192) == 0);
        REQUIRE(unet_connect(one, &address, rank, &from) == 0);
        for (int i = 0; i < 100 && unet_channel_state(ep, 1) != UNET_OPEN; i++)
            unet_channel_state(one, from);
        REQUIRE(unet_channel_state(ep, 1) == UNET_OPEN);
        REQUIRE(unet_channel_state(one, from) == UNET_OPEN);
    }
};

// Twice the timeout, and no more than the clock shows that begins with the machine.
constexpr uint64_t LONG = 2000000;

bool sleeps(pid_t thread)
{
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::ostringstream text;

    text << file.rdbuf();
    return text.str().find(") S ") != std::string::npos;
}

} // namespace

TEST_CASE("who was away itself does not give up those to whom it connects")
{
    Front front;

    CHECK(unet_channel_state(front.ep, front.channel) == UNET_CONNECTING);
    // As if it had been stopped for so long.
    front.r->peer[front.channel].connecting_since -= LONG;
    front.r->engine->ticked -= LONG;
    CHECK(unet_channel_state(front.ep, front.channel) == UNET_CONNECTING);
    // As if it had waited for so long.
    front.r->engine->grace -= LONG;
    CHECK(unet_channel_state(front.ep, front.channel) == UNET_DEAD);
}

TEST_CASE("whoever waits while another works does not set the protocol's clock back")
{
    const bool uncork = GENERATE(true, false);
    Front front;
    std::atomic<pid_t> waiter{0};

    unet_channel_state(front.ep,
                       front.channel); // the first look of all counts as one after a pause
    const uint64_t grace = reliable_engine_grace(front.r->engine);
    front.r->packets_wait = true; // or uncorking would have nothing to do
    pthread_mutex_lock(&front.r->lock);
    std::thread thread([&] {
        waiter = gettid();
        if (uncork)
            unet_uncork(front.ep);
        else
            front.ep->ops->kick(front.ep, front.channel);
    });
    while (waiter == 0 || !sleeps(waiter))
        std::this_thread::yield();
    const uint64_t after = unet_now_us() + 1;
    uint32_t rank;
    size_t length;

    while (unet_now_us() < after) {
    }
    reliable_engine_transmit(front.r->engine, after, &rank, &length);
    pthread_mutex_unlock(&front.r->lock);
    thread.join();
    INFO((uncork ? "uncork" : "kick") << ": a clock that goes back looks like a pause of our own");
    CHECK(reliable_engine_grace(front.r->engine) == grace);
    CHECK(front.r->engine->ticked >= after);
}

TEST_CASE("packets go although the last of them, to another rank, cannot")
{
    const uint8_t data[100] = {};
    const uint64_t now = unet_now_us();
    Front front;

    for (uint32_t rank : {2, 1})
        REQUIRE(reliable_engine_send(front.r->engine, now, rank, 0, data, sizeof(data)) == 0);
    reliable_packets_send(front.r, now);
    CHECK(front.lower->stats.sent == 1);
    CHECK(unet_sent(front.lower, front.lower->tx.position));
    CHECK(unet_rx_peek(front.there[1]) != nullptr);
}

// ---- two of them ---------------------------------------------------------------------------

namespace {

constexpr uint32_t FOR_BUFFERS = 1 << 19; // bytes of the segment

// Ranks 0 and 1, connected, in one thread.
struct Pair {
    unet_endpoint *lower[2] = {}, *ep[2] = {};
    uint16_t channel[2] = {};

    const uint32_t buffer; // bytes of each

    explicit Pair(uint32_t buffer_bytes = 8192) : buffer(buffer_bytes)
    {
        for (uint32_t rank : {0, 1})
            open_endpoint(rank);
        for (uint32_t rank : {0, 1})
            REQUIRE(connect(rank) == 0);
        REQUIRE(until([&] { return is_open(0) && is_open(1); }));
    }
    ~Pair()
    {
        for (unet_endpoint *one : ep)
            unet_close(one);
    }
    Pair(const Pair &) = delete;
    Pair &operator=(const Pair &) = delete;

    int connect(uint32_t rank)
    {
        struct unet_address address;

        unet_address(ep[1 - rank], &address);
        return unet_connect(ep[rank], &address, TAG, &channel[rank]);
    }
    bool is_open(uint32_t rank) const
    {
        return unet_channel_state(ep[rank], channel[rank]) == UNET_OPEN;
    }
    // Both work until it is true; false: it does not become so.
    bool until(const std::function<bool()> &done) const
    {
        const auto end = Clock::now() + std::chrono::seconds(10);

        while (!done()) {
            if (Clock::now() > end)
                return false;
            for (unet_endpoint *one : ep)
                unet_progress(one);
        }
        return true;
    }
    // The next message of a rank as text; its buffer goes back.
    std::string read(uint32_t rank) const
    {
        std::string text;

        if (!until([&] { return unet_rx_peek(ep[rank]) != nullptr; }))
            return "nothing came";
        const unet_desc desc = ep[rank]->rx_desc;
        if (desc.kind == UNET_INLINE)
            text.assign(reinterpret_cast<const char *>(desc.data), desc.length);
        else if (desc.kind == UNET_PIECES)
            text.assign(reinterpret_cast<const char *>(ep[rank]->segment) + desc.piece[0].offset,
                        desc.length);
        else
            text = "error " + std::to_string(desc.error);
        if (desc.kind == UNET_PIECES)
            REQUIRE(unet_free_put(ep[rank], desc.piece[0].offset, buffer) == 0);
        unet_rx_release(ep[rank]);
        return text;
    }
    int send(uint32_t rank, const std::string &text) const
    {
        std::string part[3]; // which do not lie behind each other
        iovec iov[3];

        for (size_t i = 0; i < 3; i++) {
            part[i] =
                text.substr(i * text.size() / 3, (i + 1) * text.size() / 3 - i * text.size() / 3);
            iov[i] = {part[i].data(), part[i].size()};
        }
        return unet_sendv(ep[rank], channel[rank], 7, iov, 3);
    }

private:
    static constexpr uint64_t TAG = 1;

    void open_endpoint(uint32_t rank)
    {
        const reliable_config config = {2, rank, {1, 2}, 0, RELIABLE_AUTH_FULL, 0, 0};
        unet_config sizes = {};

        reliable_lower_config(2, &sizes);
        REQUIRE(unet_chaos_open(unet_backend("loopback"), &NO_FAULTS, &sizes, &lower[rank]) == 0);
        REQUIRE(reliable_open(lower[rank], &config, nullptr, &ep[rank]) == 0);
        for (uint32_t at = 0; at < FOR_BUFFERS; at += buffer)
            REQUIRE(unet_free_put(ep[rank], at, buffer) == 0);
    }
};

std::string text_of(size_t length)
{
    std::string text(length, ' ');

    for (size_t i = 0; i < length; i++)
        text[i] = static_cast<char>('a' + i * 7 % 26);
    return text;
}

} // namespace

TEST_CASE("messages of every length arrive as they were gathered")
{
    Pair pair(UNET_MESSAGE_MAX);

    for (const size_t length : {0, 1, 3, 48, 49, 463, 464, 465, 1000, 8191, 8192, 65536}) {
        INFO(length << " bytes");
        REQUIRE(pair.send(0, text_of(length)) == 0);
        CHECK(pair.read(1) == text_of(length));
    }
    CHECK(pair.until([&] { return unet_idle(pair.ep[0]); }));
}

TEST_CASE("pieces of the segment are gathered")
{
    const unet_piece piece[] = {{70000, 100}, {71000, 1}, {60000, 700}};
    const std::string text = text_of(801);
    Pair pair;

    std::memcpy(pair.ep[0]->segment + 70000, text.data(), 100);
    std::memcpy(pair.ep[0]->segment + 71000, text.data() + 100, 1);
    std::memcpy(pair.ep[0]->segment + 60000, text.data() + 101, 700);
    REQUIRE(unet_send(pair.ep[0], pair.channel[0], 0, piece, 3, nullptr) == 0);
    CHECK(pair.read(1) == text);
}

TEST_CASE("corked messages share a packet")
{
    Pair pair;
    const uint64_t before = pair.lower[0]->stats.sent;

    unet_cork(pair.ep[0]);
    for (int i = 0; i < 5; i++)
        REQUIRE(pair.send(0, text_of(20)) == 0);
    CHECK(pair.lower[0]->stats.sent == before);
    unet_uncork(pair.ep[0]);
    CHECK(pair.lower[0]->stats.sent == before + 1);
    for (int i = 0; i < 5; i++)
        CHECK(pair.read(1) == text_of(20));
}

TEST_CASE("the beginning of what is corked goes while the rest is sent, and the end with uncorking")
{
    constexpr size_t PIECE = 8000, PIECES = 6;
    Pair pair;

    for (int i = 0; i < 20; i++) { // the windows open
        REQUIRE(pair.send(0, text_of(PIECE)) == 0);
        REQUIRE(pair.read(1) == text_of(PIECE));
    }
    REQUIRE(pair.until([&] { return unet_idle(pair.ep[0]); }));
    const uint64_t before = pair.lower[0]->stats.sent;

    unet_cork(pair.ep[0]);
    for (size_t i = 0; i < PIECES; i++) {
        CHECK((pair.lower[0]->stats.sent > before) == (i > 3));
        REQUIRE(pair.send(0, text_of(PIECE)) == 0);
    }
    const uint64_t corked = pair.lower[0]->stats.sent;
    unet_uncork(pair.ep[0]);
    CHECK(pair.lower[0]->stats.sent > corked);
    CHECK(reliable_of(pair.ep[0])->engine->ready_first == nullptr);
    for (size_t i = 0; i < PIECES; i++)
        CHECK(pair.read(1) == text_of(PIECE));
}

TEST_CASE("a descriptor that contradicts itself is answered with its error")
{
    Pair pair;
    const uint32_t segment = pair.ep[0]->config.segment_bytes;
    const unet_piece outside = {segment - 10, 11}, nothing = {0, 0};

    REQUIRE(unet_send(pair.ep[0], pair.channel[0], 0, &outside, 1, nullptr) == 0);
    CHECK(pair.read(0) == "error " + std::to_string(EFAULT));
    REQUIRE(unet_send(pair.ep[0], pair.channel[0], 0, &nothing, 1, nullptr) == 0);
    CHECK(pair.read(0) == "error " + std::to_string(EINVAL));
    unet_desc desc = {};
    desc.channel = 2; // exists, but was never connected
    desc.kind = UNET_INLINE;
    REQUIRE(unet_push(pair.ep[0], &desc, nullptr) == 0);
    CHECK(pair.read(0) == "error " + std::to_string(ENOTCONN));
    REQUIRE(pair.send(0, "after that") == 0);
    CHECK(pair.read(1) == "after that");
}

TEST_CASE("a rank is connected to once, at an address of the job")
{
    Pair pair;
    struct unet_address address;
    uint16_t channel;

    CHECK(pair.connect(0) == -EEXIST);
    unet_address(pair.lower[1], &address);
    CHECK(unet_connect(pair.ep[0], &address, 5, &channel) == -EADDRNOTAVAIL); // without a rank
    REQUIRE(reliable_address(&address, 2, &address) == 0);
    CHECK(unet_connect(pair.ep[0], &address, 5, &channel) == -EADDRNOTAVAIL); // beyond the job
}

TEST_CASE("closing a channel waits until what was sent is acknowledged")
{
    Pair pair;
    std::atomic<bool> read{false};

    REQUIRE(pair.send(0, text_of(5000)) == 0);
    std::thread other([&] {
        while (!read) {
            unet_progress(pair.ep[1]);
            read = unet_rx_peek(pair.ep[1]) != nullptr;
        }
        for (int i = 0; i < 1000; i++)
            unet_progress(pair.ep[1]);
    });
    CHECK(unet_disconnect(pair.ep[0], pair.channel[0]) == 0);
    other.join();
    CHECK(read);
    CHECK(unet_channel_state(pair.ep[0], pair.channel[0]) == UNET_CLOSED);
    CHECK(unet_channel_state(pair.lower[0], pair.channel[0]) == UNET_CLOSED);
    CHECK(unet_disconnect(pair.ep[1], pair.channel[1]) == 0);
    CHECK(unet_rx_peek(pair.ep[1]) == nullptr); // what was not read is dropped
    CHECK(pair.connect(0) == -EHOSTUNREACH); // the protocol has no second connection of two ranks
}

TEST_CASE("who closes a channel acknowledges what has come, for which its peer may wait")
{
    Pair pair;

    REQUIRE(pair.send(0, text_of(2000)) == 0);
    unet_progress(pair.ep[0]);
    for (int i = 0; i < 100 && !unet_rx_peek(pair.ep[1]); i++)
        unet_progress(pair.ep[1]);
    REQUIRE(unet_rx_peek(pair.ep[1]) != nullptr);
    const uint64_t before = pair.lower[1]->stats.sent;
    CHECK(unet_disconnect(pair.ep[1], pair.channel[1]) == 0);
    CHECK(pair.lower[1]->stats.sent == before + 1);
}

TEST_CASE("all closing together waits no longer than a second for peers that do not answer")
{
    constexpr uint32_t SILENT = 5;
    std::vector<unet_endpoint *> ep(1 + SILENT);
    struct unet_address address;
    uint16_t channel;

    for (uint32_t rank = 0; rank <= SILENT; rank++) {
        const reliable_config config = {1 + SILENT, rank, {1, 2}, 0, RELIABLE_AUTH_FULL, 0, 0};
        unet_endpoint *lower;
        unet_config sizes = {};

        reliable_lower_config(1 + SILENT, &sizes);
        REQUIRE(unet_chaos_open(unet_backend("loopback"), &NO_FAULTS, &sizes, &lower) == 0);
        REQUIRE(reliable_open(lower, &config, nullptr, &ep[rank]) == 0);
    }
    for (uint32_t rank = 1; rank <= SILENT; rank++) {
        unet_address(ep[0], &address);
        REQUIRE(unet_connect(ep[rank], &address, rank, &channel) == 0);
        unet_address(ep[rank], &address);
        REQUIRE(unet_connect(ep[0], &address, rank, &channel) == 0);
        for (int i = 0; i < 1000 && unet_channel_state(ep[0], channel) != UNET_OPEN; i++)
            unet_channel_state(ep[rank], 1);
        REQUIRE(unet_send_inline(ep[0], channel, 0, "unheard", 7) == 0);
    }
    const auto begin = Clock::now();
    unet_close(ep[0]);
    const auto took = Clock::now() - begin;
    CHECK(took > std::chrono::milliseconds(900));
    CHECK(took < std::chrono::milliseconds(1000 * SILENT - 500));
    for (uint32_t rank = 1; rank <= SILENT; rank++)
        unet_close(ep[rank]);
}

TEST_CASE("sleeping ends with a message, and asks for no more time than the protocol allows")
{
    Pair pair;
    int ms = -1;

    REQUIRE(pair.send(0, "hello") == 0);
    CHECK(pair.read(1) == "hello");
    REQUIRE(pair.until([&] { return unet_idle(pair.ep[0]); }));
    CHECK(unet_arm(pair.ep[0], nullptr) == -EINVAL);
    REQUIRE(unet_arm(pair.ep[0], &ms) == 0);
    CHECK(ms > 0); // until the next heartbeat
    CHECK(ms <= 2500);
    unet_disarm(pair.ep[0]);
    unet_disarm(pair.ep[0]); // does nothing
    REQUIRE(pair.send(1, "good morning") == 0);
    REQUIRE(unet_wait(pair.ep[0], 10000) == 1);
    CHECK(pair.read(0) == "good morning");
    CHECK(unet_wait(pair.ep[0], 1) == 0);
}

TEST_CASE("who sleeps while a channel is connecting looks for its peer now and then")
{
    Front front;
    int ms = 10000;

    REQUIRE(unet_channel_state(front.ep, front.channel) == UNET_CONNECTING);
    REQUIRE(unet_arm(front.ep, &ms) == 0);
    CHECK(ms == reliable_endpoint_kind.retry_ms);
    unet_disarm(front.ep);
    ms = 0;
    REQUIRE(unet_arm(front.ep, &ms) == 0);
    CHECK(ms == 0);
    unet_disarm(front.ep);
}

TEST_CASE("a reliable endpoint has what its endpoint below leaves room for")
{
    const uint32_t segment = GENERATE(2u << 20, 128u << 10);
    const reliable_config config = {2, 0, {1, 2}, 0, RELIABLE_AUTH_FULL, 0, 0};
    unet_endpoint *lower, *ep;
    unet_config sizes = {};

    reliable_lower_config(2, &sizes);
    sizes.segment_bytes = segment;
    REQUIRE(unet_open(unet_backend("loopback"), &sizes, &lower) == 0);
    REQUIRE(lower->capabilities == (UNET_CAP_RELIABLE | UNET_CAP_ORDERED | UNET_CAP_DIRECT));
    lower->capabilities = UNET_CAP_DIRECT | UNET_CAP_RANGES | UNET_CAP_REMOTE;
    REQUIRE(reliable_open(lower, &config, nullptr, &ep) == 0);
    CHECK(ep->capabilities == (UNET_CAP_RELIABLE | UNET_CAP_ORDERED | UNET_CAP_REMOTE));

    // A quarter of the segment is for the 32 packets that are sent at once.
    const uint32_t packet = segment / 128, arrivals = 96;
    const reliable_engine_config &engine = reliable_of(ep)->engine->config;

    CHECK(engine.packet_bytes == packet);
    CHECK(lower->free.position == arrivals);
    for (uint32_t i = 0; i < arrivals; i++)
        CHECK(lower->free.shared->slot[i].piece[0].offset == (32 + i) * packet);
    CHECK(engine.backlog == arrivals);
    unet_close(ep);
}

TEST_CASE("a job may have one rank, and none has more ranks than a packet can name")
{
    const auto [ranks, rank, expected] = GENERATE(table<uint32_t, uint32_t, int>(
        {{1, 0, 0}, {0, 0, -EINVAL}, {1, 1, -EINVAL}, {65535, 65534, 0}, {65536, 0, -EINVAL}}));
    const reliable_config config = {ranks, rank, {1, 2}, 0, RELIABLE_AUTH_FULL, 0, 0};
    unet_config sizes = {};
    unet_endpoint *lower, *ep = nullptr;

    reliable_lower_config(2, &sizes);
    REQUIRE(unet_open(unet_backend("udp"), &sizes, &lower) == 0);
    INFO("rank " << rank << " of " << ranks);
    CHECK(reliable_open(lower, &config, nullptr, &ep) == expected);
    unet_close(ep ? ep : lower);
}

TEST_CASE("no more packets may wait than three quarters of a ring have slots for")
{
    const reliable_config config = {2, 0, {1, 2}, 0, RELIABLE_AUTH_FULL, 0, 0};
    unet_endpoint *lower, *ep;
    unet_config sizes = {};

    reliable_lower_config(2, &sizes);
    sizes.recv_slots = 64;
    REQUIRE(unet_open(unet_backend("loopback"), &sizes, &lower) == 0);
    REQUIRE(reliable_open(lower, &config, nullptr, &ep) == 0);
    CHECK(reliable_of(ep)->engine->config.backlog == 48);
    unet_close(ep);
}

TEST_CASE("another thread keeps the protocol going while the owner computes")
{
    Pair pair;
    const std::jthread keeper([&](const std::stop_token &stop) {
        while (!stop.stop_requested())
            reliable_keepalive(pair.ep[1]);
    });

    for (int i = 0; i < 1000; i++) {
        REQUIRE(pair.send(0, text_of(static_cast<size_t>(i))) == 0);
        while (!unet_idle(pair.ep[0])) // acknowledged by the other thread alone
            unet_progress(pair.ep[0]);
        if (i % 32 == 31) {
            for (int j = i - 31; j <= i; j++)
                REQUIRE(pair.read(1) == text_of(static_cast<size_t>(j)));
        }
    }
}
