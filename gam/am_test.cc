// SPDX-License-Identifier: BSD-3-Clause
//
// am_test.cc - the classic names.  They belong to a process, therefore the
// ranks are processes, or one alone.
#include "world.h"

#include <gam/am.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace world;

namespace {

enum { WORDS0 = 10, DF0 = 20, REPLIED = 30, REPLIED_DF = 31, BLOCK = 40, BLOCK_BACK = 41 };

am_function function(auto *f)
{
    return reinterpret_cast<am_function>(f);
}

void run_am(const Body &body)
{
    const auto [backend, ranks] =
        GENERATE(table<const char *, uint32_t>({{"loopback", 1}, {"shm", 1}, {"shm", 3}}));

    run(backend, ranks, [&](Rank &r) {
        r.expect("am_enable", am_enable(r.g), 0);
        body(r);
        r.barrier();
        am_disable();
    });
}

int left_of(Rank &r)
{
    return static_cast<int>(r.left());
}

int right_of(Rank &r)
{
    return static_cast<int>(r.right());
}

// ---- handlers of words ----

void note_words(int source, std::initializer_list<am_word> words)
{
    Rank &r = self();
    am_word i = 0;

    r.note("source", source, left_of(r));
    for (am_word w : words)
        r.note("word", w, 100 + i++);
    r.count[0]++;
}

void f0(int s)
{
    note_words(s, {});
}
void f1(int s, am_word a)
{
    note_words(s, {a});
}
void f2(int s, am_word a, am_word b)
{
    note_words(s, {a, b});
}
void f3(int s, am_word a, am_word b, am_word c)
{
    note_words(s, {a, b, c});
}
void f4(int s, am_word a, am_word b, am_word c, am_word d)
{
    note_words(s, {a, b, c, d});
}

void note_df(int source, std::initializer_list<am_word> words, double d)
{
    note_words(source, words);
    self().note("double", d, 0.1 + static_cast<double>(words.size()));
}

void d0(int s, double d)
{
    note_df(s, {}, d);
}
void d1(int s, am_word a, double d)
{
    note_df(s, {a}, d);
}
void d2(int s, am_word a, am_word b, double d)
{
    note_df(s, {a, b}, d);
}
void d3(int s, am_word a, am_word b, am_word c, double d)
{
    note_df(s, {a, b, c}, d);
}
void d4(int s, am_word a, am_word b, am_word c, am_word e, double d)
{
    note_df(s, {a, b, c, e}, d);
}

} // namespace

TEST_CASE("am: requests of 0 to 4 words")
{
    run_am([](Rank &r) {
        const int to = right_of(r);

        r.expect("register", am_register(WORDS0, AM_WORDS, function(f0)), 0);
        r.expect("register", am_register(WORDS0 + 1, AM_WORDS, function(f1)), 0);
        r.expect("register", am_register(WORDS0 + 2, AM_WORDS, function(f2)), 0);
        r.expect("register", am_register(WORDS0 + 3, AM_WORDS, function(f3)), 0);
        r.expect("register", am_register(WORDS0 + 4, AM_WORDS, function(f4)), 0);
        r.barrier();
        r.expect("0", am_request_0(to, WORDS0), 0);
        r.expect("1", am_request_1(to, WORDS0 + 1, 100), 0);
        r.expect("2", am_request_2(to, WORDS0 + 2, 100, 101), 0);
        r.expect("3", am_request_3(to, WORDS0 + 3, 100, 101, 102), 0);
        r.expect("4", am_request_4(to, WORDS0 + 4, 100, 101, 102, 103), 0);
        while (r.count[0] < 5)
            r.expect("am_poll", am_poll() >= 0, true);
        r.expect("mismatches", am_mismatches(), 0u);
    });
}

TEST_CASE("am: requests of 0 to 4 words and a double")
{
    run_am([](Rank &r) {
        const int to = right_of(r);

        r.expect("register", am_register(DF0, AM_DF, function(d0)), 0);
        r.expect("register", am_register(DF0 + 1, AM_DF, function(d1)), 0);
        r.expect("register", am_register(DF0 + 2, AM_DF, function(d2)), 0);
        r.expect("register", am_register(DF0 + 3, AM_DF, function(d3)), 0);
        r.expect("register", am_register(DF0 + 4, AM_DF, function(d4)), 0);
        r.barrier();
        r.expect("0", am_request_0_df(to, DF0, 0.1), 0);
        r.expect("1", am_request_1_df(to, DF0 + 1, 100, 1.1), 0);
        r.expect("2", am_request_2_df(to, DF0 + 2, 100, 101, 2.1), 0);
        r.expect("3", am_request_3_df(to, DF0 + 3, 100, 101, 102, 3.1), 0);
        r.expect("4", am_request_4_df(to, DF0 + 4, 100, 101, 102, 103, 4.1), 0);
        r.until("five", [&] { return r.count[0] == 5; });
        r.expect("mismatches", am_mismatches(), 0u);
    });
}

TEST_CASE("am: replies of 0 to 4 words, with and without a double")
{
    run_am([](Rank &r) {
        // word 0: how many words to reply with; word 1: whether with a double
        auto asked = [](int source, am_word n, am_word df) {
            int rc = -1;

            switch (n + (df ? 5 : 0)) {
            case 0:
                rc = am_reply_0(source, WORDS0);
                break;
            case 1:
                rc = am_reply_1(source, WORDS0 + 1, 100);
                break;
            case 2:
                rc = am_reply_2(source, WORDS0 + 2, 100, 101);
                break;
            case 3:
                rc = am_reply_3(source, WORDS0 + 3, 100, 101, 102);
                break;
            case 4:
                rc = am_reply_4(source, WORDS0 + 4, 100, 101, 102, 103);
                break;
            case 5:
                rc = am_reply_0_df(source, DF0, 0.1);
                break;
            case 6:
                rc = am_reply_1_df(source, DF0 + 1, 100, 1.1);
                break;
            case 7:
                rc = am_reply_2_df(source, DF0 + 2, 100, 101, 2.1);
                break;
            case 8:
                rc = am_reply_3_df(source, DF0 + 3, 100, 101, 102, 3.1);
                break;
            case 9:
                rc = am_reply_4_df(source, DF0 + 4, 100, 101, 102, 103, 4.1);
                break;
            }
            self().note("reply", rc, 0);
        };
        const am_function words[] = {function(f0), function(f1), function(f2), function(f3),
                                     function(f4)};
        const am_function doubles[] = {function(d0), function(d1), function(d2), function(d3),
                                       function(d4)};
        am_handler next = 0;

        for (am_function f : words)
            r.expect("register", am_register(WORDS0 + next++, AM_WORDS, f), 0);
        next = 0;
        for (am_function f : doubles)
            r.expect("register", am_register(DF0 + next++, AM_DF, f), 0);
        r.expect("register", am_register(1, AM_WORDS, function(+asked)), 0);
        r.barrier();
        // The handlers expect their message from the left.
        for (am_word n = 0; n <= 4; n++)
            for (am_word df = 0; df < 2; df++)
                r.expect("request", am_request_2(left_of(r), 1, n, df), 0);
        r.until("ten", [&] { return r.count[0] == 10; });
        r.expect("mismatches", am_mismatches(), 0u);
    });
}

TEST_CASE("am: medium requests and replies")
{
    run_am([](Rank &r) {
        auto back = [](int source, void *address, size_t n, am_word arg) {
            self().note("contents", pattern_wrong(address, n, arg), "");
            self().note("reply", am_reply_medium(source, BLOCK_BACK, address, n, arg + 1), 0);
        };
        auto home = [](int source, void *address, size_t n, am_word arg) {
            self().note("source", source, right_of(self()));
            self().note("contents", pattern_wrong(address, n, arg - 1), "");
            self().log.push_back(n);
        };
        const std::vector<uint64_t> sizes = {0, 1, 8, 9, 1000, GAM_MEDIUM_MAX};

        r.expect("register", am_register(BLOCK, AM_BLOCK, function(+back)), 0);
        r.expect("register", am_register(BLOCK_BACK, AM_BLOCK, function(+home)), 0);
        r.expect("am_max_medium", am_max_medium(), GAM_MEDIUM_MAX);
        r.barrier();
        for (uint64_t n : sizes) {
            Guarded from(n);

            from.fill(n);
            r.expect("request", am_request_medium(right_of(r), BLOCK, from.data(), n, n), 0);
        }
        r.until("replies", [&] { return r.log.size() == sizes.size(); });
        r.expect("lengths", r.log == sizes, true);
        r.expect("too long", am_request_medium(right_of(r), BLOCK, &r, GAM_MEDIUM_MAX + 1, 0),
                 -EMSGSIZE);
    });
}

TEST_CASE("am: store, store_async and get")
{
    run_am([](Rank &r) {
        constexpr size_t N = 100001;
        auto landed = [](int source, void *address, size_t n, am_word arg) {
            self().note("source", source, left_of(self()));
            self().note("contents", pattern_wrong(address, n, arg), "");
            self().count[0]++;
        };
        auto fetched = [](int source, void *address, size_t n, am_word arg) {
            self().note("source", source, right_of(self()));
            self().note("contents", pattern_wrong(address, n, arg), "");
            self().count[1]++;
        };
        Guarded from(N), to(N), back(N);

        from.fill(6);
        r.expect("register", am_register(BLOCK, AM_BLOCK, function(+landed)), 0);
        r.expect("register", am_register(BLOCK_BACK, AM_BLOCK, function(+fetched)), 0);
        r.expect("am_max_size", am_max_size() >= (size_t(1) << 40), true);
        r.show(0, to.data());
        r.barrier();
        uint8_t *there = r.address(r.right(), 0);
        auto tell = [](void *p) { ++*static_cast<uint64_t *>(p); };

        r.expect("store", am_store(right_of(r), from.data(), there, N, BLOCK, 6), 0);
        r.expect("async",
                 am_store_async(right_of(r), from.data(), there, N, BLOCK, 6, tell, &r.count[2]),
                 0);
        r.until("both", [&] { return r.count[0] == 2 && r.count[2] == 1; });
        r.barrier();
        r.expect("get", am_get(right_of(r), there, back.data(), N, BLOCK_BACK, 6), 0);
        r.until("got", [&] { return r.count[1] == 1; });
        r.expect("empty store", am_store(right_of(r), nullptr, nullptr, 0, BLOCK, 6), 0);
        r.until("empty", [&] { return r.count[0] == 3; });
        r.expect("stored", to.wrong(6), "");
        r.expect("got", back.wrong(6), "");
        r.barrier();
    });
}

TEST_CASE("am: who and how many")
{
    CHECK(am_procs() == 0);
    CHECK(am_my_proc() == -1);
    run_am([](Rank &r) {
        r.expect("am_procs", am_procs(), static_cast<int>(r.ranks));
        r.expect("am_my_proc", am_my_proc(), static_cast<int>(r.me));
    });
    CHECK(am_procs() == 0);
}

TEST_CASE("am: without an instance every call says so")
{
    char b[8];

    CHECK(am_enable(nullptr) == -EINVAL);
    CHECK(am_register(1, AM_WORDS, function(f0)) == -ENOTCONN);
    CHECK(am_poll() == -ENOTCONN);
    CHECK(am_request_0(0, 1) == -ENOTCONN);
    CHECK(am_request_4(0, 1, 0, 0, 0, 0) == -ENOTCONN);
    CHECK(am_request_0_df(0, 1, 0) == -ENOTCONN);
    CHECK(am_request_medium(0, 1, b, 8, 0) == -ENOTCONN);
    CHECK(am_reply_0(0, 1) == -ENOTCONN);
    CHECK(am_reply_1_df(0, 1, 0, 0) == -ENOTCONN);
    CHECK(am_reply_medium(0, 1, b, 8, 0) == -ENOTCONN);
    CHECK(am_store(0, b, b, 8, 0, 0) == -ENOTCONN);
    CHECK(am_store_async(0, b, b, 8, 0, 0, nullptr, nullptr) == -ENOTCONN);
    CHECK(am_get(0, b, b, 8, 0, 0) == -ENOTCONN);
}

TEST_CASE("am: one instance, one function per handler")
{
    run_am([](Rank &r) {
        r.expect("twice", am_enable(r.g), -EBUSY);
        r.expect("index 0", am_register(0, AM_WORDS, function(f0)), -EINVAL);
        r.expect("index 256", am_register(GAM_HANDLERS, AM_WORDS, function(f0)), -EINVAL);
        r.expect("no function", am_register(1, AM_WORDS, nullptr), -EINVAL);
        r.expect("no shape", am_register(1, static_cast<am_shape>(0), function(f0)), -EINVAL);
        r.expect("first", am_register(1, AM_WORDS, function(f0)), 0);
        r.expect("again", am_register(1, AM_WORDS, function(f0)), 0);
        r.expect("another", am_register(1, AM_WORDS, function(f1)), -EEXIST);
        r.expect("another shape", am_register(1, AM_DF, function(f0)), -EEXIST);
    });
}

TEST_CASE("am: a message of another shape than its handler is dropped and counted")
{
    run_am([](Rank &r) {
        const int to = right_of(r);

        r.expect("register", am_register(WORDS0, AM_WORDS, function(f0)), 0);
        r.expect("register", am_register(DF0, AM_DF, function(d0)), 0);
        r.barrier();
        r.expect("double to words", am_request_0_df(to, WORDS0, 1), 0);
        r.expect("medium to words", am_request_medium(to, WORDS0, &to, 4, 0), 0);
        r.expect("words to double", am_request_0(to, DF0), 0);
        r.expect("medium of 4 bytes to double", am_request_medium(to, DF0, &to, 4, 0), 0);
        r.until("four", [&] { return am_mismatches() == 4; });
        r.expect("right one", am_request_0(to, WORDS0), 0);
        r.until("right one", [&] { return r.count[0] == 1; });
    });
}

TEST_CASE("am: replies go to the source only, and follow the rule")
{
    run_am([](Rank &r) {
        auto asked = [](int source) {
            self().note("elsewhere", am_reply_0(source + 1, WORDS0), -EINVAL);
            self().note("request", am_request_0(source, WORDS0), -EPERM);
            self().note("first", am_reply_0(source, WORDS0), 0);
            self().note("second", am_reply_0(source, WORDS0), -EPERM);
        };

        r.expect("register", am_register(1, AM_WORDS, function(+asked)), 0);
        r.expect("register", am_register(WORDS0, AM_WORDS, function(f0)), 0);
        r.barrier();
        r.expect("outside", am_reply_0(0, WORDS0) < 0, true);
        r.expect("request", am_request_0(left_of(r), 1), 0);
        r.until("reply", [&] { return r.count[0] == 1; });
    });
}

TEST_CASE("am: am_exit ends the process with its code")
{
    const pid_t pid = fork();
    int status = 0;

    if (pid == 0)
        am_exit(7);
    REQUIRE(pid > 0);
    REQUIRE(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
}
