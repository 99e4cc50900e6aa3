// SPDX-License-Identifier: BSD-3-Clause
//
// liar.h - a host that lies between two others: all that one says to the other comes by here.
#ifndef TESTS_STRANGERS_LIAR_H
#define TESTS_STRANGERS_LIAR_H

#include "packets.h"
#include "testbed/hosts.h"
#include "users.h"

#include <atomic>
#include <memory>

// What it does to a datagram of UDP, or a frame of eth, each with that probability.
struct Lies {
    double drop = 0, alter = 0, repeat = 0, replay = 0, invent = 0;
    bool end_channels = false; // forges the one thing that is not protected (protocol.md)
};

// How often it did.
struct Deeds {
    std::atomic<long> passed, dropped, altered, repeated, replayed, invented, ended;
};

// Takes the place of the switch between host1 and host2.
class Liar {
public:
    Liar(const Hosts &hosts, const Lies &lies, unsigned seed);
    ~Liar();
    Liar(const Liar &) = delete;
    Liar &operator=(const Liar &) = delete;

    const Deeds &deeds() const { return *deeds_; }

private:
    Deeds *deeds_; // in memory that its process shares
    std::unique_ptr<Companion> process_;
};

#endif
