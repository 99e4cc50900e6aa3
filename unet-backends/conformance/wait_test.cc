// SPDX-License-Identifier: BSD-3-Clause
//
// Sleeping for messages: wait, the file descriptor, the races around arming.
#include "conformance/harness.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <thread>
#include <unistd.h>

using namespace std::chrono;

TEST_CASE("wait returns at once when a message is there")
{
    Pair pair;

    REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
    settle_arrivals(pair.b, 1);
    CHECK(unet_wait(pair.b, 0) == 1);
    CHECK(unet_wait(pair.b, -1) == 1);
    CHECK(text(take(pair.b)) == "x");
    CHECK(unet_wait(pair.b, 0) == 0);
}

TEST_CASE("wait ends after its time, not before")
{
    Pair pair;
    auto start = steady_clock::now();

    CHECK(unet_wait(pair.b, 50) == 0);
    CHECK(steady_clock::now() - start >= milliseconds(49));
}

TEST_CASE("a message wakes a sleeper", "[shared]")
{
    Pair pair;
    std::thread sender([&] {
        // Only once the receiver sleeps, or is about to: it has armed its doorbell.
        eventually([&] { return __atomic_load_n(pair.b->armed, __ATOMIC_RELAXED) != 0; });
        send_text(pair.a, pair.ab, "wake up");
    });
    int woken = unet_wait(pair.b, static_cast<int>(milliseconds(patience).count()));

    sender.join();
    CHECK(woken == 1);
    CHECK(text(take(pair.b)) == "wake up");
    CHECK(pair.a->stats.wakeups == 1);
}

TEST_CASE("a signal ends a wait")
{
    Pair pair;
    struct sigaction action = {}, before;
    pthread_t self = pthread_self();
    std::atomic<bool> done = false;

    action.sa_handler = [](int) {};
    REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);
    std::thread signaller([&] {
        while (!done) {
            pthread_kill(self, SIGUSR1);
            std::this_thread::yield();
        }
    });
    int result = unet_wait(pair.b, static_cast<int>(milliseconds(patience).count()));
    done = true;
    signaller.join();
    sigaction(SIGUSR1, &before, nullptr);
    CHECK(result == -EINTR);
}

TEST_CASE("wait services the send queue", "[reliable]")
{
    Pair pair;
    unet_piece piece = {0, 10};
    uint32_t ticket;

    REQUIRE(unet_send(pair.a, pair.ab, 0, &piece, 1, &ticket) == 0);
    give_buffers(pair.b, 1, 64);
    CHECK(unet_wait(pair.a, 20) == 0);
    CHECK(unet_sent(pair.a, ticket));
    CHECK(take(pair.b).length == 10);
}

TEST_CASE("wait ends when the peer opens its side, and when it closes", "[shared]")
{
    Endpoint a, b;
    struct unet_address to_a = a.address(), to_b = b.address();
    int forever = static_cast<int>(milliseconds(patience).count());
    uint16_t ab, ba;

    REQUIRE(unet_connect(a, &to_b, 1, &ab) == 0);
    std::thread peer([&] {
        eventually([&] { return __atomic_load_n(a->armed, __ATOMIC_RELAXED) != 0; });
        unet_connect(b, &to_a, 1, &ba);
    });
    auto start = steady_clock::now();
    CHECK(unet_wait(a, forever) == 0);
    peer.join();
    CHECK(unet_channel_state(a, ab) == UNET_OPEN);
    CHECK(b->stats.wakeups == 1); // not by chance

    std::thread closer([&] {
        eventually([&] { return __atomic_load_n(a->armed, __ATOMIC_RELAXED) != 0; });
        b.close();
    });
    CHECK(unet_wait(a, forever) == 0);
    closer.join();
    CHECK(is_dead(a, ab));
    CHECK(steady_clock::now() - start < patience);
}

TEST_CASE("the descriptor works in an epoll set", "[bell]")
{
    Pair pair;
    int set = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event = {};

    pair.settle();
    event.events = EPOLLIN;
    REQUIRE(epoll_ctl(set, EPOLL_CTL_ADD, unet_fd(pair.b), &event) == 0);
    for (int round = 0; round < 100; round++) {
        int ms = 20000;

        REQUIRE(unet_arm(pair.b, &ms) == 0);
        CHECK(epoll_wait(set, &event, 1, 0) == 0);
        REQUIRE(send_text(pair.a, pair.ab, "x", 1) == 0);
        REQUIRE(epoll_wait(set, &event, 1, 20000) == 1);
        unet_disarm(pair.b);
        CHECK(take(pair.b).user == 1);
        CHECK(take(pair.b).kind == UNET_EMPTY);
        CHECK(epoll_wait(set, &event, 1, 0) == 0);
    }
    close(set);
}

TEST_CASE("a disarmed endpoint is not rung, an armed one once", "[shared]")
{
    Pair pair;
    pollfd fd = {unet_fd(pair.b), POLLIN, 0};

    REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
    CHECK(poll(&fd, 1, 0) == 0);
    CHECK(unet_arm(pair.b, nullptr) == 1);
    take(pair.b);
    CHECK(unet_arm(pair.b, nullptr) == 0);
    for (int i = 0; i < 10; i++)
        REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
    CHECK(poll(&fd, 1, 0) == 1);
    CHECK(pair.a->stats.wakeups == 1);
    unet_disarm(pair.b);
    CHECK(poll(&fd, 1, 0) == 0);
}

TEST_CASE("who no longer sleeps is not rung", "[shared]")
{
    Pair pair;
    pollfd fd = {unet_fd(pair.b), POLLIN, 0};

    SECTION("because it has disarmed")
    {
        REQUIRE(unet_arm(pair.b, nullptr) == 0);
        unet_disarm(pair.b);
    }
    SECTION("because a message was there")
    {
        REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
        REQUIRE(unet_arm(pair.b, nullptr) == 1);
    }
    SECTION("because it has waited long enough")
    {
        REQUIRE(unet_wait(pair.b, 1) == 0);
    }
    REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
    CHECK(pair.a->stats.wakeups == 0);
    CHECK(poll(&fd, 1, 0) == 0);
}

TEST_CASE("nobody rings who only polls", "[shared]")
{
    const unet_piece piece = {0, 100};
    unet_config config = {};

    config.polled = true;
    Pair pair(config);
    give_buffers(pair.b, 1, 4096);
    REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
    REQUIRE(unet_send(pair.a, pair.ab, 0, &piece, 1, nullptr) == 0);
    CHECK(take(pair.b).length == 1);
    CHECK(await(pair.b).length == 100);
    CHECK(pair.a->stats.wakeups == 0);
}

TEST_CASE("a sender makes no fence for who makes it itself", "[shared]")
{
    Pair pair;

    CHECK(pair.a->fences_for_others == pair.b->fences_for_others); // as the kernel allows
    CHECK(pair.a->channel[pair.ab].fence == !pair.b->fences_for_others);
    CHECK(pair.b->channel[pair.ba].fence == !pair.a->fences_for_others);
}

TEST_CASE("arming asks for a shorter sleep only while something waits to be sent")
{
    Pair pair;
    int ms = 10000;

    REQUIRE(unet_arm(pair.b, &ms) == 0);
    CHECK(ms == 10000);
    unet_disarm(pair.b);
    ms = -1;
    REQUIRE(unet_arm(pair.b, &ms) == 0);
    CHECK(ms == -1);
    unet_disarm(pair.b);
}

TEST_CASE("nobody rings who sends when there is room again, so its sleep is short",
          "[reliable][lanes]")
{
    Pair pair;
    const unet_piece piece = {0, 10};
    int ms = 10000;

    REQUIRE(unet_send(pair.a, pair.ab, 0, &piece, 1, nullptr) == 0); // b has no buffer
    REQUIRE(unet_arm(pair.a, &ms) == 0);
    CHECK(ms < 100);
    unet_disarm(pair.a);
    ms = 0;
    REQUIRE(unet_arm(pair.a, &ms) == 0);
    CHECK(ms == 0);
    unet_disarm(pair.a);
}

TEST_CASE("who wakes up knows which of its peers have gone", "[shared]")
{
    Endpoint hub, left, right;
    uint16_t to_left, to_right, from_left, from_right;

    join(hub, left, 1, to_left, from_left);
    join(hub, right, 2, to_right, from_right);
    REQUIRE(unet_arm(hub, nullptr) == 0);
    right.close();
    unet_disarm(hub);
    CHECK(hub->channel[to_left].state == UNET_OPEN);
    CHECK(hub->channel[to_right].state == UNET_DEAD);
}

TEST_CASE("no wake-up is lost between arming and sleeping")
{
    constexpr uint32_t rounds = 20000;
    Pair pair;
    std::atomic<bool> failed = false;
    auto wait_for = [&](unet_endpoint *ep, uint32_t expected) {
        Deadline deadline;
        while (unet_wait(ep, 10000) != 1) {
            if (deadline.passed())
                return false;
        }
        return take(ep).user == expected;
    };
    std::thread echo([&] {
        for (uint32_t i = 0; i < rounds && !failed; i++) {
            if (!wait_for(pair.b, i) || send_text(pair.b, pair.ba, "pong", i) != 0)
                failed = true;
        }
    });
    for (uint32_t i = 0; i < rounds && !failed; i++) {
        if (send_text(pair.a, pair.ab, "ping", i) != 0 || !wait_for(pair.a, i))
            failed = true;
    }
    echo.join();
    CHECK_FALSE(failed);
}

TEST_CASE("many senders and one sleeping receiver lose nothing", "[reliable][lanes]")
{
    constexpr uint32_t senders = 4, messages = 10000;
    Endpoint hub, s[senders];
    uint16_t at_hub[senders], to_hub[senders];
    std::vector<std::thread> threads;
    uint32_t next[senders] = {}, received = 0;
    bool in_order = true;

    for (uint32_t i = 0; i < senders; i++)
        join(hub, s[i], i, at_hub[i], to_hub[i]);
    for (uint32_t i = 0; i < senders; i++) {
        threads.emplace_back([&, i] {
            Deadline deadline;
            for (uint32_t k = 0; k < messages && !deadline.passed();) {
                if (unet_send_inline(s[i], to_hub[i], i, &k, sizeof k) == 0)
                    k++;
                else
                    std::this_thread::yield();
            }
        });
    }
    for (Deadline deadline; received < senders * messages && !deadline.passed();) {
        unet_wait(hub, 1000);
        for (Message m; (m = take(hub)).kind != UNET_EMPTY; received++) {
            uint32_t k = m.bytes[0] | m.bytes[1] << 8;
            in_order = in_order && k == next[m.user]++;
        }
    }
    for (std::thread &t : threads)
        t.join();
    CHECK(received == senders * messages);
    CHECK(in_order);
}

TEST_CASE("senders in threads share the free queue safely", "[reliable]")
{
    constexpr uint32_t senders = 3, messages = 1000, size = 512;
    Endpoint hub, s[senders];
    uint16_t at_hub[senders], to_hub[senders];
    std::vector<std::thread> threads;
    uint32_t received = 0, torn = 0;

    give_buffers(hub, 24, size);
    for (uint32_t i = 0; i < senders; i++) {
        join(hub, s[i], i, at_hub[i], to_hub[i]);
        fill(s[i], 0, Bytes(2048, static_cast<uint8_t>(i)));
    }
    for (uint32_t i = 0; i < senders; i++) {
        threads.emplace_back([&, i] {
            Deadline deadline;
            for (uint32_t k = 0; k < messages && !deadline.passed();) {
                unet_piece piece = {0, 1 + k * 37 % 2000};
                if (unet_send(s[i], to_hub[i], i, &piece, 1, nullptr) == 0)
                    k++;
                else
                    std::this_thread::yield();
                unet_progress(s[i]);
            }
            while (s[i]->tx.position != s[i]->tx.shared->consumed && !deadline.passed())
                unet_progress(s[i]);
        });
    }
    for (Deadline deadline; received < senders * messages && !deadline.passed();) {
        Message m = take(hub, size);
        if (m.kind == UNET_EMPTY) { // spinning would keep the senders from sending
            unet_wait(hub, 1000);
            continue;
        }
        torn += m.bytes != Bytes(m.length, static_cast<uint8_t>(m.user));
        received++;
    }
    for (std::thread &t : threads)
        t.join();
    CHECK(received == senders * messages);
    CHECK(torn == 0);
}
