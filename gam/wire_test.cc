// SPDX-License-Identifier: BSD-3-Clause
//
// wire_test.cc - a peer that knows the job's key but not how to behave: what it
// sends is refused and counted, and the connection goes on.
#include "world.h"

#include <chrono>
#include <cstring>
#include <random>
#include <unet/unet_ni.h>

extern "C" {
#include "src/wire.h"
}

using namespace world;

namespace {

constexpr uint64_t KEY[2] = {42, 43};
constexpr uint32_t WINDOW = 64, BULK = 8;
enum { GOOD = 1, ANSWER = 2, ANSWER_MEDIUM = 3, ANSWER_WORDS = 4, UNKNOWN = 99 };

struct unet_address addresses[2];
uint64_t handled;

void good(gam *, const gam_message *)
{
    handled++;
}

void answer(gam *g, const gam_message *)
{
    handled++;
    gam_reply_0(g, GOOD);
}

void answer_medium(gam *g, const gam_message *)
{
    static const uint8_t bytes[GAM_MEDIUM_MAX] = {};

    handled++;
    gam_reply_medium(g, GOOD, bytes, sizeof(bytes), 0, nullptr);
}

void answer_words(gam *g, const gam_message *)
{
    handled++;
    gam_reply_4(g, GOOD, 11, 12, 13, 14);
}

// Rank 0 is an instance of GAM, rank 1 a bare endpoint; both in this thread.
class Hostile {
public:
    gam *g = nullptr;
    unet_endpoint *ep = nullptr;
    uint16_t channel = 0;

    explicit Hostile(const std::string &backend, uint32_t buffers = 2 * BULK)
    {
        const unet_ops *ops = unet_backend(backend.c_str());
        unet_config endpoint = {};
        gam_config config = {};

        handled = 0;
        gam_endpoint_config(2, WINDOW, &endpoint);
        REQUIRE(unet_open(ops, &endpoint, &victim_) == 0);
        endpoint.send_slots = 1024;
        REQUIRE(unet_open(ops, &endpoint, &ep) == 0);
        unet_address(victim_, &addresses[0]);
        unet_address(ep, &addresses[1]);
        config.ranks = 2;
        config.key[0] = KEY[0];
        config.key[1] = KEY[1];
        config.window = WINDOW;
        config.resolve = [](void *, uint32_t rank, struct unet_address *address) {
            *address = addresses[rank];
            return 0;
        };
        REQUIRE(gam_open(victim_, &config, &g) == 0);
        first_given_ = victim_->free.shared->slot[0].word[0];
        REQUIRE(unet_connect(ep, &addresses[0], gam_tag(KEY, 0, 1), &channel) == 0);
        REQUIRE(gam_register(g, GOOD, good) == 0);
        REQUIRE(gam_register(g, ANSWER, answer) == 0);
        REQUIRE(gam_register(g, ANSWER_MEDIUM, answer_medium) == 0);
        REQUIRE(gam_register(g, ANSWER_WORDS, answer_words) == 0);
        post_buffers(buffers);
        // The victim's channel 1 leads to itself.
        while (unet_channel_state(ep, channel) != UNET_OPEN ||
               unet_channel_state(victim_, 2) != UNET_OPEN) {
            unet_progress(ep);
            gam_poll(g);
        }
    }

    ~Hostile()
    {
        gam_close(g);
        unet_close(victim_);
        unet_close(ep);
    }

    // The first buffer of the segment is for sending.
    void post_buffers(uint32_t n)
    {
        for (uint32_t i = 1; i <= n; i++)
            REQUIRE(unet_free_put(ep, i * GAM_BUFFER_BYTES, GAM_BUFFER_BYTES) == 0);
    }

    // Send raw bytes inline, then let rank 0 look.
    void send(uint32_t user, const void *data = nullptr, uint32_t length = 0)
    {
        REQUIRE(unet_send_inline(ep, channel, user, data, length) == 0);
        serve();
    }

    void send_pieces(uint32_t user, const void *data, uint32_t length)
    {
        const unet_piece piece = {0, length};
        uint32_t ticket;

        if (data)
            std::memcpy(ep->segment, data, std::min<size_t>(length, 64));
        REQUIRE(unet_send(ep, channel, user, &piece, 1, &ticket) == 0);
        for (int i = 0; i < 1000 && !unet_sent(ep, ticket); i++) {
            unet_progress(ep);
            gam_poll(g);
        }
        REQUIRE(unet_sent(ep, ticket));
        serve();
    }

    // Names bytes of rank 0's own segment, as who writes its ring can.
    void send_buffer(uint32_t user, uint32_t offset, uint32_t length)
    {
        unet_desc *slot = unet_ring_reserve(ep->channel[channel].ring);

        REQUIRE(slot != nullptr);
        slot->channel = 2; // rank 0's number of it
        slot->kind = UNET_PIECES;
        slot->pieces = 1;
        slot->length = length;
        slot->user = user;
        slot->piece[0] = {offset, length};
        unet_ring_submit(ep->channel[channel].ring);
        serve();
    }

    // What rank 0 has given to its endpoint: the first buffer, and how many so far.
    uint32_t first_buffer() const { return static_cast<uint32_t>(first_given_); }
    uint32_t buffers_given() const { return victim_->free.position; }
    uint32_t segment_end() const { return victim_->config.segment_bytes; }

    // From now on rank 0's looks at channels are counted.
    void count_looks()
    {
        static unet_ops counting;
        static void (*state)(unet_endpoint *, uint16_t);

        looks = 0;
        counting = *victim_->ops;
        state = counting.state;
        counting.state = [](unet_endpoint *of, uint16_t one) {
            looks++;
            state(of, one);
        };
        victim_->ops = &counting;
    }

    static inline uint64_t looks;

    // The network interface refuses a send of rank 0's to a channel.
    void refuse_send(uint16_t to)
    {
        unet_desc desc = {};

        desc.channel = to;
        unet_refuse(victim_, &unet_ni_of(victim_)->errors, &desc, -EPIPE);
    }

    void serve()
    {
        unet_progress(ep);
        while (gam_poll(g) > 0)
            ;
    }

    // Read what rank 0 sent: how many credits of each class it gave back.
    std::pair<uint32_t, uint32_t> drain(const std::function<void(const unet_desc *)> &see = {})
    {
        std::pair<uint32_t, uint32_t> credits = {0, 0};

        for (int idle = 0; idle < 10;) {
            const unet_desc *slot = unet_rx_peek(ep);

            if (!slot) {
                idle += gam_poll(g) == 0;
                unet_progress(ep);
                continue;
            }
            if (see)
                see(slot);
            credits.first += gam_user_credits(slot->user, GAM_SMALL);
            credits.second += gam_user_credits(slot->user, GAM_BULK);
            if (slot->kind == UNET_PIECES)
                for (uint32_t i = 0; i < slot->pieces; i++)
                    unet_free_put(ep, slot->piece[i].offset, GAM_BUFFER_BYTES);
            unet_rx_release(ep);
        }
        return credits;
    }

    // A piece that says where it goes, with so many bytes.
    void refuses(uint32_t user, const void *place, uint32_t length)
    {
        const uint64_t before = refused();
        uint8_t message[48] = {};

        std::memcpy(message, place, sizeof(gam_header));
        send(user, message, sizeof(gam_header) + length);
        CHECK(refused() == before + 1);
    }

    uint64_t refused() const
    {
        struct gam_stats stats;

        gam_stats(g, &stats);
        return stats.refused;
    }

    // A well-formed request is still handled.
    void still_works()
    {
        const uint64_t before = handled;

        drain();
        send(gam_user(GAM_REQUEST, GOOD, 0));
        CHECK(handled == before + 1);
        CHECK(gam_dead_peer(g) == -1);
    }

private:
    unet_endpoint *victim_ = nullptr;
    uint64_t first_given_ = 0;
};

const uint64_t WORDS[8] = {}; // as many bytes as send_pieces takes

} // namespace

TEST_CASE("a request for an unknown handler is refused and acknowledged")
{
    Hostile h(EACH_RELIABLE_BACKEND);

    h.send(gam_user(GAM_REQUEST, UNKNOWN, 0));
    h.send(gam_user(GAM_REQUEST, 0, 0));
    CHECK(h.refused() == 2);
    CHECK(h.drain().first == 2);
    h.still_works();
}

TEST_CASE("a reply for an unknown handler is refused")
{
    Hostile h(EACH_RELIABLE_BACKEND);

    h.send(gam_user(GAM_REPLY, UNKNOWN, 0));
    CHECK(h.refused() == 1);
    h.still_works();
}

TEST_CASE("kinds that do not exist are refused")
{
    Hostile h(EACH_RELIABLE_BACKEND);

    for (uint32_t kind = 0; kind < 16; kind++) {
        if (kind == 0 || kind > GAM_GET_DATA)
            h.send(GOOD | kind << 8);
    }
    CHECK(h.refused() == 8);
    CHECK(handled == 0);
    h.still_works();
}

TEST_CASE("counts of words that do not fit the length are refused")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    uint64_t wrong = 0;

    for (uint32_t words = 0; words < 16; words++) {
        for (uint32_t length = 0; length <= UNET_INLINE_MAX; length++) {
            if (words <= GAM_WORDS_MAX && length == words * 8)
                continue;
            h.send(gam_user(GAM_REPLY, GOOD, words), WORDS, length);
            wrong++;
        }
    }
    CHECK(h.refused() == wrong);
    CHECK(handled == 0);
    h.still_works();
}

TEST_CASE("messages of class bulk without a whole header are refused")
{
    Hostile h(EACH_RELIABLE_BACKEND);

    for (uint32_t kind = GAM_MEDIUM_REQUEST; kind <= GAM_GET_DATA; kind++)
        for (uint32_t length = 0; length < sizeof(gam_header); length++)
            h.send(GOOD | kind << 8, WORDS, length);
    CHECK(h.refused() == 4 * sizeof(gam_header));
    CHECK(handled == 0);
    h.still_works();
}

TEST_CASE("mediums with too many words or an unknown handler are refused and acknowledged")
{
    Hostile h(EACH_RELIABLE_BACKEND);

    h.send(gam_user(GAM_MEDIUM_REQUEST, GOOD, 5), WORDS, 40);
    h.send(gam_user(GAM_MEDIUM_REPLY, GOOD, 15), WORDS, 40);
    h.send(gam_user(GAM_MEDIUM_REQUEST, UNKNOWN, 0), WORDS, 40);
    h.send(gam_user(GAM_MEDIUM_REPLY, UNKNOWN, 0), WORDS, 40);
    CHECK(h.refused() == 4);
    CHECK(h.drain().second == 4);
    h.still_works();
}

TEST_CASE("a message in what is no receive buffer of ours is refused, and nothing given back")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    const uint32_t base = h.first_buffer(), given = h.buffers_given();

    for (const uint32_t offset :
         {0u, base - GAM_BUFFER_BYTES, base - 8, base + 8, base + GAM_BUFFER_BYTES / 2,
          base + GAM_BUFFER_BYTES - 8, h.segment_end() - GAM_BUFFER_BYTES}) {
        const uint64_t refused = h.refused();

        INFO("at " << offset << ", where receive buffers begin at " << base);
        h.send_buffer(gam_user(GAM_MEDIUM_REQUEST, GOOD, 0), offset, sizeof(gam_header));
        CHECK(h.refused() == refused + 1);
        CHECK(handled == 0);
        CHECK(h.buffers_given() == given);
        h.drain();
    }
    h.send_buffer(gam_user(GAM_MEDIUM_REQUEST, GOOD, 0), base, sizeof(gam_header));
    CHECK(handled == 1);
    CHECK(h.buffers_given() == given + 1);
}

TEST_CASE("stores whose place contradicts itself write nothing")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    uint64_t to[8], before[8];
    const uint64_t base = reinterpret_cast<uintptr_t>(to);
    const struct {
        const char *what;
        gam_place place;
        uint32_t handler, length;
    } bad[] = {
        {"offset beyond the end", {base, 17, 16, 0}, 0, 8},
        {"length beyond the end", {base, 8, 15, 0}, 0, 8},
        {"offset wraps", {base, ~0ull, 16, 0}, 0, 8},
        {"whole wraps", {base, 0, ~0ull, 0}, 0, 8},
        {"no address", {0, 0, 8, 0}, 0, 8},
        {"an empty piece of a whole", {base, 0, 8, 0}, 0, 0},
        {"an empty piece at the end", {base, 8, 8, 0}, 0, 0},
        {"unknown handler", {base, 0, 8, 0}, UNKNOWN, 8},
    };

    std::memset(to, 0x5a, sizeof(to));
    std::memcpy(before, to, sizeof(to));
    for (const auto &b : bad) {
        INFO(b.what);
        h.refuses(gam_user(GAM_STORE_DATA, b.handler, 0), &b.place, b.length);
        CHECK(std::memcmp(to, before, sizeof(to)) == 0);
        CHECK(h.drain().second == 1);
    }
    h.still_works();
}

TEST_CASE("pieces for buffers that lie about their place, or have no header, are refused")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    static int asked;
    static uint8_t to[16];
    auto place = [](void *, const gam_piece *, size_t *) -> void * {
        asked++;
        return to;
    };
    const uint64_t arg = uint64_t(3) << 32;
    const struct {
        const char *what;
        gam_place place;
        uint32_t handler, length;
    } bad[] = {
        {"offset beyond the end", {0, 17, 16, arg}, 0, 8},
        {"length beyond the end", {0, 8, 15, arg}, 0, 8},
        {"the whole wraps", {~0ull - 7, 0, 16, arg}, 0, 8},
        {"an empty piece of a whole", {0, 0, 8, arg}, 0, 0},
        {"unknown handler", {0, 0, 8, arg}, UNKNOWN, 8},
    };

    REQUIRE(gam_set_placement(h.g, place, nullptr) == 0);
    asked = 0;
    for (const auto &b : bad) {
        INFO(b.what);
        h.refuses(gam_user(GAM_PLACE_DATA, b.handler, 0), &b.place, b.length);
        CHECK(h.drain().second == 1);
    }
    const uint8_t small[48] = {};
    const uint64_t refused = h.refused();
    h.send(gam_user(GAM_PLACE_SMALL, 0, 0), small, 15);
    CHECK(h.refused() == refused + 1);
    CHECK(asked == 0);
    h.send(gam_user(GAM_PLACE_SMALL, 0, 0), small, 24);
    CHECK(h.refused() == refused + 1);
    CHECK(asked == 1);
    h.still_works();
}

TEST_CASE("pieces of rows that contradict themselves, or name no memory, write nothing")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    uint8_t bytes[32] = {};
    const auto base = reinterpret_cast<uintptr_t>(bytes);
    const struct {
        const char *what;
        gam_rows_place place;
        uint32_t handler, length;
    } bad[] = {
        {"no bytes", {base, 0, 8, 8, 0}, GOOD, 0},
        {"rows of nothing", {base, 0, 0, 8, 0}, 0, 8},
        {"begins behind its row", {base, 8, 8, 8, 0}, 0, 8},
        {"begins far behind", {base, ~0u, 8, 8, 0}, 0, 8},
        {"nowhere", {0, 0, 8, 8, 0}, 0, 8},
        {"the first row wraps", {~0ull - 3, 0, 8, 8, 0}, 0, 4},
        {"the second row wraps", {~0ull - 11, 0, 8, 8, 0}, 0, 12},
        {"three rows span too much", {base, 0, 4, 1ull << 62, 0}, 0, 12},
        {"the second row is nowhere", {base, 4, 8, 0 - base, 0}, 0, 8},
        {"the second row is below", {base, 4, 8, 1ull << 63, 0}, 0, 8},
        {"an unknown handler", {base, 0, 8, 8, 0}, UNKNOWN, 8},
    };

    bytes[0] = 7;
    for (const auto &b : bad) {
        INFO(b.what);
        h.refuses(gam_user(GAM_ROWS_DATA, b.handler, 0), &b.place, b.length);
        CHECK(h.drain().second == 1);
    }
    CHECK(bytes[0] == 7);
    CHECK(handled == 0);
    const struct {
        gam_rows_place place;
        uint8_t data[16];
    } good = {{base + 8, 1, 3, 0 - 4ull, 0}, {1, 2, 3, 4, 5}};
    const uint64_t refused = h.refused();
    h.send(gam_user(GAM_ROWS_DATA, GOOD, 0), &good, 32 + 5);
    CHECK(h.refused() == refused);
    CHECK(handled == 1);
    CHECK(std::memcmp(bytes + 4, "\3\4\5\0\0\1\2", 7) == 0);
    h.still_works();
}

TEST_CASE("answers to gets that were not asked for write nothing")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    uint64_t to = 1;
    const uint64_t message[5] = {reinterpret_cast<uintptr_t>(&to), 0, 8, 0, 2};

    h.send(gam_user(GAM_GET_DATA, 0, 0), message, 40);
    CHECK(h.refused() == 1);
    CHECK(to == 1);
    // One was asked for: the first answer counts, the second not.
    REQUIRE(gam_get(h.g, 1, &to, &to, 8, 0, 0) == 0);
    h.send(gam_user(GAM_GET_DATA, 0, 0), message, 40);
    CHECK(to == 2);
    CHECK(gam_pending(h.g) == 0);
    to = 1;
    h.send(gam_user(GAM_GET_DATA, 0, 0), message, 40);
    CHECK(h.refused() == 2);
    CHECK(to == 1);
    h.still_works();
}

TEST_CASE("gets with a wrong length or a range that wraps are refused")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    const uint64_t wraps[4] = {~0ull - 3, 1, 8, 0};
    const uint64_t nowhere[4] = {0, 1, 8, 0};

    for (uint32_t length = 0; length <= UNET_INLINE_MAX; length++) {
        if (length != 32)
            h.send(gam_user(GAM_GET, 0, 4), WORDS, length);
    }
    CHECK(h.refused() == UNET_INLINE_MAX);
    h.send(gam_user(GAM_GET, 0, 4), wraps, 32);
    h.send(gam_user(GAM_GET, 0, 4), nowhere, 32);
    CHECK(h.refused() == UNET_INLINE_MAX + 2);
    h.still_works();
}

TEST_CASE("more gets than the window are refused, not queued")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    static uint8_t bytes[20000];
    const uint64_t word[4] = {reinterpret_cast<uintptr_t>(bytes), 1, sizeof(bytes), 0};

    // Nothing is acknowledged, so at most BULK pieces are streamed.
    for (uint32_t i = 0; i < 3 * WINDOW; i++)
        h.send(gam_user(GAM_GET, 0, 4), word, 32);
    const uint64_t answered = BULK / 3;
    CHECK(h.refused() == 2 * WINDOW - answered);
    h.still_works();
}

TEST_CASE("more requests than the window are refused while no ack gets through")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    uint64_t sent = 0;

    while (h.refused() == 0 && sent < 100000) {
        h.send(gam_user(GAM_REQUEST, GOOD, 0));
        sent++;
    }
    CHECK(h.refused() == 1);
    CHECK(handled == sent - 1);
    uint32_t owed = 0;
    h.drain([&](const unet_desc *slot) {
        owed = std::max(owed, gam_user_credits(slot->user, GAM_SMALL));
    });
    CHECK(owed == WINDOW); // all that were handled, and no more than there can be
    h.still_works();
}

TEST_CASE("small replies that are put aside bring all their words")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    std::vector<uint64_t> words;

    for (uint32_t i = 0; i < BULK + 1; i++) // one more medium reply than may go
        h.send(gam_user(GAM_REQUEST, ANSWER_MEDIUM, 0));
    h.send(gam_user(GAM_REQUEST, ANSWER_WORDS, 0));
    const auto see = [&](const unet_desc *slot) {
        if (gam_user_kind(slot->user) == GAM_REPLY)
            words.insert(words.end(), slot->word, slot->word + gam_user_words(slot->user));
    };
    h.drain(see);
    CHECK(words.empty());
    h.send(gam_user(GAM_ACK, 0, 0) | BULK << 24);
    h.drain(see);
    CHECK(words == std::vector<uint64_t>{11, 12, 13, 14});
    h.still_works();
}

TEST_CASE("replies that a peer does not take are put aside up to its windows, no further")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    uint64_t sent = 0;

    while (h.refused() == 0 && sent < 100000) {
        h.send(gam_user(GAM_REQUEST, ANSWER_MEDIUM, 0));
        sent++;
    }
    INFO("sent " << sent);
    CHECK(h.refused() == 1);
    CHECK(sent <= 2 * (WINDOW + BULK));
    CHECK(handled == sent - 1);
}

TEST_CASE("credits that were never spent are refused")
{
    Hostile h(EACH_RELIABLE_BACKEND);

    h.send(gam_user(GAM_ACK, 0, 0) | 1u << 16);
    h.send(gam_user(GAM_ACK, 0, 0) | 1u << 24);
    h.send(gam_user(GAM_ACK, 0, 0) | 0xffffu << 16);
    CHECK(h.refused() == 3);
    // Spent, then given back: once.
    REQUIRE(gam_request_0(h.g, 1, GOOD) == 0);
    h.send(gam_user(GAM_ACK, 0, 0) | 1u << 16);
    CHECK(h.refused() == 3);
    h.send(gam_user(GAM_ACK, 0, 0) | 1u << 16);
    CHECK(h.refused() == 4);
    h.still_works();
}

TEST_CASE("messages in the wrong kind of descriptor are refused, their buffers given back")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    const uint32_t n = 100; // many more than there are buffers

    for (uint32_t i = 0; i < n; i++)
        h.send_pieces(gam_user(GAM_REQUEST, GOOD, 0), WORDS, 8);
    CHECK(h.refused() == n);
    CHECK(handled == 0);
    h.still_works();
}

TEST_CASE("a message over several buffers is refused, its buffers given back")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    const uint32_t n = 100;

    for (uint32_t i = 0; i < n; i++) {
        h.send_pieces(gam_user(GAM_MEDIUM_REQUEST, GOOD, 0), WORDS, 20000);
        h.drain();
    }
    CHECK(h.refused() == n);
    h.send_pieces(gam_user(GAM_MEDIUM_REQUEST, GOOD, 0), WORDS, 32 + GAM_MEDIUM_MAX + 1);
    CHECK(h.refused() == n + 1);
    CHECK(handled == 0);
    h.send_pieces(gam_user(GAM_MEDIUM_REQUEST, GOOD, 0), WORDS, 32 + GAM_MEDIUM_MAX);
    CHECK(handled == 1);
    h.still_works();
}

TEST_CASE("direct sends into the segment are not messages of ours")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    const unet_piece piece = {0, 64};

    if (h.ep->capabilities & UNET_CAP_DIRECT) {
        REQUIRE(unet_send_direct(h.ep, h.channel, gam_user(GAM_MEDIUM_REQUEST, GOOD, 0), &piece, 1,
                                 0, nullptr) == 0);
        h.serve();
        CHECK(h.refused() == 1);
        CHECK(handled == 0);
    }
    h.still_works();
}

TEST_CASE("a send that is refused makes GAM look at once whether that peer is dead")
{
    Hostile h("loopback");

    h.refuse_send(2);
    h.refuse_send(3); // there is no such channel
    h.serve();
    CHECK(gam_dead_peer(h.g) == -1);
    unet_close(h.ep);
    REQUIRE(unet_open(unet_backend("loopback"), nullptr, &h.ep) == 0); // for the destructor
    h.refuse_send(2);
    CHECK(gam_poll(h.g) == 1);
    CHECK(gam_dead_peer(h.g) == 1);
}

TEST_CASE("polls look for dead peers, but every 20 ms at most")
{
    Hostile h("loopback");
    const auto now = [] { return std::chrono::steady_clock::now(); };

    h.count_looks();
    const auto begin = now();
    for (int i = 0; i < 64 * 500; i++)
        gam_poll(h.g);
    const auto turns =
        2 + (now() - begin) / std::chrono::milliseconds(16); // the clock is a coarse one
    CHECK(h.looks <= 2 * static_cast<uint64_t>(turns));
    while (h.looks < 2 * 2 && now() - begin < std::chrono::seconds(10))
        gam_poll(h.g);
    CHECK(h.looks >= 2 * 2);
}

TEST_CASE("every call that sends handles what has come, without a poll")
{
    Hostile h("loopback");
    static uint8_t bytes[8];
    const std::function<int()> calls[] = {
        [&] { return gam_request_0(h.g, 1, GOOD); },
        [&] { return gam_request_medium(h.g, 1, GOOD, bytes, sizeof(bytes), 0, nullptr); },
        [&] { return gam_store(h.g, 1, bytes, bytes, sizeof(bytes), 0, 0); },
        [&] { return gam_get(h.g, 1, bytes, bytes, sizeof(bytes), 0, 0); },
    };

    for (const auto &call : calls) {
        const uint64_t before = handled;

        h.drain();
        REQUIRE(unet_send_inline(h.ep, h.channel, gam_user(GAM_REQUEST, GOOD, 0), nullptr, 0) == 0);
        for (int rings = 0; rings < 3; rings++) // each looks at one, and there are two
            REQUIRE(call() == 0);
        CHECK(handled == before + 1);
        h.send(gam_user(GAM_ACK, 0, 0) |
               (&call == calls || &call == calls + 3 ? 3u << 16 : 3u << 24));
    }
    CHECK(h.refused() == 0);
}

TEST_CASE("a call that finds room for what it sends does not count as a stall")
{
    Hostile h("loopback");
    static uint8_t bytes[8];
    struct gam_stats stats;

    REQUIRE(gam_request_0(h.g, 1, GOOD) == 0);
    REQUIRE(gam_request_medium(h.g, 1, GOOD, bytes, sizeof(bytes), 0, nullptr) == 0);
    REQUIRE(gam_store(h.g, 1, bytes, bytes, sizeof(bytes), 0, 0) == 0);
    REQUIRE(gam_get(h.g, 1, bytes, bytes, sizeof(bytes), 0, 0) == 0);
    gam_stats(h.g, &stats);
    CHECK(stats.stalls == 0);
}

TEST_CASE("half a window is acknowledged at once, less waits for an idle poll")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    auto request_many = [&](uint32_t n) {
        for (uint32_t i = 0; i < n; i++)
            REQUIRE(unet_send_inline(h.ep, h.channel, gam_user(GAM_REQUEST, GOOD, 0), WORDS, 0) ==
                    0);
        REQUIRE(gam_poll(h.g) == static_cast<int>(n));
    };
    auto acks = [&] {
        struct gam_stats stats;

        gam_stats(h.g, &stats);
        return stats.acks;
    };

    h.drain();
    request_many(WINDOW / 2 - 1);
    CHECK(acks() == 0);
    h.serve();
    CHECK(acks() == 1);
    request_many(WINDOW / 2);
    CHECK(acks() == 2);
    CHECK(h.drain().first == WINDOW - 1);
}

TEST_CASE("pieces of a store and of an answer take turns")
{
    Hostile h(EACH_RELIABLE_BACKEND);
    static uint8_t bytes[40 * GAM_MEDIUM_MAX];
    const uint64_t word[4] = {reinterpret_cast<uintptr_t>(bytes), 1, sizeof(bytes), 0};
    uint32_t pieces[16] = {};

    // The store takes all but the last credit, which the answer to the get takes.
    REQUIRE(gam_store_async(h.g, 1, bytes, bytes, sizeof(bytes), 0, 0, nullptr, nullptr) == 0);
    h.send(gam_user(GAM_GET, 0, 4), word, 32);
    h.drain([&](const unet_desc *slot) { pieces[gam_user_kind(slot->user)]++; });
    CHECK(pieces[GAM_STORE_DATA] == BULK - 1);
    CHECK(pieces[GAM_GET_DATA] == 1);
    h.send(gam_user(GAM_ACK, 0, 0) | BULK << 24);
    h.drain([&](const unet_desc *slot) { pieces[gam_user_kind(slot->user)]++; });
    CHECK(pieces[GAM_STORE_DATA] == BULK - 1 + BULK / 2);
    CHECK(pieces[GAM_GET_DATA] == 1 + BULK / 2);
}

TEST_CASE("a send buffer is not reused before the interface has taken its bytes")
{
    Hostile h(EACH_RELIABLE_BACKEND, 0);
    static uint8_t bytes[21 * GAM_MEDIUM_MAX];
    uint64_t next = 0;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = pattern(7, i);
    REQUIRE(gam_store_async(h.g, 1, bytes, bytes, sizeof(bytes), 0, 0, nullptr, nullptr) == 0);
    // The peer has no buffer for any piece, yet says that it has handled them.
    for (int i = 0; i < 2; i++)
        h.send(gam_user(GAM_ACK, 0, 0) | (BULK - 1) << 24);
    CHECK(gam_pending(h.g) == 1);
    h.post_buffers(8);
    h.drain([&](const unet_desc *slot) {
        gam_place place;
        const uint8_t *piece = h.ep->segment + slot->piece[0].offset;

        std::memcpy(&place, piece, sizeof(place));
        CHECK(place.offset == next);
        CHECK(pattern_wrong(piece + sizeof(place), slot->length - sizeof(place),
                            7 + place.offset) == "");
        next = place.offset + slot->length - sizeof(place);
    });
    CHECK(next == 21 * GAM_MEDIUM_MAX);
    CHECK(gam_pending(h.g) == 0);
}

TEST_CASE("random messages are survived")
{
    const uint32_t seed = GENERATE(1u, 2u, 3u);
    Hostile h(EACH_RELIABLE_BACKEND);
    std::mt19937 random(seed);
    Guarded target(4096);

    target.fill(0);
    for (int i = 0; i < 20000; i++) {
        uint8_t message[64];
        gam_place place = {reinterpret_cast<uintptr_t>(target.data()), random() % 5000,
                           random() % 4097, random()};
        uint32_t user = random();

        for (uint8_t &byte : message)
            byte = static_cast<uint8_t>(random());
        // Addresses are trusted by design: within a job they are what a store is.
        std::memcpy(message, &place, sizeof(place));
        if (gam_user_kind(user) == GAM_GET)
            user ^= GAM_GET << 8;
        if (random() % 8 == 0 && (user >> 8 & 0xf) != 0)
            h.send_pieces(user, message, 1 + random() % 9000);
        else
            h.send(user, message, random() % (UNET_INLINE_MAX + 1));
        if (i % 16 == 0)
            h.drain();
    }
    std::string wrong = target.wrong(0);
    CHECK(wrong.find("guard") == std::string::npos);
    h.still_works();
}
