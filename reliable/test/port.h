// SPDX-License-Identifier: BSD-3-Clause
//
// port.h - ranks, and TCPs beside them, that send through one port of a switch to one receiver.
//
// The port has a finite buffer and drops what finds no room in it (tail drop).  Senders are far
// enough from one another to meet nowhere else: each has its own interface, and acknowledgements go
// back on an empty way.  A host looks for packets some time after they came, as a program that
// polls does, and then takes all that are there.  Time is in nanoseconds, and everything that
// happens follows from the seed.
//
// The TCPs are idealised in their favour: each learns of a loss after one round trip, and never
// times out.  Reno is RFC 5681 with selective acknowledgements, CUBIC is RFC 9438.
#ifndef RELIABLE_PORT_H
#define RELIABLE_PORT_H

#include <cstdint>
#include <vector>

#include "src/engine.h"

namespace port {

struct Options {
    uint32_t ranks = 1; // that send to the receiver as fast as they may
    uint32_t renos = 0, cubics = 0;
    double gbit = 25; // per second, of the port; also of the senders' interfaces, unless
    double interface_gbit = 0;
    uint64_t buffer = 512 * 1024; // bytes
    double round_trip_us = 10;    // without queues, and without waiting for a host to look
    double look_us = 2;           // a host looks this much after a packet, at most
    uint64_t mark = 0;            // packets that find more bytes queued are marked; 0: none is
    double loss = 0;              // share of the ranks' packets that get lost
    double late = 0;              // share of them that come late, by this much:
    double late_from_us = 1, late_to_us = 5;
    uint32_t packet_bytes = 1408;
    uint32_t backlog = 1100; // packets that can wait at the receiver
    uint64_t burst = 0;      // bytes, which all ranks send at once, and again when all are there
    uint64_t seed = 1;
};

// Over the last four fifths of the time.
struct Report {
    double goodput = 0;                         // of messages, as a part of the port's bits
    double reno_goodput = 0, cubic_goodput = 0; // the same of the TCPs
    double jain = 0;            // of the ranks: 1 if all got as much, 1 / ranks if one got all
    double least = 0, most = 0; // of a rank's goodput, as a part of their mean
    double drops = 0;           // share of packets that the port dropped
    double queue = 0;           // median of bytes in its buffer
    double sent_again = 0;      // share of the ranks' packets
    std::vector<double> bursts; // how long each took, in us
    struct reliable_engine_stats stats = {}; // of all sending ranks, from the beginning
};

Report run(const Options &options, double seconds);

} // namespace port

#endif
