/* SPDX-License-Identifier: BSD-3-Clause
 *
 * exchange.h - things on their way from every processor to every other.
 */
#ifndef BENCHMARKS_MPI_EXCHANGE_H
#define BENCHMARKS_MPI_EXCHANGE_H

#include <stddef.h>

/* How many things go to, and come from, each processor, and where those begin. */
struct exchange {
    int *out, *out_at;
    int *in, *in_at;
    long out_all, in_all;
};

/* Collective: tell all how many go where. */
struct exchange exchange_plan(const long count[]);
void exchange_free(struct exchange *x);

/* Collective: send things of that many bytes, which lie in the order of their processors. */
void exchange_send(const struct exchange *x, const void *from, void *to, size_t bytes);

/* Collective: the answers go the other way. */
void exchange_answer(const struct exchange *x, const void *from, void *to, size_t bytes);

#endif
