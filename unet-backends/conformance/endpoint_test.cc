// SPDX-License-Identifier: BSD-3-Clause
//
// Opening and closing endpoints.
#include "conformance/harness.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <sys/resource.h>
#include <unistd.h>

static int try_open(const unet_config &config)
{
    unet_endpoint *ep = nullptr;
    int error = unet_open(unet_backend(backend_under_test.name), &config, &ep);

    unet_close(ep);
    return error;
}

TEST_CASE("defaults fill in what the configuration leaves at zero")
{
    unet_endpoint *ep;

    REQUIRE(unet_open(unet_backend(backend_under_test.name), nullptr, &ep) == 0);
    CHECK(ep->config.segment_bytes == 1u << 20);
    CHECK(ep->config.send_slots == 64);
    CHECK(ep->config.recv_slots == 128);
    CHECK(ep->config.free_slots == 256);
    CHECK(ep->config.channels == 64);
    CHECK_FALSE(ep->config.polled);
    CHECK(ep->ops->name == std::string(backend_under_test.name));
    unet_close(ep);
}

TEST_CASE("sizes out of their range are refused")
{
    unet_config config = {};

    SECTION("segment not a multiple of a page")
    {
        config.segment_bytes = 4097;
    }
    SECTION("segment smaller than a page")
    {
        config.segment_bytes = 100;
    }
    SECTION("send slots not a power of two")
    {
        config.send_slots = 48;
    }
    SECTION("too few receive slots")
    {
        config.recv_slots = 2;
    }
    SECTION("too many free slots")
    {
        config.free_slots = 131072;
    }
    SECTION("too many channels")
    {
        config.channels = 65536;
    }
    CHECK(try_open(config) == -EINVAL);
}

TEST_CASE("the smallest sizes work")
{
    CHECK(try_open({4096, 4, 4, 4, 1, false, false}) == 0);
}

TEST_CASE("many channels and a large segment work", "[lazy]")
{
    CHECK(try_open({1u << 30, 65536, 4, 65536, 65535, false, false}) == 0);
}

TEST_CASE("a new endpoint is empty")
{
    Endpoint e;

    CHECK(unet_rx_peek(e) == nullptr);
    CHECK(unet_progress(e) == 0);
    CHECK(unet_wait(e, 0) == 0);
    CHECK(unet_channel_state(e, 0) == UNET_CLOSED);
    CHECK(unet_channel_state(e, 1) == UNET_CLOSED);
    CHECK(unet_channel_state(e, 65535) == UNET_CLOSED);
    CHECK(e->segment[0] == 0);
    CHECK(e->segment[e->config.segment_bytes - 1] == 0);
}

TEST_CASE("a polled endpoint cannot sleep and has no descriptor")
{
    unet_config config = {};
    config.polled = true;
    Endpoint e(config);

    CHECK(unet_wait(e, 0) == -EOPNOTSUPP);
    CHECK(unet_fd(e) == -EOPNOTSUPP);
    CHECK(unet_arm(e, nullptr) == -EOPNOTSUPP);
    CHECK(unet_upcall(
              e, UNET_UPCALL_THREAD, UNET_NONEMPTY, [](unet_endpoint *, void *) {}, nullptr) ==
          -EOPNOTSUPP);
    CHECK(unet_upcall(e, UNET_UPCALL_NONE, 0, nullptr, nullptr) == 0);
}

TEST_CASE("addresses differ and fit")
{
    Endpoint a, b;
    struct unet_address to_a = a.address(), to_b = b.address();

    CHECK(to_a.length > 0);
    CHECK(to_a.length <= UNET_ADDRESS_MAX);
    CHECK(Bytes(to_a.bytes, to_a.bytes + to_a.length) !=
          Bytes(to_b.bytes, to_b.bytes + to_b.length));
}

TEST_CASE("closing gives everything back", "[many]")
{
    size_t before = open_descriptors();

    for (int i = 0; i < 50; i++) {
        Pair pair;

        REQUIRE(send_text(pair.a, pair.ab, "in flight") == 0);
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("running out of descriptors is reported and leaves nothing behind")
{
    size_t before = open_descriptors();
    rlimit limit, low;

    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    low = limit;
    const int lowest = dup(0); // those in use need not be the first ones
    REQUIRE(lowest >= 0);
    close(lowest);
    for (size_t spare = 0; spare < 3; spare++) {
        low.rlim_cur = static_cast<rlim_t>(lowest) + spare;
        REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
        int error = try_open({});
        REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        CHECK((error == -EMFILE || (error == 0 && spare > 0)));
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("backends are listed once each, and found by name")
{
    const unet_ops *ops;
    unsigned seen = 0;

    for (unsigned i = 0; (ops = unet_backend_at(i)); i++) {
        CHECK(unet_backend(ops->name) == ops);
        seen += ops->name == std::string(backend_under_test.name);
    }
    CHECK(seen == 1);
    CHECK(unet_backend("no such backend") == nullptr);
    CHECK(unet_backend("") == nullptr);
}
