// SPDX-License-Identifier: BSD-3-Clause
//
// sim.h - ranks that talk over a simulated network, in simulated time.
//
// Everything that happens follows from the seed, so a run that fails can be repeated.  The
// simulator checks what engine.h promises: every message delivered once, whole and in
// order; windows and memory bounded; nobody taken for dead who is not; and that it ends.
#ifndef RELIABLE_SIM_H
#define RELIABLE_SIM_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/engine.h"

namespace sim {

constexpr uint64_t SECOND = 1000000; // in us, as all times

// What happens to packets.  Rates are probabilities per packet.
struct Faults {
    double loss = 0, duplicate = 0, reorder = 0, truncate = 0, flip = 0, stray = 0;
};

struct Options {
    uint32_t ranks = 2;
    uint64_t seed = 1;
    Faults faults;
    uint64_t delay = 20;      // one way
    uint64_t reordered = 300; // delay of packets that are overtaken, at most
    uint64_t service_ns = 0;  // what a receiver needs for a packet; 0: nothing
    uint32_t backlog = 1024;  // packets that wait for a receiver; the next are lost
    uint32_t packet_bytes = 1472;
    uint32_t packet_sure = 0;  // 0: the same
    uint32_t mtu = UINT32_MAX; // longer packets are lost
    uint64_t peer_timeout = 10 * SECOND;
};

// Messages from one rank to another, as many as told, of lengths up to `longest`; a part of them
// is answered by the receiver's handler.
struct Flow {
    uint32_t from, to;
    uint64_t messages;
    uint32_t longest = 48;
    double answered = 0;
};

class Sim {
public:
    explicit Sim(const Options &options);
    ~Sim();
    Sim(const Sim &) = delete;
    Sim &operator=(const Sim &) = delete;

    void add(const Flow &flow);
    void at(uint64_t time, std::function<void()> action);

    // Until every message has been delivered and acknowledged, or that time.  "" or what went
    // wrong, with the seed.
    std::string run(uint64_t until);
    // Just lets that much time go by.
    std::string pass(uint64_t duration);

    // A connection cut in both directions; a rank that ends; a rank that does not look at its
    // packets.
    void cut(uint32_t rank, bool is_cut);
    void kill(uint32_t rank);
    void pause(uint32_t rank, bool paused);
    // From now on longer packets are lost.
    void narrow(uint32_t mtu);

    uint64_t now() const;
    uint64_t finished() const; // when the last message was delivered
    uint64_t packets() const;  // carried so far
    uint64_t messages() const; // delivered so far
    uint32_t take_longest();   // packet that was carried since this was last asked
    uint64_t delivered(uint32_t from, uint32_t to) const;
    const std::vector<uint32_t> &died(uint32_t rank) const; // whom it took for dead
    struct reliable_engine_stats stats(uint32_t rank) const;
    struct reliable_engine_stats total() const;

private:
    struct World;
    std::unique_ptr<World> world;
};

// A world of 2 to 24 ranks, with faults and flows of some `packets` messages in all, everything
// from the seed.  Adds the packets it carried; "" or what went wrong.
std::string random_world(uint64_t seed, uint64_t packets, uint64_t &carried);

// What an environment variable says, to choose seeds.
uint64_t number_from(const char *variable, uint64_t otherwise);

} // namespace sim

#endif
