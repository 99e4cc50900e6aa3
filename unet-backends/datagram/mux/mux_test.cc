// SPDX-License-Identifier: BSD-3-Clause
//
// The suite, over udp unless UNET_MUX_BACKEND says otherwise; and what is mux's own: that all share
// one real endpoint.
#include "conformance/process.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <vector>

extern "C" {
#include "datagram/datagram.h"
}

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

TEST_CASE("mux: between processes the real endpoint's buffers are used again and again")
{
    constexpr uint32_t messages = 600; // more than it has
    Board board;
    Endpoint ep;
    const auto content = [](uint32_t i) { return pattern(100 + i % 900, i); };
    Child child([&] {
        Endpoint far;

        give_buffers(far, 4, 4096);
        board.show(1, far);
        const uint16_t channel = meet(far, board, 0, 7);
        bool good = channel != 0;
        for (uint32_t i = 0; good && i < messages; i++)
            good = await(far, 4096).bytes == content(i) &&
                   unet_send_inline(far, channel, i, nullptr, 0) == 0;
        return good;
    });

    board.show(0, ep);
    const uint16_t channel = meet(ep, board, 1, 7);
    REQUIRE(channel != 0);
    for (uint32_t i = 0; i < messages; i++) {
        const Bytes bytes = content(i);
        const unet_piece piece = {i % 7 * 1000, static_cast<uint32_t>(bytes.size())};

        fill(ep, piece.offset, bytes);
        REQUIRE(unet_send(ep, channel, 0, &piece, 1, nullptr) == 0);
        const Message answer = await(ep);
        REQUIRE(answer.kind == UNET_INLINE);
        REQUIRE(answer.user == i);
    }
    CHECK(child.wait() == 0);
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

TEST_CASE("frame: a network that has no room is tried again, but not for ever")
{
    datagram_endpoint de = {};

    for (int round = 0; round < 2; round++) {
        int tries = 0;

        while (unet_datagram_no_room(&de) == 0 && tries < 1000000)
            tries++;
        CHECK((tries > 0 && tries < 1000000));
    }
}
