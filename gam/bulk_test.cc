// SPDX-License-Identifier: BSD-3-Clause
//
// bulk_test.cc - stores and gets of all sizes, and their windows.
#include "world.h"

#include <memory>

using namespace world;

namespace {

enum { STORED = 1, GOT = 2, ANSWER = 3, COUNT = 4 };

// One piece of a transfer is as long as the longest medium message.
constexpr size_t PIECE = GAM_MEDIUM_MAX;

const std::vector<size_t> SIZES = {
    0,
    1,
    7,
    8,
    9,
    15,
    16,
    17,
    31,
    32,
    33,
    47,
    48,
    49,
    63,
    64,
    65,
    1000,
    4095,
    4096,
    4097,
    PIECE - 1,
    PIECE,
    PIECE + 1,
    8191,
    8192,
    8193,
    2 * PIECE,
    3 * PIECE - 1,
    3 * PIECE + 1,
    8 * PIECE,
    9 * PIECE,
    65535,
    17 * PIECE + 5,
};

void stored(gam *, const gam_message *m)
{
    Rank &r = self();

    r.count[STORED]++;
    r.log.assign({m->source, m->length, m->word[0], reinterpret_cast<uintptr_t>(m->data)});
}

void got(gam *, const gam_message *m)
{
    Rank &r = self();

    r.count[GOT]++;
    r.log.assign({m->source, m->length, m->word[0], reinterpret_cast<uintptr_t>(m->data)});
}

void count(gam *, const gam_message *)
{
    self().count[COUNT]++;
}

void use_all(Rank &r)
{
    r.handler(STORED, stored);
    r.handler(GOT, got);
    r.handler(COUNT, count);
    r.barrier();
}

void expect_log(Rank &r, uint32_t source, size_t n, uint64_t arg, void *data)
{
    const std::vector<uint64_t> wanted = {source, n, arg, reinterpret_cast<uintptr_t>(data)};

    r.expect("source, length, argument and address", r.log == wanted, true);
}

enum Way { STORE, ASYNC };

void store(Rank &r, Way way, uint32_t dest, Guarded &from, uint8_t *to, uint64_t arg)
{
    if (way == STORE) {
        r.expect("gam_store", gam_store(r.g, dest, from.data(), to, from.size(), STORED, arg), 0);
        return;
    }
    uint64_t done = r.count[7];
    auto tell = [](void *p) { ++*static_cast<uint64_t *>(p); };

    r.expect(
        "gam_store_async",
        gam_store_async(r.g, dest, from.data(), to, from.size(), STORED, arg, tell, &r.count[7]),
        0);
    r.until("source reusable", [&] { return r.count[7] == done + 1; });
}

// Rank 0 stores one size after the other to rank 1, who checks each.
void store_sizes(Rank &r, Way way, size_t skew_from, size_t skew_to)
{
    use_all(r);
    for (size_t i = 0; i < SIZES.size(); i++) {
        Guarded from(SIZES[i], skew_from), to(SIZES[i], skew_to);

        from.fill(i);
        to.clear();
        r.show(0, to.data());
        r.barrier();
        if (r.me == 0) {
            store(r, way, 1, from, r.address(1, 0), 1000 + i);
            from.clear(); // it may be reused
        } else {
            r.until("store", [&] { return r.count[STORED] == i + 1; });
            expect_log(r, 0, SIZES[i], 1000 + i, to.data());
            r.expect("contents of size " + std::to_string(SIZES[i]), to.wrong(i), "");
        }
        r.barrier();
    }
}

void get_sizes(Rank &r, size_t skew_from, size_t skew_to)
{
    use_all(r);
    for (size_t i = 0; i < SIZES.size(); i++) {
        Guarded from(SIZES[i], skew_from), to(SIZES[i], skew_to);

        from.fill(i + r.me);
        to.clear();
        r.show(0, from.data());
        r.barrier();
        r.expect("gam_get",
                 gam_get(r.g, r.right(), r.address(r.right(), 0), to.data(), SIZES[i], GOT, i), 0);
        r.until("get", [&] { return r.count[GOT] == i + 1; });
        expect_log(r, r.right(), SIZES[i], i, to.data());
        r.expect("contents of size " + std::to_string(SIZES[i]), to.wrong(i + r.right()), "");
        r.expect("pending", gam_pending(r.g), 0u);
        r.barrier();
    }
}

constexpr size_t BIG = (1u << 20) + 3;

} // namespace

TEST_CASE("gam_store of all sizes around each limit")
{
    run(EACH_BACKEND, 2, [](Rank &r) { store_sizes(r, STORE, 0, 0); });
}

TEST_CASE("gam_store between misaligned addresses")
{
    const size_t from = GENERATE(1u, 7u, 9u);
    const size_t to = GENERATE(0u, 3u);

    run(EACH_BACKEND, 2, [=](Rank &r) { store_sizes(r, STORE, from, to); });
}

TEST_CASE("gam_store_async of all sizes around each limit")
{
    run(EACH_BACKEND, 2, [](Rank &r) { store_sizes(r, ASYNC, 0, 0); });
}

TEST_CASE("gam_store_async between misaligned addresses")
{
    run(EACH_BACKEND, 2, [](Rank &r) { store_sizes(r, ASYNC, 5, 2); });
}

TEST_CASE("gam_get of all sizes around each limit")
{
    run(EACH_BACKEND, 2, [](Rank &r) { get_sizes(r, 0, 0); });
}

TEST_CASE("gam_get between misaligned addresses")
{
    run(EACH_BACKEND, 2, [](Rank &r) { get_sizes(r, 1, 6); });
}

TEST_CASE("transfers to and from oneself")
{
    run(EACH_BACKEND, 1, [](Rank &r) {
        use_all(r);
        for (size_t n : SIZES) {
            Guarded from(n), to(n), back(n);

            from.fill(n);
            r.expect("store", gam_store(r.g, 0, from.data(), to.data(), n, STORED, 0), 0);
            const uint64_t stores = r.count[STORED];
            r.until("stored", [&] { return r.count[STORED] > stores || r.log.size() == 4; });
            r.log.clear();
            r.expect("get", gam_get(r.g, 0, to.data(), back.data(), n, GOT, 0), 0);
            r.until("got", [&] { return r.log.size() == 4; });
            r.log.clear();
            r.expect("contents", back.wrong(n), "");
        }
    });
}

TEST_CASE("a transfer of 1 MiB and 3 bytes, each way")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        Guarded from(BIG, 1), to(BIG, 2), back(BIG, 3);

        use_all(r);
        from.fill(r.me);
        r.show(0, to.data());
        r.barrier();
        r.expect("store",
                 gam_store(r.g, r.right(), from.data(), r.address(r.right(), 0), BIG, STORED, 5),
                 0);
        r.until("stored", [&] { return r.count[STORED] == 1; });
        expect_log(r, r.left(), BIG, 5, to.data());
        r.expect("stored contents", to.wrong(r.left()), "");
        r.barrier();
        r.expect("get", gam_get(r.g, r.right(), r.address(r.right(), 0), back.data(), BIG, GOT, 6),
                 0);
        r.until("got", [&] { return r.count[GOT] == 1; });
        r.expect("got contents", back.wrong(r.me), "");
        r.barrier();
        r.expect("bytes sent", r.stats().bulk_bytes, 2 * BIG);
    });
}

// More than a network takes before acknowledgements come.  What gets lost, as where the receiver
// does not run for long, is pushed by nobody: then it is tried once more.
TEST_CASE("a store goes although its sender does nothing but push it")
{
    run("udp", 2, [](Rank &r) {
        constexpr size_t bytes = 200000;
        constexpr uint64_t tries = 5;
        Guarded from(bytes), to(bytes);
        uint64_t came = 0;

        use_all(r);
        from.fill(r.me);
        r.show(0, to.data());
        r.barrier();
        for (uint64_t turn = 1; turn <= tries; turn++) {
            if (r.me == 0) {
                const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);

                r.expect("store", gam_store(r.g, 1, from.data(), r.address(1, 0), bytes, STORED, 0),
                         0);
                while (r.shown(1, 1) != turn && std::chrono::steady_clock::now() < end)
                    gam_push(r.g, 1);
                came += r.shown(1, 1) == turn;
            } else {
                r.until("stored", [&] { return r.count[STORED] == turn; });
                r.expect("stored contents", to.wrong(0), "");
                r.show(1, turn);
            }
            r.barrier();
        }
        r.expect("it has come", r.me != 0 || came > 0, true);
    });
}

TEST_CASE("transfers without a handler")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        Guarded from(20000), to(20000), back(20000);

        use_all(r);
        from.fill(3);
        r.show(0, to.data());
        r.barrier();
        r.expect("store",
                 gam_store(r.g, r.right(), from.data(), r.address(r.right(), 0), 20000, 0, 0), 0);
        // A request follows the store, so its handler finds the bytes in place.
        r.expect("request", gam_request_0(r.g, r.right(), COUNT), 0);
        r.until("request", [&] { return r.count[COUNT] == 1; });
        r.expect("stored", to.wrong(3), "");
        r.barrier();
        r.expect("get", gam_get(r.g, r.right(), r.address(r.right(), 0), back.data(), 20000, 0, 0),
                 0);
        r.until("got", [&] { return gam_pending(r.g) == 0; });
        r.expect("got", back.wrong(3), "");
        r.barrier();
    });
}

TEST_CASE("a store without bytes runs only the handler")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        use_all(r);
        r.expect("store", gam_store(r.g, r.right(), nullptr, nullptr, 0, STORED, 77), 0);
        r.until("stored", [&] { return r.count[STORED] == 1; });
        expect_log(r, r.left(), 0, 77, nullptr);
        r.expect("get", gam_get(r.g, r.right(), nullptr, nullptr, 0, GOT, 78), 0);
        r.until("got", [&] { return r.count[GOT] == 1; });
        expect_log(r, r.right(), 0, 78, nullptr);
    });
}

TEST_CASE("the handler of a store can reply")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        Guarded from(30000), to(30000);

        use_all(r);
        r.handler(ANSWER, [](gam *g, const gam_message *m) {
            const std::string wrong = pattern_wrong(m->data, m->length, m->word[0]);

            self().note("contents", wrong, "");
            self().note("reply", gam_reply_1(g, COUNT, m->length), 0);
        });
        r.show(0, to.data());
        r.barrier();
        for (uint64_t i = 0; i < 20; i++) {
            from.fill(i);
            r.expect(
                "store",
                gam_store(r.g, r.right(), from.data(), r.address(r.right(), 0), 30000, ANSWER, i),
                0);
            r.until("reply", [&] { return r.count[COUNT] == i + 1; });
        }
        r.barrier();
    });
}

TEST_CASE("the sender learns of its asynchronous stores in order, each once")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        Guarded from(50000), to(50000);
        static thread_local std::vector<int> ended;
        int number[40];

        use_all(r);
        ended.clear();
        from.fill(1);
        r.show(0, to.data());
        r.barrier();
        for (int i = 0; i < 40; i++) {
            number[i] = i;
            r.expect("store",
                     gam_store_async(
                         r.g, r.right(), from.data(), r.address(r.right(), 0), 50000, COUNT, 0,
                         [](void *arg) { ended.push_back(*static_cast<int *>(arg)); }, &number[i]),
                     0);
        }
        r.expect("some are pending", gam_pending(r.g) > 0, true);
        r.until("none pending", [&] { return gam_pending(r.g) == 0; });
        r.expect("ended", ended.size(), 40u);
        for (int i = 0; i < 40; i++)
            r.expect("in order", ended[i], i);
        r.until("all there", [&] { return r.count[COUNT] == 40; });
        r.barrier();
    });
}

TEST_CASE("what an asynchronous store was sent from may change when its sender is told")
{
    const reliable_auth auth = GENERATE(RELIABLE_AUTH_FULL, RELIABLE_AUTH_HEADER);

    run("udp", 2,
        [](Rank &r) {
            constexpr size_t N = 90000;
            constexpr uint64_t STORES = 40;
            Guarded from(N);
            std::vector<std::unique_ptr<Guarded>> to;

            use_all(r);
            for (uint64_t i = 0; i < STORES; i++) {
                to.push_back(std::make_unique<Guarded>(N));
                r.show(0, to.back()->data());
                from.fill(i);
                r.barrier();
                r.expect("store",
                         gam_store_async(
                             r.g, r.right(), from.data(), r.address(r.right(), 0), N, COUNT, 0,
                             [](void *source) { static_cast<Guarded *>(source)->clear(); }, &from),
                         0);
                r.until("sent and there",
                        [&] { return gam_pending(r.g) == 0 && r.count[COUNT] == i + 1; });
                r.barrier();
            }
            for (uint64_t i = 0; i < STORES; i++)
                r.expect("contents", to[i]->wrong(i), "");
            r.barrier();
        },
        {.auth = auth});
}

TEST_CASE("many gets at once are answered, more than the window")
{
    const uint32_t window = GENERATE(0u, 1u, 4u);

    run(EACH_BACKEND, 3,
        [](Rank &r) {
            constexpr size_t N = 10000, GETS = 100;
            Guarded from(N);
            std::vector<std::unique_ptr<Guarded>> to;

            use_all(r);
            from.fill(r.me);
            r.show(0, from.data());
            r.barrier();
            for (size_t i = 0; i < GETS; i++) {
                to.push_back(std::make_unique<Guarded>(N - i));
                r.expect("get",
                         gam_get(r.g, r.right(), r.address(r.right(), 0), to[i]->data(), N - i,
                                 COUNT, i),
                         0);
            }
            r.until("all", [&] { return r.count[COUNT] == GETS; });
            r.expect("pending", gam_pending(r.g), 0u);
            for (size_t i = 0; i < GETS; i++)
                r.expect("contents", to[i]->wrong(r.right()), "");
            r.barrier();
        },
        {.window = window});
}

TEST_CASE("gets and stores to one peer share its window fairly")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        constexpr size_t N = 400000;
        Guarded source(N), sink(N), fetched(N);

        use_all(r);
        source.fill(r.me);
        r.show(0, source.data());
        r.show(1, sink.data());
        r.barrier();
        r.expect("get", gam_get(r.g, r.right(), r.address(r.right(), 0), fetched.data(), N, GOT, 0),
                 0);
        r.expect("store",
                 gam_store_async(r.g, r.right(), source.data(), r.address(r.right(), 1), N, STORED,
                                 0, nullptr, nullptr),
                 0);
        r.until("both", [&] { return r.count[GOT] == 1 && r.count[STORED] == 1; });
        r.until("ours too", [&] { return gam_pending(r.g) == 0; });
        r.expect("got", fetched.wrong(r.right()), "");
        r.expect("stored", sink.wrong(r.left()), "");
        r.barrier();
    });
}

TEST_CASE("statistics of transfers add up")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        Guarded from(PIECE * 3), to(PIECE * 3);

        use_all(r);
        r.show(0, to.data());
        r.barrier();
        for (int i = 0; i < 5; i++) {
            r.expect("store",
                     gam_store(r.g, r.right(), from.data(), r.address(r.right(), 0), PIECE * 3,
                               COUNT, 0),
                     0);
            r.expect("get",
                     gam_get(r.g, r.right(), r.address(r.right(), 0), from.data(), PIECE, COUNT, 0),
                     0);
        }
        r.until("all", [&] { return r.count[COUNT] == 10 && gam_pending(r.g) == 0; });
        r.barrier();
        r.expect("stores", r.stats().stores, 5u);
        r.expect("gets", r.stats().gets, 5u);
        r.expect("bytes: stored and given", r.stats().bulk_bytes, 5 * 4 * PIECE);
        r.expect("handled", r.stats().handled, 10u);
        r.expect("refused", r.stats().refused, 0u);
        r.expect("no small ones", r.stats().requests + r.stats().replies, 0u);
    });
}
