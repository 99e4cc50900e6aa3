/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sort.h - what a sorting program supplies; sort.sc is the rest of it.
 */
#ifndef BENCHMARKS_SORT_H
#define BENCHMARKS_SORT_H

#include "common.h"
#include "keys.h"

enum variant { SMALL, BULK };

extern const char sort_summary[]; /* one line for --help */

/* Collective: sort the keys of all processors.  Each gives its block of `total`
 * and gets its part of the sorted ones, the parts following one another as the
 * processors do.  SMALL sends two keys in a message, BULK one message to each
 * processor. */
void sort_keys(struct keys *keys, long total, enum variant variant, struct watch *watch);

#endif
