/* SPDX-License-Identifier: BSD-3-Clause
 *
 * collective.c - reductions, broadcasts and scans over messages of one value.
 *
 * Reductions climb a binomial tree: rank r's parent is r without its lowest set
 * bit, its child of level k is r + 2^k and stands for the ranks [r + 2^k,
 * r + 2^(k+1)).  Children are combined from the lowest level up, so values
 * combine in the order of ranks, whatever the order of arrival: floating-point
 * results repeat.  Broadcasts go down the same tree.  In round k of a scan,
 * rank r hears from r - 2^k.
 *
 * Each collective call is an episode, and a value that arrives waits in the
 * mailbox of its episode and place.  Ranks may run ahead, since not every
 * collective makes everybody wait; a barrier every EPISODES calls keeps them
 * from running round the mailboxes.
 */
#include "runtime.h"

#include "library.h"

#define EPISODES 16u       /* mailboxes per place; a power of two */
#define DOWN SPLITC_LEVELS /* the place of the value from the parent */
#define PLACES (DOWN + 1)  /* a place for each level, and one from above */
#define PLACE_BITS 8       /* a message says operation << PLACE_BITS | place */

/* What the ranks are doing together; all must say the same. */
enum operation {
    REDUCE_TO_ALL = 1,
    REDUCE_TO_ONE,
    BROADCAST,
    SCAN,
};

static const char *const operation_name[] = {
    [REDUCE_TO_ALL] = "all_reduce_to_all or all_store_sync",
    [REDUCE_TO_ONE] = "all_reduce_to_one",
    [BROADCAST] = "all_bcast",
    [SCAN] = "all_scan",
};

struct mailbox {
    uint64_t episode; /* of the value; 0 = never filled */
    uint64_t value;
};

/* What was first said about an episode: by our own call, or by another rank. */
struct agreement {
    uint64_t episode;
    uint32_t operation;
    uint32_t rank;
};

static struct mailbox mailbox[EPISODES][PLACES];
static struct agreement agreement[EPISODES];
static uint64_t episode; /* collective calls begun, this one included */

/* ---- combining ------------------------------------------------------------- */

static double to_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t from_double(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Integers are sign-extended on the way; sums wrap. */
static uint64_t from_int(int value)
{
    return (uint64_t)(int64_t)value;
}

static uint64_t combine(enum splitc_combine with, uint64_t a, uint64_t b)
{
    switch (with) {
    case SPLITC_ADD_INT:
    case SPLITC_ADD_LONG:
        return a + b;
    case SPLITC_MAX_INT:
        return (int64_t)a > (int64_t)b ? a : b;
    case SPLITC_MIN_INT:
    case SPLITC_MIN_LONG:
        return (int64_t)a < (int64_t)b ? a : b;
    case SPLITC_ADD_DOUBLE:
        return from_double(to_double(a) + to_double(b));
    case SPLITC_MAX_DOUBLE:
        return to_double(a) > to_double(b) ? a : b;
    default: /* SPLITC_MIN_DOUBLE */
        return to_double(a) < to_double(b) ? a : b;
    }
}

/* ---- sending a value to a place, and taking what came to ours ---------------- */

/* All ranks have to do the same in an episode. */
static void agree(uint64_t number, enum operation operation, uint32_t rank)
{
    struct agreement *a = &agreement[number % EPISODES];

    if (a->episode != number)
        *a = (struct agreement){.episode = number, .operation = operation, .rank = rank};
    else if (a->operation != operation)
        splitc_die("collective calls differ: %s on rank %u, %s on rank %u",
                   operation_name[operation], rank, operation_name[a->operation], a->rank);
}

static void begin(enum operation operation)
{
    if (episode % EPISODES == 0)
        splitc_barrier();
    episode++;
    agree(episode, operation, splitc_runtime.rank);
}

static void send(uint32_t to, uint32_t place, enum operation operation, uint64_t value)
{
    splitc_sent(to, gam_request_3(splitc_runtime.gam, to, SPLITC_MSG_COLLECTIVE, value, episode,
                                  (uint64_t)operation << PLACE_BITS | place));
}

void splitc_on_collective(struct gam *g, const struct gam_message *m)
{
    uint64_t number = m->word[1];
    uint64_t place = m->word[2] & ((1u << PLACE_BITS) - 1);
    uint64_t operation = m->word[2] >> PLACE_BITS;

    (void)g;
    if (m->words != 3 || place >= PLACES || operation < REDUCE_TO_ALL || operation > SCAN)
        splitc_die("malformed collective message from rank %u", m->source);
    agree(number, (enum operation)operation, m->source);
    mailbox[number % EPISODES][place] = (struct mailbox){.episode = number, .value = m->word[0]};
}

static uint64_t receive(uint32_t place)
{
    struct mailbox *box = &mailbox[episode % EPISODES][place];

    for (uint32_t idle = 0; box->episode != episode;)
        splitc_wait_step(&idle);
    return box->value;
}

/* ---- up, down and across ------------------------------------------------------- */

/* The tree's level of this rank: it has children on all levels below it. */
static unsigned level(void)
{
    return splitc_runtime.rank ? (unsigned)__builtin_ctz(splitc_runtime.rank) : SPLITC_LEVELS;
}

static bool has_child(unsigned k)
{
    return k < level() && splitc_runtime.rank + (1u << k) < splitc_runtime.ranks;
}

static uint32_t parent(void)
{
    return splitc_runtime.rank & (splitc_runtime.rank - 1);
}

/* Combine our part of the tree; the result counts on processor 0. */
static uint64_t up(enum operation operation, enum splitc_combine with, uint64_t value)
{
    for (unsigned k = 0; has_child(k); k++)
        value = combine(with, value, receive(k));
    if (splitc_runtime.rank != 0)
        send(parent(), level(), operation, value);
    return value;
}

static uint64_t down(enum operation operation, uint64_t value)
{
    unsigned k = 0;

    if (splitc_runtime.rank != 0)
        value = receive(DOWN);
    while (has_child(k))
        k++;
    while (k-- > 0) /* the largest part of the tree first */
        send(splitc_runtime.rank + (1u << k), DOWN, operation, value);
    return value;
}

uint64_t splitc_reduce_to_all(enum splitc_combine with, uint64_t value)
{
    begin(REDUCE_TO_ALL);
    return down(REDUCE_TO_ALL, up(REDUCE_TO_ALL, with, value));
}

static uint64_t reduce_to_one(enum splitc_combine with, uint64_t value)
{
    begin(REDUCE_TO_ONE);
    return up(REDUCE_TO_ONE, with, value);
}

static uint64_t broadcast(uint64_t value)
{
    begin(BROADCAST);
    return down(BROADCAST, value);
}

static uint64_t scan(enum splitc_combine with, uint64_t value)
{
    uint32_t rank = splitc_runtime.rank;

    begin(SCAN);
    for (unsigned k = 0; 1u << k < splitc_runtime.ranks; k++) {
        uint32_t step = 1u << k;

        if (rank + step < splitc_runtime.ranks)
            send(rank + step, k, SCAN, value);
        if (rank >= step)
            value = combine(with, receive(k), value);
    }
    return value;
}

/* ---- the library's names --------------------------------------------------------- */

static int all_int(enum splitc_combine with, int value)
{
    return (int)splitc_reduce_to_all(with, from_int(value));
}

static double all_double(enum splitc_combine with, double value)
{
    return to_double(splitc_reduce_to_all(with, from_double(value)));
}

static int one_int(enum splitc_combine with, int value)
{
    uint64_t result = reduce_to_one(with, from_int(value));

    return splitc_runtime.rank == 0 ? (int)result : 0;
}

static double one_double(enum splitc_combine with, double value)
{
    uint64_t result = reduce_to_one(with, from_double(value));

    return splitc_runtime.rank == 0 ? to_double(result) : 0.0;
}

static int scan_int(enum splitc_combine with, int value)
{
    return (int)scan(with, from_int(value));
}

static double scan_double(enum splitc_combine with, double value)
{
    return to_double(scan(with, from_double(value)));
}

int splitc_all_reduce_to_all_add(int value)
{
    return all_int(SPLITC_ADD_INT, value);
}

int splitc_all_reduce_to_all_max(int value)
{
    return all_int(SPLITC_MAX_INT, value);
}

int splitc_all_reduce_to_all_min(int value)
{
    return all_int(SPLITC_MIN_INT, value);
}

double splitc_all_reduce_to_all_dadd(double value)
{
    return all_double(SPLITC_ADD_DOUBLE, value);
}

double splitc_all_reduce_to_all_dmax(double value)
{
    return all_double(SPLITC_MAX_DOUBLE, value);
}

double splitc_all_reduce_to_all_dmin(double value)
{
    return all_double(SPLITC_MIN_DOUBLE, value);
}

int splitc_all_reduce_to_one_add(int value)
{
    return one_int(SPLITC_ADD_INT, value);
}

int splitc_all_reduce_to_one_max(int value)
{
    return one_int(SPLITC_MAX_INT, value);
}

int splitc_all_reduce_to_one_min(int value)
{
    return one_int(SPLITC_MIN_INT, value);
}

double splitc_all_reduce_to_one_dadd(double value)
{
    return one_double(SPLITC_ADD_DOUBLE, value);
}

double splitc_all_reduce_to_one_dmax(double value)
{
    return one_double(SPLITC_MAX_DOUBLE, value);
}

double splitc_all_reduce_to_one_dmin(double value)
{
    return one_double(SPLITC_MIN_DOUBLE, value);
}

int splitc_all_scan_add(int value)
{
    return scan_int(SPLITC_ADD_INT, value);
}

int splitc_all_scan_max(int value)
{
    return scan_int(SPLITC_MAX_INT, value);
}

int splitc_all_scan_min(int value)
{
    return scan_int(SPLITC_MIN_INT, value);
}

double splitc_all_scan_dadd(double value)
{
    return scan_double(SPLITC_ADD_DOUBLE, value);
}

double splitc_all_scan_dmax(double value)
{
    return scan_double(SPLITC_MAX_DOUBLE, value);
}

double splitc_all_scan_dmin(double value)
{
    return scan_double(SPLITC_MIN_DOUBLE, value);
}

int splitc_all_bcast_i(int value)
{
    return (int)broadcast(from_int(value));
}

double splitc_all_bcast_d(double value)
{
    return to_double(broadcast(from_double(value)));
}
