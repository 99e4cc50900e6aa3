/* SPDX-License-Identifier: BSD-3-Clause
 *
 * exchange.h - things on their way from every processor to every other, of which only those who
 * send know how many there are.
 */
#ifndef BENCHMARKS_SPLITC_EXCHANGE_H
#define BENCHMARKS_SPLITC_EXCHANGE_H

#include "keys.h"

/* Two keys that travel in one message. */
struct pair {
    key first, second;
};

/* How many go to each processor and come from each, and where they begin when they lie one behind
 * the other: what team_alltoallv asks for. */
struct exchange {
    const long *out; /* the caller's */
    long *out_at;
    long *in, *in_at;
    long in_all;
};

/* Collective: tell each processor q that it will get out[q] things from here. */
struct exchange exchange_plan(const long out[]);
void exchange_free(struct exchange *x);

/* Room for the keys that come; and, collective, where at each processor those of this one go, from
 * malloc. */
struct keys exchange_room(const struct exchange *x);
key *global *exchange_places(const struct exchange *x, const struct keys *room);

/* Collective: send the keys, which lie in the order of their processors, and get what comes. */
struct keys exchange_keys(const key *keys, const long out[]);

#endif
