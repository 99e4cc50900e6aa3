/* SPDX-License-Identifier: BSD-3-Clause
 *
 * near.c - short blocks of all members to all, through the boards of members that share memory.
 *
 * Each member writes its blocks to the boards of the others, meets them, and reads what they have
 * written to its own: one meeting instead of a message for each pair, which matters most where
 * ranks share cores.  A board has room for two calls.  Who has passed call k + 1 knows that all
 * others have begun it, so they have read the blocks of call k, whose room call k + 2 uses.
 */
#include "near.h"

#include "access/access.h"
#include "episode.h"
#include "meeting.h"

#define LINE 64u /* of the cache: two members do not write to the same one */

struct block {
    uint64_t n; /* bytes, as the sender says */
    uint8_t bytes[];
};

static size_t block_room(size_t n)
{
    return (sizeof(struct block) + n + LINE - 1) & -(size_t)LINE;
}

static bool near_is_enough(const struct splitc_team *t, size_t n)
{
    return n > 0 && t->size > 1 && t->near_size == t->size && !splitc_collective_checks &&
           block_room(n) <= SPLITC_NEAR_BYTES / t->size;
}

static struct block *block_of(struct splitc_team *t, uint32_t member, size_t n)
{
    return (struct block *)(t->board->near[t->exchanges % 2] + block_room(n) * member);
}

static _Noreturn void die_of_length(const struct splitc_team *t, uint32_t member, size_t n,
                                    uint64_t sent)
{
    splitc_die("%s: processor %u sends %lu bytes where %zu are expected; counts have to agree",
               splitc_collective_name(t, t->current), splitc_team_proc(t, member), sent, n);
}

static void block_write(struct splitc_team *t, uint32_t member, const void *from, size_t n)
{
    struct block *b = splitc_team_copy(t, member, block_of(t, t->at, n));

    b->n = n;
    memcpy(b->bytes, from, n);
}

static void block_read(struct splitc_team *t, uint32_t member, void *to, size_t n)
{
    const struct block *b = block_of(t, member, n);

    if (b->n != n)
        die_of_length(t, member, n, b->n);
    memcpy(to, b->bytes, n);
}

/* Block k of `from`, `apart` bytes behind the one before it, is for member k. */
static void near_exchange(struct splitc_team *t, enum splitc_collective what, uint8_t *to,
                          const uint8_t *from, size_t apart, size_t n)
{
    splitc_episode_begin(t, what);
    t->exchanges++;
    for (uint32_t i = 1; i < t->size; i++) {
        const uint32_t other = (t->at + i) % t->size;

        block_write(t, other, from + apart * other, n);
    }
    splitc_meeting_pass(t);
    memmove(to + n * t->at, from + apart * t->at, n);
    for (uint32_t i = 1; i < t->size; i++) {
        const uint32_t other = (t->at + i) % t->size;

        block_read(t, other, to + n * other, n);
    }
}

bool splitc_near_allgather(struct splitc_team *t, void *to, const void *from, size_t n)
{
    if (!near_is_enough(t, n))
        return false;
    near_exchange(t, SPLITC_ARRAY_ALLGATHER, to, from, 0, n);
    return true;
}

bool splitc_near_alltoall(struct splitc_team *t, void *to, const void *from, size_t n)
{
    if (!near_is_enough(t, n))
        return false;
    near_exchange(t, SPLITC_ARRAY_ALLTOALL, to, from, n, n);
    return true;
}
