/* SPDX-License-Identifier: BSD-3-Clause
 *
 * end.c - all ranks meet at their ends.
 *
 * A dissemination barrier as in meeting.c, but not a call of the program.  A rank at its end must
 * not let the others pass a barrier; it tells them after which episode it has ended, so that they
 * do not wait for it in a later one.
 */
#include "access/access.h"
#include "episode.h"
#include "inquiry.h"
#include "library.h"

static bool heard[SPLITC_LEVELS]; /* by round */

void splitc_on_end(struct gam *g, const struct gam_message *m)
{
    (void)g;
    splitc_expect(m, m->words == 2 && m->word[0] < SPLITC_LEVELS);
    heard[m->word[0]] = true;
    splitc_episode_rank_ended(m->source, m->word[1]);
}

static void end_tell(unsigned round, uint64_t last)
{
    uint32_t to = (splitc_runtime.rank + (1u << round)) % splitc_runtime.ranks;

    splitc_sent(to, gam_request_2(splitc_runtime.gam, to, SPLITC_MSG_END, round, last));
}

void splitc_end_meet(void)
{
    splitc_coalesced_go();
    splitc_inquiry_end();
    for (unsigned round = 0; 1u << round < splitc_runtime.ranks; round++) {
        struct splitc_wait w = {.kind = SPLITC_WAIT_END, .what = "its end", .whom = SPLITC_ANYBODY};

        end_tell(round, splitc_team_all.episode);
        while (!heard[round])
            splitc_wait_step(&w);
        splitc_wait_end(&w);
    }
}

/* It says nothing of episodes, because the launcher is about to end the others anyway. */
void splitc_end_fail(double seconds)
{
    double deadline = splitc_get_seconds() + seconds;

    splitc_coalesced_go();
    for (unsigned round = 0; 1u << round < splitc_runtime.ranks; round++) {
        struct splitc_wait w = {.kind = SPLITC_WAIT_END, .what = "its end", .whom = SPLITC_ANYBODY};

        end_tell(round, UINT64_MAX);
        while (!heard[round]) {
            if (splitc_get_seconds() > deadline)
                return;
            splitc_wait_step(&w);
        }
    }
}
