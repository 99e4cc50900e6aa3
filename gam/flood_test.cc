// SPDX-License-Identifier: BSD-3-Clause
//
// flood_test.cc - all kinds of messages at once, in the shapes that deadlock
// and reorder when flow control is wrong.
#include "world.h"

#include <algorithm>
#include <memory>
#include <random>

using namespace world;

namespace {

enum { COUNT = 1, ANSWER = 2, ANSWERED = 3, ANSWER_MEDIUM = 4, SEQUENCE = 5, STORED = 6, GOT = 7 };

constexpr size_t PIECE = GAM_MEDIUM_MAX;

void count(gam *, const gam_message *)
{
    self().count[COUNT]++;
}

void answer(gam *g, const gam_message *m)
{
    self().count[ANSWER]++;
    self().note("reply", gam_reply(g, ANSWERED, m->words, m->word), 0);
}

void answered(gam *, const gam_message *m)
{
    if (m->data)
        self().note("contents", pattern_wrong(m->data, m->length, m->word[0]), "");
    self().count[ANSWERED]++;
}

void answer_medium(gam *g, const gam_message *m)
{
    uint8_t bytes[PIECE];
    const size_t n = m->word[1];

    for (size_t i = 0; i < n; i++)
        bytes[i] = pattern(m->word[0], i);
    self().count[ANSWER]++;
    self().note("reply", gam_reply_medium(g, ANSWERED, bytes, n, 1, m->word), 0);
}

void stored(gam *, const gam_message *m)
{
    self().note("stored", pattern_wrong(m->data, m->length, m->word[0]), "");
    self().count[STORED]++;
}

void got(gam *, const gam_message *m)
{
    self().note("got", pattern_wrong(m->data, m->length, m->word[0]), "");
    self().count[GOT]++;
}

void use_all(Rank &r)
{
    r.handler(COUNT, count);
    r.handler(ANSWER, answer);
    r.handler(ANSWERED, answered);
    r.handler(ANSWER_MEDIUM, answer_medium);
    r.handler(STORED, stored);
    r.handler(GOT, got);
    r.barrier();
}

void fill(void *data, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        static_cast<uint8_t *>(data)[i] = pattern(seed, i);
}

// One rank's part of a random flood.  Each pair of ranks has a place of its own at
// the target, so that what is stored there can be checked by the handler.
class Flood {
public:
    Flood(Rank &r, uint32_t seed, uint32_t kinds)
        : r_(r), random_(seed * 1000 + r.me), kinds_(kinds), mine_(r.ranks * N), source_(N)
    {
        fill(source_.data(), N, r.me);
        r.show(PLACES, mine_.data());
        r.show(SOURCE, source_.data());
        r.barrier();
    }

    void send(int messages)
    {
        for (int i = 0; i < messages; i++)
            r_.expect("send", send_one(random_() % r_.ranks), 0);
    }

    // Wait for what we asked for and for what was sent to us.
    void finish()
    {
        uint64_t coming = 0;

        r_.until("answers", [&] {
            return r_.count[ANSWERED] == answers_ && r_.count[GOT] == gets_ &&
                   gam_pending(r_.g) == 0;
        });
        for (uint32_t to = 0; to < r_.ranks; to++)
            r_.show(to, sent_[to]);
        r_.barrier();
        for (uint32_t from = 0; from < r_.ranks; from++)
            coming += r_.shown(from, r_.me);
        r_.until("arrivals",
                 [&] { return r_.count[COUNT] + r_.count[ANSWER] + r_.count[STORED] == coming; });
        r_.barrier();
        r_.expect("refused", r_.stats().refused, 0u);
        r_.expect("handled", r_.stats().handled, coming + answers_ + gets_);
    }

private:
    static constexpr size_t N = 3 * PIECE;

    static constexpr uint32_t PLACES = MAX_RANKS, SOURCE = MAX_RANKS + 1; // what is shown

    int send_one(uint32_t to)
    {
        const uint64_t word[] = {random_(), random_() % (PIECE + 1)};
        const uint32_t kind = random_() % kinds_;
        const size_t n = random_() % (N + 1);

        sent_[to] += kind != 5;
        answers_ += kind == 1 || kind == 2;
        switch (kind) {
        case 0:
            return gam_request_2(r_.g, to, COUNT, word[0], word[1]);
        case 1:
            return gam_request(r_.g, to, ANSWER, 0, word);
        case 2:
            return gam_request(r_.g, to, ANSWER_MEDIUM, 2, word);
        case 3:
            return gam_store(r_.g, to, source_.data(), place(to), n, STORED, r_.me);
        case 4:
            return gam_store_async(r_.g, to, source_.data(), place(to), n, STORED, r_.me, nullptr,
                                   nullptr);
        case 5:
            return get(to, n);
        default:
            return gam_request_medium(r_.g, to, COUNT, source_.data(), word[1], 0, word);
        }
    }

    int get(uint32_t from, size_t n)
    {
        gets_++;
        fetched_.push_back(std::make_unique<std::vector<uint8_t>>(n));
        return gam_get(r_.g, from, r_.address(from, SOURCE), fetched_.back()->data(), n, GOT, from);
    }

    uint8_t *place(uint32_t at) { return r_.address(at, PLACES) + r_.me * N; }

    Rank &r_;
    std::mt19937 random_;
    uint32_t kinds_;
    std::vector<uint8_t> mine_, source_;
    std::vector<std::unique_ptr<std::vector<uint8_t>>> fetched_;
    uint64_t sent_[MAX_RANKS] = {}, answers_ = 0, gets_ = 0;
};

} // namespace

TEST_CASE("flood: 8 ranks send small requests to all, with and without replies")
{
    const uint32_t seed = GENERATE(1u, 2u);

    run(EACH_BACKEND, 8, [=](Rank &r) {
        use_all(r);
        Flood flood(r, seed, 2);
        flood.send(2000);
        flood.finish();
    });
}

TEST_CASE("flood: 8 ranks send everything to all")
{
    const uint32_t seed = GENERATE(3u, 4u, 5u);

    run(EACH_BACKEND, 8, [=](Rank &r) {
        use_all(r);
        Flood flood(r, seed, 7);
        flood.send(300);
        flood.finish();
    });
}

TEST_CASE("flood: everything through windows of one")
{
    run(EACH_BACKEND, 5,
        [](Rank &r) {
            use_all(r);
            Flood flood(r, 6, 7);
            flood.send(200);
            flood.finish();
        },
        {.window = 1});
}

TEST_CASE("flood: everything to oneself")
{
    run(EACH_BACKEND, 1, [](Rank &r) {
        use_all(r);
        Flood flood(r, 7, 7);
        flood.send(1000);
        flood.finish();
    });
}

// ---- shapes that deadlock ---------------------------------------------------------

TEST_CASE("everybody stores to one, who stores to nobody")
{
    run(EACH_BACKEND, 8, [](Rank &r) {
        constexpr size_t N = 20 * PIECE + 1;
        std::vector<uint8_t> from(N), to(r.me == 0 ? r.ranks * N : 0);

        use_all(r);
        fill(from.data(), N, r.me);
        r.show(0, to.data());
        r.barrier();
        for (int i = 0; i < 3; i++)
            r.expect("store",
                     gam_store(r.g, 0, from.data(), r.address(0, 0) + r.me * N, N, STORED, r.me),
                     0);
        r.until("all stored", [&] { return r.me != 0 || r.count[STORED] == 3 * r.ranks; });
        r.barrier();
    });
}

TEST_CASE("everybody gets from one")
{
    run(EACH_BACKEND, 8, [](Rank &r) {
        constexpr size_t N = 20 * PIECE + 1;
        std::vector<uint8_t> from(N), to(N);

        use_all(r);
        fill(from.data(), N, r.me);
        r.show(0, from.data());
        r.barrier();
        for (int i = 0; i < 3; i++)
            r.expect("get", gam_get(r.g, 0, r.address(0, 0), to.data(), N, GOT, 0), 0);
        r.until("all got", [&] { return r.count[GOT] == 3; });
        r.barrier();
    });
}

TEST_CASE("a ring of gets, each waited for")
{
    run(EACH_BACKEND, 8, [](Rank &r) {
        constexpr size_t N = 5 * PIECE;
        std::vector<uint8_t> from(N), to(N);

        use_all(r);
        fill(from.data(), N, r.me);
        r.show(0, from.data());
        r.barrier();
        for (uint64_t i = 0; i < 10; i++) {
            r.expect("get",
                     gam_get(r.g, r.right(), r.address(r.right(), 0), to.data(), N, GOT, r.right()),
                     0);
            r.until("got", [&] { return r.count[GOT] == i + 1; });
        }
        r.barrier();
    });
}

TEST_CASE("all send and nobody polls until its own window is full")
{
    run(EACH_BACKEND, 8, [](Rank &r) {
        use_all(r);
        // A window to each peer without any poll in between is not possible to ask
        // for, but nobody waits for an answer before having sent it all.
        for (uint32_t to = 0; to < r.ranks; to++)
            for (int i = 0; i < 200; i++)
                r.expect("request", gam_request_0(r.g, to, ANSWER), 0);
        r.until("answers", [&] {
            return r.count[ANSWERED] == 200 * r.ranks && r.count[ANSWER] == 200 * r.ranks;
        });
    });
}

TEST_CASE("big stores that cross each other")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        constexpr size_t N = (1u << 20) + 3;
        std::vector<uint8_t> from(N), to(N);

        use_all(r);
        fill(from.data(), N, r.me);
        r.show(0, to.data());
        r.barrier();
        for (uint64_t i = 0; i < 5; i++)
            r.expect("store",
                     gam_store(r.g, r.right(), from.data(), r.address(r.right(), 0), N, COUNT, 0),
                     0);
        r.until("stored", [&] { return r.count[COUNT] == 5; });
        r.expect("contents", pattern_wrong(to.data(), N, r.left()), "");
        r.barrier();
    });
}

TEST_CASE("medium requests that cross each other, each answered by a medium")
{
    run(EACH_BACKEND, 4,
        [](Rank &r) {
            const uint64_t word[] = {1, PIECE};
            std::vector<uint8_t> bytes(PIECE);

            use_all(r);
            for (uint32_t i = 0; i < 400; i++)
                r.expect("request",
                         gam_request_medium(r.g, i % r.ranks, ANSWER_MEDIUM, bytes.data(), PIECE, 2,
                                            word),
                         0);
            r.until("answers", [&] { return r.count[ANSWERED] == 400 && r.count[ANSWER] == 400; });
        },
        {.window = 2});
}

TEST_CASE("a rank that only sends is served by one that only waits")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        use_all(r);
        if (r.me == 0) {
            for (int i = 0; i < 3000; i++)
                r.expect("request", gam_request_0(r.g, 1, COUNT), 0);
        } else {
            while (r.count[COUNT] < 3000)
                r.expect("wait", gam_wait(r.g, 10000) > 0, true);
        }
    });
}

// ---- order --------------------------------------------------------------------------

TEST_CASE("messages of all kinds arrive in the order in which they were sent")
{
    const uint32_t window = GENERATE(0u, 3u);

    run(EACH_BACKEND, 4,
        [](Rank &r) {
            // word[0] is the number in the sequence to this rank, for every kind.
            static thread_local std::vector<uint64_t> next;
            std::mt19937 random(r.me + 99);
            std::vector<uint64_t> sent(r.ranks);
            std::vector<uint8_t> from(3 * PIECE), to(r.ranks * 3 * PIECE);

            next.assign(r.ranks, 0);
            r.handler(SEQUENCE, [](gam *, const gam_message *m) {
                self().note("number in sequence", m->word[0], next[m->source]++);
            });
            r.show(0, to.data());
            r.barrier();
            for (int i = 0; i < 1500; i++) {
                const uint32_t dest = random() % r.ranks;
                const uint64_t number = sent[dest]++;
                const size_t n = random() % from.size();
                uint8_t *place = r.address(dest, 0) + r.me * from.size();
                int rc;

                switch (random() % 3) {
                case 0:
                    rc = gam_request_1(r.g, dest, SEQUENCE, number);
                    break;
                case 1:
                    rc = gam_request_medium(r.g, dest, SEQUENCE, from.data(), n % (PIECE + 1), 1,
                                            &number);
                    break;
                default:
                    rc = gam_store(r.g, dest, from.data(), place, n, SEQUENCE, number);
                }
                r.expect("send", rc, 0);
            }
            r.barrier();
            for (uint32_t dest = 0; dest < r.ranks; dest++)
                r.show(dest, sent[dest]);
            r.barrier();
            r.until("all", [&] {
                for (uint32_t rank = 0; rank < r.ranks; rank++)
                    if (next[rank] != r.shown(rank, r.me))
                        return false;
                return true;
            });
        },
        {.window = window});
}

TEST_CASE("asynchronous stores to one rank arrive in order, a blocking one behind them")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        std::vector<uint8_t> from(5 * PIECE), to(5 * PIECE);

        r.handler(SEQUENCE, [](gam *, const gam_message *m) { self().log.push_back(m->word[0]); });
        r.show(0, to.data());
        r.barrier();
        for (uint64_t i = 0; i < 60; i++) {
            uint8_t *place = r.address(r.right(), 0);
            const size_t n = (i * 7919) % from.size();
            int rc = i % 10 == 9 ? gam_store(r.g, r.right(), from.data(), place, n, SEQUENCE, i)
                                 : gam_store_async(r.g, r.right(), from.data(), place, n, SEQUENCE,
                                                   i, nullptr, nullptr);

            r.expect("store", rc, 0);
        }
        r.until("all", [&] { return r.log.size() == 60 && gam_pending(r.g) == 0; });
        for (uint64_t i = 0; i < 60; i++)
            r.expect("in order", r.log[i], i);
        r.barrier();
    });
}
