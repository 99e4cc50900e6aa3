/* SPDX-License-Identifier: BSD-3-Clause
 *
 * am_table.h - the handlers of the program's own active messages, and what all calls of
 * split-c/am.h check.
 *
 * Each handler has an index in GAM's table, behind those of the runtime.  Calls name it by its
 * function, which is looked up in a hash table.
 */
#ifndef SPLITC_AM_TABLE_H
#define SPLITC_AM_TABLE_H

#include "access.h"

#include <split-c/am.h>

#define SPLITC_AM_FIRST ((uint32_t)SPLITC_MESSAGES) /* index of the program's first handler */
#define SPLITC_AM_BUCKETS (2 * GAM_HANDLERS)        /* a power of two */

struct splitc_am_bucket {
    am_handler function;
    uint32_t index; /* 0: the bucket is empty */
};
extern struct splitc_am_bucket splitc_am_bucket[SPLITC_AM_BUCKETS];

/* The rank whose message is being handled; -1: none is. */
extern int splitc_am_source;

/* Run the program's handler of a message. */
void splitc_am_run(struct gam *g, const struct gam_message *m);

/* Whether the program has a handler of that index. */
bool splitc_am_is_handler(uint64_t index);

_Noreturn void splitc_am_unknown(am_handler fn, const char *call) __attribute__((cold, noinline));
_Noreturn void splitc_am_bad_target(int dest, const char *call) __attribute__((cold, noinline));

/* The bucket of that function, or the empty one where it would be. */
static inline struct splitc_am_bucket *splitc_am_find(am_handler fn)
{
    uintptr_t at = (uintptr_t)fn >> 4;

    while (splitc_am_bucket[at % SPLITC_AM_BUCKETS].index &&
           splitc_am_bucket[at % SPLITC_AM_BUCKETS].function != fn)
        at++;
    return &splitc_am_bucket[at % SPLITC_AM_BUCKETS];
}

static inline uint32_t splitc_am_index(am_handler fn, const char *call)
{
    uint32_t index = splitc_am_find(fn)->index; /* no bucket holds a function of 0 */

    if (__builtin_expect(index == 0, 0))
        splitc_am_unknown(fn, call);
    return index;
}

/* The rank that a request goes to. */
static inline uint32_t splitc_am_target(int dest, const char *call)
{
    if (__builtin_expect(splitc_runtime.running || (uint32_t)dest >= splitc_runtime.ranks, 0))
        splitc_am_bad_target(dest, call);
    if (splitc_is_foreign_thread())
        splitc_foreign_thread(call);
    splitc_coalesced_go();
    return (uint32_t)dest;
}

/* Tell that a message goes to run a handler, if anybody wants to know. */
static inline void splitc_am_tell(enum splitc_event_kind kind, uint32_t peer, uint32_t index,
                                  const char *call)
{
    if (splitc_event_wanted(kind))
        splitc_event_tell(
            &(struct splitc_event){.kind = kind, .peer = peer, .handler = index, .name = call});
}

/* A reply goes to the source of its request. */
_Noreturn void splitc_am_bad_reply(int dest, const char *call) __attribute__((cold, noinline));

static inline void splitc_am_check_reply(int dest, const char *call)
{
    if (__builtin_expect(splitc_am_source < 0 || dest != splitc_am_source, 0))
        splitc_am_bad_reply(dest, call);
}

/* The index of the handler that a reply runs, once the reply is checked. */
static inline uint32_t splitc_am_answering(int dest, am_handler h, const char *call)
{
    uint32_t index;

    splitc_am_check_reply(dest, call);
    index = splitc_am_index(h, call);
    splitc_am_tell(SPLITC_EVENT_SENT, (uint32_t)dest, index, call);
    return index;
}

/* The result of sending a message to `rank`, or a reply.  Returns 0, or ends the job. */
_Noreturn void splitc_am_not_sent(uint32_t rank, int result, const char *call)
    __attribute__((cold, noinline));
_Noreturn void splitc_am_not_replied(int result, const char *call) __attribute__((cold, noinline));

static inline int splitc_am_sent(uint32_t rank, int result, const char *call)
{
    if (__builtin_expect(result < 0, 0))
        splitc_am_not_sent(rank, result, call);
    return 0;
}

static inline int splitc_am_replied(int result, const char *call)
{
    if (__builtin_expect(result < 0, 0))
        splitc_am_not_replied(result, call);
    return 0;
}

#endif
