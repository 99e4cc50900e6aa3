// SPDX-License-Identifier: BSD-3-Clause
//
// Upcalls by signal and by thread.
#include "conformance/harness.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <poll.h>
#include <thread>
#include <unistd.h>

namespace {

// What the upcall sees and does; no allocation, because it may run in a signal handler.
struct Drain {
    std::atomic<uint32_t> calls{0};
    std::atomic<uint32_t> messages{0};
    std::atomic<bool> drains{true};
    std::atomic<bool> in_section{false};
    std::atomic<bool> intruded{false};

    static void run(unet_endpoint *ep, void *arg)
    {
        auto *self = static_cast<Drain *>(arg);

        if (self->in_section)
            self->intruded = true;
        while (self->drains && unet_rx_peek(ep)) {
            unet_rx_release(ep);
            self->messages++;
        }
        self->calls++;
    }
};

unet_upcall_mode any_mode()
{
    return GENERATE(UNET_UPCALL_SIGNAL, UNET_UPCALL_THREAD);
}

// Lets the upcall of a bell that was just rung, or of a frame that came, happen, if one is to
// happen at all: it begins by silencing the bell and emptying the socket, and the mask waits for
// its end.
bool bell_is_quiet(unet_endpoint *ep)
{
    bool quiet = eventually([&] {
        pollfd fd[] = {{unet_fd(ep), POLLIN, 0}, {ep->bell[0], POLLIN, 0}};
        return poll(fd, 2, 0) == 0;
    });

    unet_upcall_mask(ep);
    unet_upcall_unmask(ep);
    return quiet;
}

} // namespace

TEST_CASE("an upcall runs when a message comes, and drains")
{
    Pair pair;
    Drain drain;

    REQUIRE(unet_upcall(pair.b, any_mode(), UNET_NONEMPTY, Drain::run, &drain) == 0);
    for (uint32_t i = 1; i <= 100; i++) {
        REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
        REQUIRE(eventually([&] { return drain.messages == i; }));
    }
    REQUIRE(unet_upcall(pair.b, UNET_UPCALL_NONE, 0, nullptr, nullptr) == 0);
    CHECK(drain.calls >= 1);
    CHECK(pair.b->stats.upcalls == drain.calls);
}

TEST_CASE("an upcall asked for late tells of what is there already")
{
    Pair pair;
    Drain drain;

    REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
    REQUIRE(unet_upcall(pair.b, any_mode(), UNET_NONEMPTY, Drain::run, &drain) == 0);
    CHECK(eventually([&] { return drain.messages == 1; }));
}

TEST_CASE("one upcall takes many messages")
{
    Pair pair;
    Drain drain;

    REQUIRE(unet_upcall(pair.b, any_mode(), UNET_NONEMPTY, Drain::run, &drain) == 0);
    unet_upcall_mask(pair.b);
    for (int i = 0; i < 100; i++)
        REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
    settle_arrivals(pair.b, 100);
    unet_upcall_unmask(pair.b);
    CHECK(eventually([&] { return drain.messages == 100; }));
    CHECK(drain.calls <= (backend_under_test.detour ? 99u : 1u));
}

TEST_CASE("an upcall is not repeated for messages it left")
{
    Pair pair;
    Drain drain;

    // Its NI is done with the opening, which rings the bell, too.
    REQUIRE(send_text(pair.b, pair.ba, "open") == 0);
    REQUIRE(text(await(pair.a)) == "open");
    drain.drains = false;
    REQUIRE(unet_upcall(pair.b, any_mode(), UNET_NONEMPTY, Drain::run, &drain) == 0);
    REQUIRE(bell_is_quiet(pair.b)); // it looks once when it begins
    REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
    REQUIRE(eventually([&] { return drain.calls == 1; }));
    REQUIRE(bell_is_quiet(pair.b));
    CHECK(drain.calls == 1);
    REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
    CHECK(eventually([&] { return drain.calls == 2; }));
}

TEST_CASE("an upcall is not repeated because a wired endpoint was looked at again")
{
    Pair pair;
    Drain drain;

    if (!pair.b->wired)
        return; // its bell is rung by those who send, and only when a message comes
    drain.drains = false;
    REQUIRE(unet_upcall(pair.b, any_mode(), UNET_NONEMPTY, Drain::run, &drain) == 0);
    for (uint32_t i = 1; i <= 20; i++) {
        REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
        REQUIRE(eventually([&] { return drain.calls == i; }));
        REQUIRE(write(pair.b->bell[1], "", 1) == 1);
        REQUIRE(bell_is_quiet(pair.b));
        REQUIRE(drain.calls == i);
    }
}

TEST_CASE("the almost-full condition holds from three quarters of a ring on")
{
    unet_config config = {};
    config.recv_slots = 64;
    Pair pair(config);
    Drain drain;

    REQUIRE(unet_upcall(pair.b, any_mode(), UNET_ALMOST_FULL, Drain::run, &drain) == 0);
    for (int round = 0; round < 3; round++) {
        uint32_t before = drain.messages;

        for (int i = 0; i < 47; i++)
            REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
        REQUIRE(bell_is_quiet(pair.b));
        CHECK(drain.messages == before);
        REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
        CHECK(eventually([&] { return drain.messages == before + 48; }));
    }
}

TEST_CASE("a masked upcall does not run and is told at unmask")
{
    Pair pair;
    Drain drain;

    REQUIRE(unet_upcall(pair.b, any_mode(), UNET_NONEMPTY, Drain::run, &drain) == 0);
    for (uint32_t round = 1; round <= 200; round++) {
        unet_upcall_mask(pair.b);
        drain.in_section = true;
        REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
        REQUIRE(eventually([&] { return unet_progress(pair.b) >= 0 && unet_rx_peek(pair.b); }));
        const unet_desc *desc = unet_rx_peek(pair.b);
        REQUIRE(desc != nullptr);
        REQUIRE(drain.messages == round - 1);
        drain.in_section = false;
        unet_upcall_unmask(pair.b);
        REQUIRE(eventually([&] { return drain.messages == round; }));
    }
    CHECK_FALSE(drain.intruded);
}

TEST_CASE("masking excludes upcalls while messages pour in", "[reliable]")
{
    Pair pair;
    Drain drain;
    constexpr uint32_t messages = 4000;
    uint32_t mine = 0;

    REQUIRE(unet_upcall(pair.b, any_mode(), UNET_NONEMPTY, Drain::run, &drain) == 0);
    std::thread sender([&] {
        Deadline deadline;
        for (uint32_t i = 0; i < messages && !deadline.passed();)
            i += send_text(pair.a, pair.ab, "x", i) == 0;
    });
    for (Deadline deadline; mine + drain.messages < messages && !deadline.passed();) {
        unet_upcall_mask(pair.b);
        drain.in_section = true;
        for (int i = 0; i < 10 && unet_rx_peek(pair.b); i++, mine++)
            unet_rx_release(pair.b);
        drain.in_section = false;
        unet_upcall_unmask(pair.b);
    }
    sender.join();
    CHECK(mine + drain.messages == messages);
    CHECK_FALSE(drain.intruded);
}

TEST_CASE("upcalls end when they are asked to, and can change their kind")
{
    Pair pair;
    Drain drain;

    for (int i = 0; i < 50; i++) {
        auto mode = i % 2 ? UNET_UPCALL_SIGNAL : UNET_UPCALL_THREAD;

        REQUIRE(unet_upcall(pair.b, mode, UNET_NONEMPTY, Drain::run, &drain) == 0);
        REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
        REQUIRE(eventually([&] { return drain.messages == uint32_t(i) + 1; }));
    }
    REQUIRE(unet_upcall(pair.b, UNET_UPCALL_NONE, 0, nullptr, nullptr) == 0);
    REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
    CHECK(drain.messages == 50);
    CHECK(unet_wait(pair.b, 1000) == 1);
}

TEST_CASE("an endpoint with upcalls closes cleanly while messages pour in")
{
    unet_upcall_mode mode = any_mode();
    size_t before = open_descriptors();

    for (int i = 0; i < 30; i++) {
        Pair pair;
        Drain drain;

        REQUIRE(unet_upcall(pair.b, mode, UNET_NONEMPTY, Drain::run, &drain) == 0);
        for (int k = 0; k < 10; k++)
            send_text(pair.a, pair.ab, "x");
        pair.b.close();
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("an upcall may answer")
{
    Pair pair;
    auto answer = [](unet_endpoint *ep, void *arg) {
        while (const unet_desc *desc = unet_rx_peek(ep)) {
            uint32_t user = desc->user;
            unet_rx_release(ep);
            unet_send_inline(ep, *static_cast<uint16_t *>(arg), user, "answer", 6);
        }
    };

    REQUIRE(unet_upcall(pair.b, any_mode(), UNET_NONEMPTY, answer, &pair.ba) == 0);
    for (uint32_t i = 0; i < 500; i++) {
        REQUIRE(send_text(pair.a, pair.ab, "question", i) == 0);
        REQUIRE(await(pair.a).user == i);
    }
}

TEST_CASE("an upcall cannot end itself")
{
    Pair pair;
    std::atomic<int> result = 0;
    auto end_myself = [](unet_endpoint *ep, void *arg) {
        while (unet_rx_peek(ep))
            unet_rx_release(ep);
        *static_cast<std::atomic<int> *>(arg) =
            unet_upcall(ep, UNET_UPCALL_NONE, 0, nullptr, nullptr);
    };

    REQUIRE(unet_upcall(pair.b, any_mode(), UNET_NONEMPTY, end_myself, &result) == 0);
    REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
    CHECK(eventually([&] { return result == -EDEADLK; }));
}

TEST_CASE("who only polls has no upcalls, and may say so")
{
    unet_config config = {};
    config.polled = true;
    Endpoint ep(config);
    Drain drain;

    CHECK(unet_upcall(ep, any_mode(), UNET_NONEMPTY, Drain::run, &drain) == -EOPNOTSUPP);
    CHECK(unet_upcall(ep, UNET_UPCALL_NONE, 0, nullptr, nullptr) == 0);
}

TEST_CASE("wrong requests for upcalls are refused")
{
    Pair pair;
    Drain drain;

    CHECK(unet_upcall(pair.b, UNET_UPCALL_THREAD, 0, Drain::run, &drain) == -EINVAL);
    CHECK(unet_upcall(pair.b, UNET_UPCALL_THREAD, 8, Drain::run, &drain) == -EINVAL);
    CHECK(unet_upcall(pair.b, UNET_UPCALL_THREAD, UNET_NONEMPTY, nullptr, &drain) == -EINVAL);
    CHECK(unet_upcall(pair.b, static_cast<unet_upcall_mode>(9), UNET_NONEMPTY, Drain::run,
                      &drain) == -EINVAL);
    REQUIRE(unet_upcall(pair.b, UNET_UPCALL_SIGNAL, UNET_NONEMPTY, Drain::run, &drain) == 0);
    CHECK(unet_upcall(pair.a, UNET_UPCALL_SIGNAL, UNET_NONEMPTY, Drain::run, &drain) == -EBUSY);
    CHECK(unet_wait(pair.a, 0) == 0); // has none
    CHECK(unet_wait(pair.b, 0) == -EBUSY);
    CHECK(unet_arm(pair.b, nullptr) == -EBUSY);
    CHECK(unet_upcall(pair.b, UNET_UPCALL_SIGNAL, 0, Drain::run, &drain) == -EINVAL);
    CHECK(unet_wait(pair.b, 0) == -EBUSY); // keeps what it has
    REQUIRE(unet_upcall(pair.b, UNET_UPCALL_NONE, 0, nullptr, nullptr) == 0);
    CHECK(unet_upcall(pair.b, UNET_UPCALL_NONE, 0, nullptr, nullptr) == 0);
    CHECK(unet_wait(pair.b, 0) == 0);
}
