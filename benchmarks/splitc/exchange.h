/* SPDX-License-Identifier: BSD-3-Clause
 *
 * exchange.h - keys on their way from every processor to every other.  Room
 * is made after the counts are known, so it is exact whatever the keys are.
 */
#ifndef BENCHMARKS_EXCHANGE_H
#define BENCHMARKS_EXCHANGE_H

#include "keys.h"

/* Two keys that travel in one message. */
struct pair {
    key first, second;
};

/* Collective: tell each processor q that it will get count[q] keys from here,
 * and make room for those that come.  `room` is from malloc and will hold them
 * in the order of the processors they come from.  Returns where this
 * processor's keys go at each of the others; valid until the next call. */
key *global *make_room(const long count[], struct keys *room);

/* Where each processor's run of keys starts when the runs lie one behind the
 * other; from malloc. */
long *run_starts(const long count[]);

/* Collective: send the keys, which lie in the order of their processors, in one
 * message to each; all have arrived when it returns. */
void send_runs(const key *keys, const long count[], key *global place[]);

#endif
