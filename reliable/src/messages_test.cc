// SPDX-License-Identifier: BSD-3-Clause
//
// messages_test.cc - which of the owner's free buffers messages come to, and when they go.
#include "test/pair.h"

#include <set>
#include <string>

using pair::BUFFER;
using pair::BUFFERS;
using pair::Pair;

namespace {

// Sends a message that needs a buffer; where it came to, which is not given back.
uint32_t receive_one(Pair &pair)
{
    const std::string text(3000, 'x');
    const iovec iov = {const_cast<char *>(text.data()), text.size()};

    REQUIRE(unet_sendv(pair.ep[0], pair.channel[0], 1, &iov, 1) == 0);
    const unet_desc *slot = pair.await(1);

    REQUIRE(slot);
    REQUIRE(slot->kind == UNET_PIECES);
    const uint32_t offset = slot->piece[0].offset;

    unet_rx_release(pair.ep[1]);
    return offset;
}

} // namespace

TEST_CASE("a buffer that was given back is the next to be used, so others stay untouched")
{
    Pair pair;
    const uint32_t first = receive_one(pair);

    for (int i = 0; i < 100; i++) {
        REQUIRE(unet_free_put(pair.ep[1], first, BUFFER) == 0);
        REQUIRE(receive_one(pair) == first);
    }
}

TEST_CASE("more buffers than the free queue has slots are used, each once")
{
    Pair pair;
    std::set<uint32_t> used = {receive_one(pair)};

    // The endpoint has collected the others, so the queue has room again.
    for (uint32_t i = BUFFERS; i < 2 * BUFFERS; i++)
        REQUIRE(unet_free_put(pair.ep[1], i * BUFFER, BUFFER) == 0);
    while (used.size() < size_t{2} * BUFFERS)
        REQUIRE(used.insert(receive_one(pair)).second);
    CHECK(pair.ep[1]->stats.overruns == 0);
}

// A packet that is not full waits while another one is on its way, unless it is pushed.
TEST_CASE("what waits for more messages goes when it is pushed")
{
    Pair pair;
    const std::string text(3000, 'x');
    const iovec iov = {const_cast<char *>(text.data()), text.size()};
    const unet_desc *slot;

    REQUIRE(unet_sendv(pair.ep[0], pair.channel[0], 1, &iov, 1) == 0);
    slot = pair.await(1);
    REQUIRE(slot);
    unet_rx_release(pair.ep[1]);
    for (int i = 0; i < 12; i++)
        REQUIRE(unet_send_inline(pair.ep[0], pair.channel[0], 7, "short", 5) == 0);
    CHECK(unet_push_packets(pair.ep[0], pair.channel[0]) == 0);
    for (int came = 0; came < 12; came++) { // although rank 0 does nothing more
        for (int i = 0; i < 100000 && !unet_rx_peek(pair.ep[1]); i++)
            unet_progress(pair.ep[1]);
        REQUIRE(unet_rx_peek(pair.ep[1]));
        unet_rx_release(pair.ep[1]);
    }
}

TEST_CASE("what waits for acknowledgements is counted, until they have come")
{
    Pair pair;
    const std::string text(8000, 'x');
    const iovec iov = {const_cast<char *>(text.data()), text.size()};

    CHECK(unet_push_packets(pair.ep[0], pair.channel[0]) == 0);
    for (int i = 0; i < 20 && unet_sendv(pair.ep[0], pair.channel[0], 1, &iov, 1) == 0; i++)
        ;
    CHECK(unet_push_packets(pair.ep[0], pair.channel[0]) > 0);
    for (int i = 0; i < 100000 && unet_push_packets(pair.ep[0], pair.channel[0]) > 0; i++)
        pair.step();
    CHECK(unet_push_packets(pair.ep[0], pair.channel[0]) == 0);
}
