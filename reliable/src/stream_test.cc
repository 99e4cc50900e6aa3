// SPDX-License-Identifier: BSD-3-Clause
//
// stream_test.cc - bulk by TCP beside the packets: order, refusals, and streams that break.
#include "test/pair.h"

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <cstring>
#include <deque>
#include <linux/filter.h>
#include <map>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <random>
#include <string>
#include <sys/socket.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
#include "src/connection.h"
#include "src/endpoint.h"
}

using pair::Pair;

namespace {

constexpr size_t LEAST = 16384;
constexpr size_t PIECE = 8000;
constexpr std::array<size_t, 2> BOTH = {LEAST, LEAST};

const auto NOTHING = [](int, unet_endpoint *) {};

// Made once: it takes longer than to send it.
const std::string &text_of(size_t length, unsigned seed)
{
    static std::map<std::pair<size_t, unsigned>, std::string> all;
    std::string &text = all[{length, seed}];

    for (size_t i = text.size(); i < length; i++)
        text += static_cast<char>((i * 7 + seed * 13) >> (i % 3));
    return text;
}

uint64_t streamed(const Pair &pair, int from)
{
    return reliable_of(pair.ep[from])->streams.messages_out;
}

int send_message(Pair &pair, int from, const std::string &text)
{
    const iovec iov[] = {
        {const_cast<char *>(text.data()), text.size() / 3},
        {const_cast<char *>(text.data()) + text.size() / 3, text.size() - text.size() / 3}};

    return unet_sendv(pair.ep[from], pair.channel[from], 1, iov, 2);
}

// What is there, if anything; its buffer is given back.
bool read(Pair &pair, int rank, std::string &text)
{
    const unet_desc *slot = unet_rx_peek(pair.ep[rank]);

    if (!slot)
        return false;
    if (slot->kind == UNET_INLINE) {
        text.assign(reinterpret_cast<const char *>(slot->data), slot->length);
    } else {
        const unet_piece piece = slot->piece[0];

        text.assign(reinterpret_cast<const char *>(pair.ep[rank]->segment) + piece.offset,
                    piece.length);
        REQUIRE(unet_free_put(pair.ep[rank], piece.offset / pair::BUFFER * pair::BUFFER,
                              pair::BUFFER) == 0);
    }
    unet_rx_release(pair.ep[rank]);
    return true;
}

std::string await(Pair &pair, int rank)
{
    std::string text;

    for (int i = 0; i < 1000000 && !read(pair, rank, text); i++)
        pair.step();
    return text;
}

// Bulk, whose pieces stay as they are until it is sent, and no longer.
class Bulk {
public:
    Bulk(Pair &pair, int from, size_t bytes) : pair(pair), from(from)
    {
        unet_cork_bulk(pair.ep[from], pair.channel[from], bytes);
    }
    ~Bulk()
    {
        unet_uncork(pair.ep[from]);
        for (std::string &text : texts)
            text.assign(text.size(), '!');
    }
    Bulk(const Bulk &) = delete;
    Bulk &operator=(const Bulk &) = delete;

    bool send(const std::string &text)
    {
        texts.push_back(text);
        return send_message(pair, from, texts.back()) == 0;
    }

private:
    Pair &pair;
    int from;
    std::deque<std::string> texts;
};

// So many pieces as one bulk.
void send_bulk(Pair &pair, int from, unsigned count, unsigned seed = 0)
{
    Bulk bulk(pair, from, count * PIECE);

    for (unsigned i = 0; i < count; i++)
        REQUIRE(bulk.send(text_of(PIECE, seed + i)));
}

void read_bulk(Pair &pair, int rank, unsigned count, unsigned seed = 0)
{
    for (unsigned i = 0; i < count; i++)
        REQUIRE(await(pair, rank) == text_of(PIECE, seed + i));
}

reliable_stream *stream_of(const Pair &pair, int rank)
{
    return reliable_of(pair.ep[rank])->peer[pair.channel[rank]].stream;
}

// Sends bulk until the next one of four pieces is what makes a stream worth while.
void send_almost_enough(Pair &pair, int from)
{
    for (size_t bytes = 0; bytes + 4 * PIECE < pair::STREAM_AFTER; bytes += 4 * PIECE) {
        REQUIRE(stream_of(pair, from) == nullptr);
        send_bulk(pair, from, 4);
        read_bulk(pair, !from, 4);
    }
}

// Sends bulk until it goes by a stream.
void open_stream(Pair &pair, int from)
{
    for (int i = 0; i < 1000 && streamed(pair, from) == 0; i++) {
        send_bulk(pair, from, 4);
        read_bulk(pair, !from, 4);
    }
    REQUIRE(streamed(pair, from) > 0);
}

// Nothing of what comes to a socket gets to TCP, as if it had been lost on the way.
class Deaf {
public:
    explicit Deaf(int fd) : fd(fd)
    {
        sock_filter nothing = {BPF_RET | BPF_K, 0, 0, 0};
        const sock_fprog program = {1, &nothing};

        REQUIRE(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0);
    }
    ~Deaf()
    {
        const int none = 0;

        setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof none);
    }
    Deaf(const Deaf &) = delete;
    Deaf &operator=(const Deaf &) = delete;

private:
    int fd;
};

bool dies(Pair &pair, int rank)
{
    for (int i = 0; i < 100000; i++) {
        pair.step();
        if (unet_channel_state(pair.ep[rank], pair.channel[rank]) == UNET_DEAD)
            return true;
    }
    return false;
}

} // namespace

TEST_CASE("bulk goes by a stream once there is one, and what is shorter by packets")
{
    Pair pair(NOTHING, BOTH);

    send_bulk(pair, 0, 1);
    read_bulk(pair, 1, 1);
    CHECK(stream_of(pair, 0) == nullptr);
    open_stream(pair, 0);
    const uint64_t before = streamed(pair, 0);

    send_bulk(pair, 0, 6);
    read_bulk(pair, 1, 6);
    CHECK(streamed(pair, 0) == before + 6);
    send_bulk(pair, 0, 1);
    read_bulk(pair, 1, 1);
    CHECK(streamed(pair, 0) == before + 6);
    CHECK(streamed(pair, 1) == 0);
    CHECK(reliable_of(pair.ep[1])->streams.messages_in == before + 6);
}

TEST_CASE("messages behind bulk come after it, although packets are faster")
{
    Pair pair(NOTHING, BOTH);

    open_stream(pair, 0);
    for (unsigned round = 0; round < 50; round++) {
        const std::string small = text_of(1 + round % 40, round);

        send_bulk(pair, 0, 7, round);
        REQUIRE(send_message(pair, 0, small) == 0);
        read_bulk(pair, 1, 7, round);
        REQUIRE(await(pair, 1) == small);
    }
}

TEST_CASE("a short message in the midst of bulk keeps its place")
{
    Pair pair(NOTHING, BOTH);

    open_stream(pair, 0);
    {
        Bulk bulk(pair, 0, 8 * PIECE);

        for (unsigned i = 0; i < 8; i++) {
            REQUIRE(bulk.send(text_of(PIECE, i)));
            if (i == 3)
                REQUIRE(unet_send_inline(pair.ep[0], pair.channel[0], 0, "short", 5) == 0);
        }
    }
    read_bulk(pair, 1, 4);
    CHECK(await(pair, 1) == "short");
    read_bulk(pair, 1, 4, 4);
}

TEST_CASE("random messages of both ranks, short and bulk, arrive once and in order")
{
    const unsigned seed = GENERATE(range(1u, 9u));
    const reliable_auth auth =
        std::array{RELIABLE_AUTH_FULL, RELIABLE_AUTH_HEADER, RELIABLE_AUTH_OFF}[seed % 3];
    std::mt19937 random(seed);
    Pair pair(NOTHING, {LEAST, seed % 4 == 0 ? 2 * LEAST : LEAST}, auth);
    std::array<std::deque<std::string>, 2> due;
    unsigned sent = 0;

    CAPTURE(seed, auth);
    for (unsigned step = 0; step < 3000 || !due[0].empty() || !due[1].empty(); step++) {
        const int from = random() % 2;
        const unsigned count = random() % 3 ? 1 : random() % 12;
        std::string text;

        REQUIRE(step < 1000000);
        if (step < 3000 && due[!from].size() + count < 40) {
            Bulk bulk(pair, from, count * PIECE);

            for (unsigned i = 0; i < count; i++) {
                text = text_of(random() % 4 ? PIECE : random() % 8192, sent++);
                if (bulk.send(text))
                    due[!from].push_back(text);
            }
        }
        if (random() % 2)
            unet_progress(pair.ep[random() % 2]);
        for (int rank = 0; rank < 2; rank++) {
            while (read(pair, rank, text)) {
                REQUIRE_FALSE(due[rank].empty());
                REQUIRE(text == due[rank].front());
                due[rank].pop_front();
            }
        }
        if (step >= 3000)
            pair.step();
    }
    CHECK(streamed(pair, 0) > 100);
    CHECK(streamed(pair, 1) > 100);
}

TEST_CASE("bulk goes in two parts, so that its receiver begins early, and in one where that sends "
          "bulk itself")
{
    Pair pair(NOTHING, BOTH);
    const auto waiting_of = [&] { // after seven pieces of eight
        Bulk bulk(pair, 0, 8 * PIECE);

        for (unsigned i = 0; i < 7; i++)
            REQUIRE(bulk.send(text_of(PIECE, i)));
        const reliable_stream *s = stream_of(pair, 0);
        const uint32_t waiting = s->out.end - s->out.first;

        REQUIRE(bulk.send(text_of(PIECE, 7)));
        return waiting;
    };

    open_stream(pair, 0);
    open_stream(pair, 1);
    send_bulk(pair, 0, 8);
    read_bulk(pair, 1, 8);
    const auto waiting_after_both = [&] {
        send_bulk(pair, 0, 8);
        send_bulk(pair, 1, 8);
        read_bulk(pair, 0, 8);
        read_bulk(pair, 1, 8);
        return waiting_of();
    };

    for (int turn = 0; turn < 2; turn++) {
        uint32_t waiting = waiting_after_both();

        // On a busy machine the other one's may be found too late to be taken for sent before.
        for (int i = 0; i < 50 && waiting <= 7 * PIECE; i++) {
            read_bulk(pair, 1, 8);
            waiting = waiting_after_both();
        }
        CHECK(waiting > 7 * PIECE);
        read_bulk(pair, 1, 8); // of which the sender looks in vain for the other one's
        CHECK(waiting_of() < 2 * PIECE);
        read_bulk(pair, 1, 8);
    }
}

TEST_CASE("what the kernel does not take waits, and a sender that has no room is told so")
{
    const reliable_auth auth = GENERATE(RELIABLE_AUTH_FULL, RELIABLE_AUTH_HEADER);
    Pair pair(NOTHING, BOTH, auth);
    unsigned sent = 0, refused = 0;

    CAPTURE(auth);

    open_stream(pair, 0);
    const int few = 4096;

    setsockopt(stream_of(pair, 0)->out.fd, SOL_SOCKET, SO_SNDBUF, &few, sizeof few);
    while (sent < 400) {
        unsigned i = 0;

        {
            Bulk bulk(pair, 0, 60 * PIECE);

            while (i < 60 && sent + i < 400 && bulk.send(text_of(PIECE, sent + i))) {
                REQUIRE(stream_of(pair, 0)->out.end <= RELIABLE_STREAM_OUT);
                i++;
            }
        }
        CHECK(stream_of(pair, 0)->out.gaps == 0);
        refused += i < 60;
        read_bulk(pair, 1, i, sent);
        sent += i;
    }
    CHECK(refused > 1);
    CHECK(unet_channel_state(pair.ep[0], pair.channel[0]) == UNET_OPEN);
}

TEST_CASE("all that was sent has arrived only when streams are empty, too")
{
    Pair pair(NOTHING, BOTH);

    open_stream(pair, 0);
    send_bulk(pair, 0, 30);
    read_bulk(pair, 1, 30);
    bool idle = false;

    for (int i = 0; i < 100000 && !idle; i++) {
        pair.step();
        idle = unet_idle(pair.ep[0]);
    }
    CHECK(idle);
    CHECK(stream_of(pair, 0)->out.end == 0);
    stream_of(pair, 0)->out.end = 8; // as if the kernel had not taken this
    CHECK_FALSE(unet_idle(pair.ep[0]));
    stream_of(pair, 0)->out.end = 0;
}

TEST_CASE(
    "who waits for the rest of an episode acknowledges once more what has come, and not for ever")
{
    constexpr unsigned PIECES = 60; // as many as rank 1 has buffers for
    Pair pair(NOTHING, BOTH);
    const uint64_t &acks = reliable_of(pair.ep[1])->streams.acks;
    std::optional<Bulk> bulk;

    open_stream(pair, 0);
    pair.step();
    const uint64_t before = acks;

    bulk.emplace(pair, 0, PIECES * PIECE);
    for (unsigned i = 0; i < PIECES / 2; i++)
        REQUIRE(bulk->send(text_of(PIECE, i)));
    read_bulk(pair, 1, PIECES / 2 - 20);
    REQUIRE(stream_of(pair, 1)->in.episode);
    {
        const Deaf sender(stream_of(pair, 0)->out.fd); // acknowledgements are lost
        const uint64_t began = unet_now_us();

        while (acks == before && unet_now_us() - began < 10000000)
            pair.step();
        CHECK(acks > before);
        while (stream_of(pair, 1)->in.patience_us <= 128000 && unet_now_us() - began < 10000000)
            pair.step();
        const uint64_t most = acks;
        const uint64_t since = unet_now_us();

        while (unet_now_us() - since < 300000)
            pair.step();
        CHECK(acks == most);
        CHECK(most - before <= 9);
    }
    bulk.reset();
    for (unsigned i = PIECES / 2 - 20; i < PIECES / 2; i++)
        REQUIRE(await(pair, 1) == text_of(PIECE, i));
}

TEST_CASE("who has not looked for long acknowledges once, and not as often as it might have")
{
    const bool idle = GENERATE(true, false);
    Pair pair(NOTHING, BOTH);
    const uint64_t &acks = reliable_of(pair.ep[1])->streams.acks;

    CAPTURE(idle);
    open_stream(pair, 0);
    for (const uint64_t began = unet_now_us(); unet_now_us() - began < 50000;)
        pair.step();
    const uint64_t before = acks;

    {
        const Deaf receiver(stream_of(pair, 1)->in.fd); // the beginning of an episode is lost
        if (idle)
            usleep(200000);
        send_bulk(pair, 0, 4);
        for (int i = 0; i < 20; i++)
            pair.step();
        if (!idle)
            usleep(150000);
        for (int i = 0; i < 20; i++)
            pair.step();
        CHECK(acks - before <= 2);
    }
    read_bulk(pair, 1, 4);
}

TEST_CASE("who disconnects while TCP repairs a loss leaves nothing of it behind")
{
    constexpr unsigned COUNT = 12;
    const unsigned waits_us = GENERATE(300, 5000); // until then bytes come the other way, or not
    Pair pair(NOTHING, BOTH);
    std::string text;
    unsigned got = 0;

    CAPTURE(waits_us);
    open_stream(pair, 0);
    for (int i = 0; i < 1000; i++)
        pair.step();
    std::thread leaver;
    {
        const Deaf receiver(stream_of(pair, 1)->in.fd);

        send_bulk(pair, 0, COUNT);
        for (const uint64_t began = unet_now_us(); unet_now_us() - began < waits_us;)
            pair.step();
        leaver = std::thread([&] {
            unet_disconnect(pair.ep[0], pair.channel[0]);
            pair.channel[0] = 0;
        });
        for (const uint64_t began = unet_now_us(); unet_now_us() - began < 5000;)
            unet_progress(pair.ep[1]);
    }
    for (const uint64_t began = unet_now_us(); got < COUNT && unet_now_us() - began < 5000000;) {
        unet_progress(pair.ep[1]);
        unet_channel_state(pair.ep[1], pair.channel[1]);
        got += read(pair, 1, text);
    }
    leaver.join();
    CHECK(got == COUNT);
}

TEST_CASE("the end of what is corked goes with uncorking, also if it might join a packet")
{
    const size_t length = GENERATE(8000, 16000, 31000, 48000);
    Pair pair;
    reliable_engine *engine = reliable_of(pair.ep[0])->engine;

    CAPTURE(length);
    for (int i = 0; i < 200; i++) { // windows open
        REQUIRE(send_message(pair, 0, text_of(PIECE, i)) == 0);
        REQUIRE(await(pair, 1) == text_of(PIECE, i));
    }
    for (int i = 0; i < 100000 && !unet_idle(pair.ep[0]); i++)
        pair.step();
    for (int i = 0; i < 3; i++)
        REQUIRE(send_message(pair, 0, "small") == 0);
    REQUIRE(reliable_engine_unsent(engine, 1) == 1);
    unet_cork(pair.ep[0]);
    for (int i = 0; i < 20 && !reliable_of(pair.ep[0])->cork_sent; i++)
        REQUIRE(send_message(pair, 0, text_of(length, 1)) == 0);
    REQUIRE(send_message(pair, 0, "the end") == 0);
    unet_uncork(pair.ep[0]);
    const reliable_connection *conn = reliable_engine_find(engine, 1);
    const bool full = conn->snd.in_flight >= std::min(conn->snd.rwnd, conn->cc.cwnd);

    CHECK((full || reliable_engine_unsent(engine, 1) == 0));
}

TEST_CASE("what acknowledges once more is read by the sender, who has enough of it")
{
    Pair pair(NOTHING, BOTH);

    open_stream(pair, 0);
    REQUIRE(send(stream_of(pair, 1)->in.fd, std::string(1000, 0).data(), 1000, 0) == 1000);
    for (unsigned i = 0; i < 256; i++) {
        send_bulk(pair, 0, 4, i);
        read_bulk(pair, 1, 4, i);
    }
    char byte;

    CHECK(recv(stream_of(pair, 0)->out.fd, &byte, 1, MSG_DONTWAIT) == -1);
    CHECK(unet_channel_state(pair.ep[0], pair.channel[0]) == UNET_OPEN);
}

TEST_CASE("what is lost is sent again within milliseconds, where the kernel can be asked for that")
{
    constexpr int RTO_MIN_US = 45; // of TCP, in newer kernels
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), some_us = 12000;
    const bool can = setsockopt(fd, IPPROTO_TCP, RTO_MIN_US, &some_us, sizeof some_us) == 0;
    Pair pair(NOTHING, BOTH);
    int rto_us = 0;
    socklen_t length = sizeof rto_us;

    close(fd);
    open_stream(pair, 0);
    getsockopt(stream_of(pair, 0)->out.fd, IPPROTO_TCP, RTO_MIN_US, &rto_us, &length);
    if (can)
        CHECK(rto_us == 8000);
}

TEST_CASE("no stream is opened to a peer that gets little, and one is that gets much at once")
{
    const bool at_once = GENERATE(false, true);
    Pair pair(NOTHING, BOTH);

    CAPTURE(at_once);
    if (at_once) {
        unet_cork_bulk(pair.ep[0], pair.channel[0], pair::STREAM_AFTER);
        unet_uncork(pair.ep[0]);
    } else {
        send_almost_enough(pair, 0);
        CHECK(stream_of(pair, 0) == nullptr);
        send_bulk(pair, 0, 4);
        read_bulk(pair, 1, 4);
    }
    REQUIRE(stream_of(pair, 0) != nullptr);
    CHECK(stream_of(pair, 0)->out.state != RELIABLE_STREAM_NONE);
    open_stream(pair, 0);
}

TEST_CASE("a rank that takes no bulk by TCP gets all of it by packets")
{
    Pair pair(NOTHING, {LEAST, 0});

    send_almost_enough(pair, 0);
    for (int i = 0; i < 20; i++) {
        send_bulk(pair, 0, 4);
        read_bulk(pair, 1, 4);
    }
    CHECK(streamed(pair, 0) == 0);
    REQUIRE(stream_of(pair, 0) != nullptr);
    CHECK(stream_of(pair, 0)->out.state == RELIABLE_STREAM_REFUSED);
    CHECK(reliable_of(pair.ep[1])->streams.listener == -1);
}

TEST_CASE("strangers who connect to the offered port get nowhere, and keep nobody out")
{
    Pair pair(NOTHING, BOTH);
    std::vector<int> strangers;

    send_almost_enough(pair, 0);
    send_bulk(pair, 0, 4);
    for (int i = 0; i < 10000 && reliable_of(pair.ep[1])->streams.listener < 0; i++) {
        unet_progress(pair.ep[i % 2]);
        unet_progress(pair.ep[1]); // before rank 0 gets the offer, strangers come
    }
    sockaddr_in place = {};
    socklen_t length = sizeof place;
    reliable_greeting greeting = {};

    REQUIRE(getsockname(reliable_of(pair.ep[1])->streams.listener,
                        reinterpret_cast<sockaddr *>(&place), &length) == 0);
    greeting.dest = 1;
    greeting.version = RELIABLE_PACKET_VERSION;
    greeting.nonce = stream_of(pair, 1)->in.nonce; // even if they had read that
    for (int i = 0; i < 40; i++) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        strangers.push_back(fd);
        REQUIRE(connect(fd, reinterpret_cast<const sockaddr *>(&place), length) == 0);
        greeting.mac = static_cast<uint64_t>(i);
        if (i % 2) // the others say nothing
            REQUIRE(::send(fd, &greeting, sizeof greeting, MSG_NOSIGNAL) == sizeof greeting);
    }
    read_bulk(pair, 1, 4);
    open_stream(pair, 0);
    CHECK(pair.ep[1]->stats.foreign > 20);
    for (const int fd : strangers)
        close(fd);
}

TEST_CASE("a connection that somebody else has answered is not used")
{
    Pair pair(NOTHING, BOTH);

    send_almost_enough(pair, 0);
    send_bulk(pair, 0, 4);
    for (int i = 0; i < 10000 && !(stream_of(pair, 1) && stream_of(pair, 1)->in.nonce); i++) {
        unet_progress(pair.ep[i % 2]);
        unet_progress(pair.ep[1]);
    }
    stream_of(pair, 1)->in.nonce = 0; // as if the greeting never came
    read_bulk(pair, 1, 4);
    for (unsigned i = 0; i < 50; i++) {
        send_bulk(pair, 0, 4, i);
        read_bulk(pair, 1, 4, i);
    }
    CHECK(streamed(pair, 0) == 0);
    CHECK(stream_of(pair, 0)->out.state == RELIABLE_STREAM_CONNECTING);
    stream_of(pair, 0)->out.offered -= 2 * RELIABLE_STREAM_OFFER_US; // and a while later
    pair.step();
    CHECK(stream_of(pair, 0)->out.state == RELIABLE_STREAM_REFUSED);
    CHECK(stream_of(pair, 0)->out.fd == -1);
    send_bulk(pair, 0, 4);
    read_bulk(pair, 1, 4);
    CHECK(unet_channel_state(pair.ep[0], pair.channel[0]) == UNET_OPEN);
}

TEST_CASE("nothing waits for a peer that is gone")
{
    Pair pair(NOTHING, BOTH);

    open_stream(pair, 0);
    stream_of(pair, 0)->out.hot_until = UINT64_MAX;
    send_bulk(pair, 0, 4); // of which nobody is told
    stream_of(pair, 0)->out.hot_until = UINT64_MAX;
    unet_disconnect(pair.ep[1], pair.channel[1]);
    pair.channel[1] = 0;
    REQUIRE(dies(pair, 0));
    pair.step();
    CHECK(unet_idle(pair.ep[0]));
    CHECK_FALSE(reliable_of(pair.ep[0])->streams.work);
}

TEST_CASE("an episode that is not finished keeps nobody awake")
{
    Pair pair(NOTHING, BOTH);

    open_stream(pair, 0);
    std::optional<Bulk> bulk;

    bulk.emplace(pair, 0, 9 * PIECE);
    for (unsigned i = 0; i < 9; i++)
        REQUIRE(bulk->send(text_of(PIECE, i)));
    CHECK(reliable_of(pair.ep[0])->streams.begun);
    read_bulk(pair, 1, 6); // the rest is with its sender
    REQUIRE(stream_of(pair, 1)->in.episode);
    for (int i = 0; i < 1000000 && stream_of(pair, 1)->in.hot; i++)
        unet_progress(pair.ep[1]);
    CHECK_FALSE(stream_of(pair, 1)->in.hot);
    bulk.reset();
    for (unsigned i = 6; i < 9; i++)
        REQUIRE(await(pair, 1) == text_of(PIECE, i));
}

TEST_CASE("bytes in a stream that are not the peer's break it before anything is delivered")
{
    const int kind = GENERATE(0, 1, 2, 3);
    Pair pair(NOTHING, BOTH);
    int ends[2];

    open_stream(pair, 0);
    // The test is the network: what rank 0 gives to the kernel passes through its hands.
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    REQUIRE(dup2(ends[0], stream_of(pair, 0)->out.fd) >= 0);
    close(ends[0]);
    int onward[2];

    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, onward) == 0);
    REQUIRE(dup2(onward[0], stream_of(pair, 1)->in.fd) >= 0);
    close(onward[0]);
    send_bulk(pair, 0, 3);
    std::vector<uint8_t> bytes(65536);
    const ssize_t n = recv(ends[1], bytes.data(), bytes.size(), 0);
    const size_t start = sizeof(reliable_record) + sizeof(reliable_start);
    const size_t record = sizeof(reliable_record) + PIECE, second = start + record;

    REQUIRE(n == static_cast<ssize_t>(start + 3 * record + sizeof(reliable_record)));
    if (kind == 0) {
        bytes[second + 1000] ^= 1; // a bit of the second message
    } else if (kind == 1) {
        bytes[second + 8] ^= 1; // of what its header says
    } else if (kind == 2) {
        bytes.erase(bytes.begin() + static_cast<long>(second),
                    bytes.begin() + static_cast<long>(second + record)); // it is missing
        bytes.resize(65536);
    }
    const size_t length = kind == 2 ? static_cast<size_t>(n) - record : static_cast<size_t>(n);

    REQUIRE(::send(onward[1], bytes.data(), length, 0) == static_cast<ssize_t>(length));
    if (kind == 3) { // nothing is wrong
        read_bulk(pair, 1, 3);
        CHECK(unet_channel_state(pair.ep[1], pair.channel[1]) == UNET_OPEN);
    } else {
        read_bulk(pair, 1, 1);
        CHECK(dies(pair, 1));
        CHECK(unet_rx_peek(pair.ep[1]) == nullptr);
        CHECK(pair.ep[1]->stats.malformed == 1);
    }
    close(ends[1]);
    close(onward[1]);
}

TEST_CASE("a stream that breaks takes its peer for dead, at either end")
{
    const int end = GENERATE(0, 1);
    Pair pair(NOTHING, BOTH);

    open_stream(pair, 0);
    shutdown(end == 0 ? stream_of(pair, 0)->out.fd : stream_of(pair, 1)->in.fd, SHUT_RDWR);
    for (int i = 0; i < 20 && unet_channel_state(pair.ep[0], pair.channel[0]) == UNET_OPEN; i++) {
        {
            Bulk bulk(pair, 0, 4 * PIECE);

            for (unsigned k = 0; k < 4; k++)
                bulk.send(text_of(PIECE, k));
        }
        pair.step();
    }
    CHECK(dies(pair, 0));
    CHECK(dies(pair, 1));
}

TEST_CASE("a stream that ends between episodes says nothing of its peer, until one is missing")
{
    Pair pair(NOTHING, BOTH);

    open_stream(pair, 0);
    CHECK(stream_of(pair, 1)->in.hot);
    shutdown(stream_of(pair, 1)->in.fd, SHUT_RD);
    for (int i = 0; i < 1000; i++)
        pair.step();
    CHECK(stream_of(pair, 1)->in.fd == -1);
    CHECK(unet_channel_state(pair.ep[1], pair.channel[1]) == UNET_OPEN);
    REQUIRE(send_message(pair, 0, "short") == 0);
    CHECK(await(pair, 1) == "short");
    const uint64_t told = 1000;

    REQUIRE(reliable_engine_note(reliable_of(pair.ep[0])->engine, unet_now_us(), 1,
                                 RELIABLE_NOTE_EPISODE, &told, sizeof told) == 0);
    CHECK(dies(pair, 1));
}

TEST_CASE("a rank that disconnects right after bulk leaves nothing of it behind")
{
    constexpr unsigned COUNT = 60;
    Pair pair(NOTHING, BOTH);
    const int few = 4096;
    std::atomic<bool> done{false};

    open_stream(pair, 0);
    setsockopt(stream_of(pair, 0)->out.fd, SOL_SOCKET, SO_SNDBUF, &few, sizeof few);
    unsigned sent = 0;

    {
        Bulk bulk(pair, 0, COUNT * PIECE);

        while (sent < COUNT && bulk.send(text_of(PIECE, sent)))
            sent++;
    }
    CHECK(stream_of(pair, 0)->out.end > 0);                // some of it is still here
    pthread_mutex_t &lock = reliable_of(pair.ep[0])->lock; // which disconnecting keeps
    std::thread thread([&] {
        unet_disconnect(pair.ep[0], pair.channel[0]);
        done = true;
    });

    while (!done && pthread_mutex_trylock(&lock) == 0)
        pthread_mutex_unlock(&lock);
    while (!done)
        unet_progress(pair.ep[1]);
    thread.join();
    read_bulk(pair, 1, sent);
    CHECK(dies(pair, 1));
    pair.channel[0] = 0;
}

TEST_CASE("an endpoint leaves no descriptor behind")
{
    const int before = dup(0);

    close(before);
    {
        Pair pair(NOTHING, BOTH);

        open_stream(pair, 0);
        open_stream(pair, 1);
    }
    const int after = dup(0);

    close(after);
    CHECK(after == before);
}
