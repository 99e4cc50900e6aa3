/* SPDX-License-Identifier: BSD-3-Clause
 *
 * end.c - all ranks meet at their ends.
 *
 * A meeting as in episode.c, but not one of the program's: who leaves must not
 * let the others pass a barrier, and tells them after which episode it left, so
 * that they do not wait for it in a later one.
 */
#include "episode.h"

#include "library.h"

static bool told[SPLITC_LEVELS];

void splitc_on_end(struct gam *g, const struct gam_message *m)
{
    (void)g;
    splitc_expect(m, m->words == 2 && m->word[0] < SPLITC_LEVELS);
    told[m->word[0]] = true;
    splitc_rank_ended(m->source, m->word[1]);
}

static void tell(unsigned round, uint64_t last)
{
    uint32_t to = (splitc_runtime.rank + (1u << round)) % splitc_runtime.ranks;

    splitc_sent(to, gam_request_2(splitc_runtime.gam, to, SPLITC_MSG_END, round, last));
}

void splitc_meet_at_end(void)
{
    for (unsigned round = 0; 1u << round < splitc_runtime.ranks; round++) {
        struct splitc_wait w = {.kind = SPLITC_WAIT_END, .what = "its end", .whom = SPLITC_ANYBODY};

        tell(round, splitc_last_episode());
        while (!told[round])
            splitc_wait_step(&w);
        splitc_wait_end(&w);
    }
}

/* Says nothing of episodes: the launcher is about to end the others anyway. */
void splitc_fail_at_end(double seconds)
{
    double deadline = splitc_get_seconds() + seconds;

    for (unsigned round = 0; 1u << round < splitc_runtime.ranks; round++) {
        struct splitc_wait w = {.kind = SPLITC_WAIT_END, .what = "its end", .whom = SPLITC_ANYBODY};

        tell(round, UINT64_MAX);
        while (!told[round]) {
            if (splitc_get_seconds() > deadline)
                return;
            splitc_wait_step(&w);
        }
    }
}
