// SPDX-License-Identifier: BSD-3-Clause
//
// puppet.h - a peer of udp by hand: a test says each of its frames.
#ifndef UNET_UDP_PUPPET_H
#define UNET_UDP_PUPPET_H

#include "conformance/harness.h"

extern "C" {
#include "core/core.h"
}
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unet/unet_frame.h>
#include <unistd.h>
#include <vector>

// An address of udp, as it stands in struct unet_address.
struct Place {
    uint16_t family;
    uint16_t port;
    uint32_t scope;
    uint8_t ip[16];
    uint64_t nonce;
};

// What the frames of a channel show to whoever sees them.
struct Secrets {
    uint64_t to_endpoint, to_us; // the keys of its directions
    uint32_t life;               // the endpoint's
};

// A peer by hand: its socket has any number of channels to one endpoint.
class Puppet {
public:
    explicit Puppet(const Endpoint &e) : fd(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0))
    {
        const struct unet_address address = e.address();
        sockaddr_in own = {};
        socklen_t length = sizeof own;

        std::memcpy(&endpoint, address.bytes, sizeof endpoint);
        to.sin_family = own.sin_family = AF_INET;
        to.sin_port = endpoint.port;
        to.sin_addr.s_addr = own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(bind(fd, reinterpret_cast<sockaddr *>(&own), sizeof own) == 0);
        REQUIRE(getsockname(fd, reinterpret_cast<sockaddr *>(&own), &length) == 0);
        place = endpoint;
        place.port = own.sin_port;
        place.nonce++;
    }
    ~Puppet() { close(fd); }
    Puppet(const Puppet &) = delete;
    Puppet &operator=(const Puppet &) = delete;

    uint16_t port() const { return place.port; }

    // Has the endpoint open a channel to us.  Returns its number of that.
    uint16_t call(unet_endpoint *ep, uint64_t tag)
    {
        struct unet_address address = {};
        uint16_t channel;

        address.length = sizeof place;
        std::memcpy(address.bytes, &place, sizeof place);
        keys[unet_direction_key(tag, endpoint.nonce, place.nonce)] =
            unet_direction_key(tag, place.nonce, endpoint.nonce);
        REQUIRE(unet_connect(ep, &address, tag, &channel) == 0);
        return channel;
    }

    // And answers, so that it is open.
    uint16_t join(unet_endpoint *ep, uint64_t tag)
    {
        const uint16_t channel = call(ep, tag);

        REQUIRE(eventually([&] {
            serve();
            return unet_channel_state(ep, channel) == UNET_OPEN;
        }));
        return channel;
    }

    // Takes in what came, and opens what is to be opened.
    void serve()
    {
        uint8_t bytes[65536];

        for (ssize_t n; (n = recv(fd, bytes, sizeof bytes, 0)) > 0;) {
            lengths.push_back(static_cast<size_t>(n));
            for (size_t at = 0; at < static_cast<size_t>(n);)
                at += take(bytes + at);
        }
    }

    // `length` is that of a message, of zero bytes.
    void say(uint8_t kind, uint64_t key_in, uint32_t for_life, uint32_t user, uint16_t length = 0)
    {
        unet_frame frame = {};
        std::vector<uint8_t> bytes(sizeof frame + length);

        frame.version = UNET_FRAME_VERSION;
        frame.kind = kind;
        frame.length = length;
        frame.key = key_in;
        frame.life = for_life;
        frame.user = user;
        std::memcpy(bytes.data(), &frame, sizeof frame);
        REQUIRE(sendto(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr *>(&to),
                       sizeof to) == static_cast<ssize_t>(bytes.size()));
    }

    // An empty message on every channel.
    void speak()
    {
        for (const auto &[out, in] : keys)
            say(UNET_FRAME_INLINE, in, lives[out], 0);
    }

    // Opens every channel, with another life than before.
    void reopen()
    {
        for (const auto &[out, in] : keys)
            say(UNET_FRAME_OPEN, in, 0, life + 1);
    }

    // Of the only channel.
    Secrets secrets() const
    {
        REQUIRE(keys.size() == 1);
        const auto &[out, in] = *keys.begin();
        return {in, out, lives.at(out)};
    }

    bool mute = false;                   // opens nothing
    int answers = 0;                     // to openings
    size_t messages = 0;                 // that came
    std::vector<unet_frame> gone;        // what we were told is gone
    std::map<uint64_t, int> asked;       // how often, by channel
    std::vector<size_t> lengths;         // of the datagrams that came
    static constexpr uint32_t life = 77; // of all our channels

private:
    size_t take(const uint8_t *bytes)
    {
        unet_frame frame;

        std::memcpy(&frame, bytes, sizeof frame);
        if (frame.kind == UNET_FRAME_OPEN) {
            lives[frame.key] = frame.user;
            if (!mute)
                say(UNET_FRAME_OPENED, keys.at(frame.key), frame.user, life);
        } else if (frame.kind == UNET_FRAME_ALIVE) {
            asked[frame.key]++;
        } else if (frame.kind == UNET_FRAME_OPENED) {
            answers++;
        } else if (frame.kind == UNET_FRAME_GONE) {
            gone.push_back(frame);
        } else if (frame.kind == UNET_FRAME_PIECES) {
            messages++;
        }
        return sizeof frame + frame.length;
    }

    int fd;
    sockaddr_in to = {};
    Place endpoint, place;              // the endpoint's and ours
    std::map<uint64_t, uint64_t> keys;  // what we say, by what we are told
    std::map<uint64_t, uint32_t> lives; // the endpoint's channels', too
};

#endif
