/* SPDX-License-Identifier: BSD-3-Clause
 *
 * round.c - what a thread does between two waits for a set of epoll.
 */
#include "stream/round.h"
#include "record/pause.h"

/* For each event.  A packet costs its two hosts as much together; what waits longer had better go
 * by itself. */
enum { BRIEF_NS = 15000 };

void (*sockets_round_send)(void);

static _Thread_local struct {
    uint64_t began;
    int told; /* 0: none has begun */
    bool brief;
} round_ __attribute__((tls_model("initial-exec")));

void sockets_round_begin(int told)
{
    round_.told = told;
    round_.began = sockets_now_ns();
}

static bool is_brief(void)
{
    return sockets_now_ns() - round_.began < (uint64_t)round_.told * BRIEF_NS;
}

void sockets_round_end(void)
{
    if (round_.told <= 0)
        return;
    if (round_.told > 1 && round_.brief)
        sockets_round_send();
    round_.brief = is_brief();
    round_.told = 0;
}

bool sockets_round_is_on(void)
{
    return round_.told > 1 && round_.brief && is_brief();
}
