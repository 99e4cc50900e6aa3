/* SPDX-License-Identifier: BSD-3-Clause
 *
 * barrier.c - the dissemination barrier.
 *
 * In round k every rank tells the rank 2^k above it, and waits to be told by
 * the one 2^k below; after log2(PROCS) rounds everybody has heard of everybody.
 * Each round has one teller, whose messages come in order, so counting them is
 * enough for ranks that run ahead.
 *
 * The end of the job is a meeting of its own: a rank that leaves must not let
 * the others pass a barrier of the program.
 */
#include "runtime.h"

#include "library.h"

#include <time.h>

enum meeting { PROGRAM, END, MEETINGS };

static uint64_t told[MEETINGS][SPLITC_LEVELS]; /* messages of each round since the start */
static uint64_t entered;                       /* barriers of the program entered here */

void splitc_on_barrier(struct gam *g, const struct gam_message *m)
{
    (void)g;
    if (m->words != 2 || m->word[0] >= MEETINGS || m->word[1] >= SPLITC_LEVELS)
        splitc_die("malformed barrier message from rank %u", m->source);
    told[m->word[0]][m->word[1]]++;
}

static void tell(enum meeting meeting, unsigned round)
{
    uint32_t to = (splitc_runtime.rank + (1u << round)) % splitc_runtime.ranks;

    splitc_sent(to, gam_request_2(splitc_runtime.gam, to, SPLITC_MSG_BARRIER, meeting, round));
}

void splitc_barrier(void)
{
    entered++;
    gam_poll(splitc_runtime.gam);
    for (unsigned round = 0; 1u << round < splitc_runtime.ranks; round++) {
        tell(PROGRAM, round);
        for (uint32_t idle = 0; told[PROGRAM][round] < entered;)
            splitc_wait_step(&idle);
    }
}

void splitc_meet_at_end(double seconds)
{
    double deadline = splitc_get_seconds() + seconds;

    for (unsigned round = 0; 1u << round < splitc_runtime.ranks; round++) {
        tell(END, round);
        for (uint32_t idle = 0; told[END][round] == 0;) {
            if (seconds > 0 && splitc_get_seconds() > deadline)
                return;
            splitc_wait_step(&idle);
        }
    }
}

double splitc_get_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
