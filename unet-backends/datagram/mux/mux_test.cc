// SPDX-License-Identifier: BSD-3-Clause
//
// The suite, over udp unless UNET_MUX_BACKEND says otherwise; and what is mux's own: that all share
// one real endpoint.
#include "conformance/harness.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <vector>

const Backend backend_under_test = {.name = "mux"};

static const int over_udp = setenv("UNET_MUX_BACKEND", "udp", 0);

TEST_CASE("mux: a hundred endpoints have two descriptors each, and share the real one's")
{
    const size_t before = open_descriptors();
    {
        Endpoint first;
        const size_t one = open_descriptors();
        std::vector<std::unique_ptr<Endpoint>> others;

        for (int i = 0; i < 99; i++)
            others.push_back(std::make_unique<Endpoint>());
        CHECK(open_descriptors() == one + 2 * others.size());
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("mux: messages find their endpoint among many")
{
    std::vector<std::unique_ptr<Pair>> pairs;

    for (int i = 0; i < 20; i++)
        pairs.push_back(std::make_unique<Pair>());
    for (size_t i = 0; i < pairs.size(); i++)
        REQUIRE(send_text(pairs[i]->a, pairs[i]->ab, "for " + std::to_string(i)) == 0);
    for (size_t i = pairs.size(); i-- > 0;)
        CHECK(text(await(pairs[i]->b)) == "for " + std::to_string(i));
}

TEST_CASE("mux: what is no real backend is refused")
{
    const std::string kept = getenv("UNET_MUX_BACKEND");

    REQUIRE(over_udp == 0);

    for (const char *name : {"mux", "shm", "loopback", "no-such", ""}) {
        INFO(name);
        unet_endpoint *ep = nullptr;
        setenv("UNET_MUX_BACKEND", name, 1);
        CHECK(unet_open(unet_backend("mux"), nullptr, &ep) == -EINVAL);
    }
    setenv("UNET_MUX_BACKEND", kept.c_str(), 1);
}
