// SPDX-License-Identifier: BSD-3-Clause
//
// A peer that composes its packets by hand: rank 1 is a bare endpoint of a network that may lose
// messages, rank 0 an instance of GAM.
#include <catch2/catch.hpp>

#include <cstring>
#include <functional>
#include <gam/gam.h>
#include <string>
#include <unet/unet.h>
#include <unet/unet_chaos.h>
#include <vector>

extern "C" {
#include "src/mac.h"
#include "src/wire.h"
}

namespace {

constexpr uint64_t KEY[2] = {42, 43};
constexpr unet_chaos NO_FAULTS = {0, 0, 0, 0, 0, 1};
enum { GOOD = 1 };

uint64_t handled;

class Forger {
public:
    gam *g = nullptr;

    Forger()
    {
        unet_config sizes = {};
        gam_config config = {};

        handled = 0;
        gam_mac_open(&mac_, KEY);
        gam_endpoint_config(2, 0, &sizes);
        for (unet_endpoint *&one : ep_)
            REQUIRE(unet_chaos_open(unet_backend("loopback"), &NO_FAULTS, &sizes, &one) == 0);
        config.ranks = 2;
        config.key[0] = KEY[0];
        config.key[1] = KEY[1];
        config.resolve = [](void *arg, uint32_t rank, struct unet_address *address) {
            unet_address(static_cast<unet_endpoint **>(arg)[rank], address);
            return 0;
        };
        config.resolve_arg = ep_;
        REQUIRE(gam_open(ep_[0], &config, &g) == 0);
        REQUIRE(gam_register(g, GOOD, [](gam *, const gam_message *) { handled++; }) == 0);
        connect();
    }
    ~Forger()
    {
        gam_close(g);
        for (unet_endpoint *one : ep_)
            unet_close(one);
    }
    Forger(const Forger &) = delete;
    Forger &operator=(const Forger &) = delete;

    // The next packet, with one frame of zero bytes.
    std::vector<uint8_t> packet(uint32_t user, uint16_t length = 0, bool more = false)
    {
        std::vector<uint8_t> bytes(sizeof(gam_packet) + sizeof(gam_frame) + length);
        gam_packet header = {};
        gam_frame frame = {user, length, static_cast<uint16_t>(more ? GAM_FRAME_MORE : 0)};

        header.number = ++number_;
        header.ack = 1;
        header.source = 1;
        header.length = static_cast<uint16_t>(sizeof frame + length);
        header.window = 1;
        header.version = GAM_PACKET_VERSION;
        std::memcpy(bytes.data() + sizeof header, &frame, sizeof frame);
        std::memcpy(bytes.data(), &header, sizeof header);
        std::memcpy(ep_[1]->segment, bytes.data(), bytes.size()); // the hash wants it aligned
        header.mac = gam_packet_mac(&mac_, reinterpret_cast<gam_packet *>(ep_[1]->segment),
                                    header.ack, bytes.size());
        std::memcpy(bytes.data(), &header, sizeof header);
        return bytes;
    }

    // Sends it, and lets rank 0 look.
    void send(const std::vector<uint8_t> &bytes)
    {
        const unet_piece piece = {0, static_cast<uint32_t>(bytes.size())};
        uint32_t ticket;

        std::memcpy(ep_[1]->segment, bytes.data(), bytes.size());
        REQUIRE(unet_send(ep_[1], channel_, 0, &piece, 1, &ticket) == 0);
        for (int i = 0; i < 1000 && !unet_sent(ep_[1], ticket); i++)
            serve();
        REQUIRE(unet_sent(ep_[1], ticket));
        serve();
    }

private:
    void connect()
    {
        struct unet_address address;

        unet_address(ep_[0], &address);
        REQUIRE(unet_connect(ep_[1], &address, gam_tag(KEY, 0, 1), &channel_) == 0);
        for (int i = 0; i < 10000 && (unet_channel_state(ep_[1], channel_) != UNET_OPEN ||
                                      unet_channel_state(ep_[0], 2) != UNET_OPEN);
             i++)
            serve();
        REQUIRE(unet_channel_state(ep_[1], channel_) == UNET_OPEN);
    }

    // What rank 0 answers finds no buffer, and is lost.
    void serve()
    {
        unet_progress(ep_[1]);
        while (gam_poll(g) > 0)
            continue;
    }

    unet_endpoint *ep_[2] = {};
    uint16_t channel_ = 0;
    uint64_t number_ = 0;
    gam_mac mac_;
};

const uint32_t request = gam_user(GAM_REQUEST, GOOD, 0);

} // namespace

TEST_CASE("a request in a packet of the peer's is handled, once")
{
    Forger f;
    const auto packet = f.packet(request);

    for (int i = 0; i < 3; i++)
        f.send(packet);
    CHECK(handled == 1);
}

TEST_CASE("a packet of which one bit is another does nothing")
{
    Forger f;
    const auto packet = f.packet(request);

    for (size_t bit = 0; bit < 8 * packet.size(); bit++) {
        auto forged = packet;

        forged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
        f.send(forged);
        INFO("bit " << bit);
        REQUIRE(handled == 0);
    }
    f.send(packet);
    CHECK(handled == 1);
}

TEST_CASE("a message longer than any is dropped as it comes, and the next one arrives")
{
    constexpr int length = 1000;
    const int parts = GENERATE(10, 4000); // more than all buffers together
    Forger f;

    INFO(parts << " packets of " << length << " bytes");
    for (int i = 0; i < parts; i++)
        f.send(f.packet(gam_user(GAM_MEDIUM_REQUEST, GOOD, 0), length, i + 1 < parts));
    CHECK(handled == 0);
    f.send(f.packet(gam_user(GAM_MEDIUM_REQUEST, GOOD, 0), length));
    CHECK(handled == 1);
    f.send(f.packet(request));
    CHECK(handled == 2);
    struct gam_stats stats;
    gam_stats(f.g, &stats);
    CHECK(stats.refused == 0); // nothing of it got that far
}
