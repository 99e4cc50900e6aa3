/* SPDX-License-Identifier: BSD-3-Clause
 *
 * direct.c - bulk puts by direct access, where the network between two ranks has it.
 *
 * A put is cut into transfers.  The owner of the place has its pages pinned, pieces go there
 * without the owner's help, and then it is asked how many have come.  A transfer that lacks one
 * goes again as a store: what is placed twice does no harm.
 *
 *     we                                        the owner
 *     ASK    address, bytes, transfer       ->  holds
 *                                           <-  READY   transfer, whether it is held
 *     pieces .................................>
 *     CHECK  address, bytes, transfer, pieces -> releases
 *                                           <-  LANDED  transfer, whether all have come
 *
 * A put counts as pending for itself until it is cut up, and once for each of its transfers.
 */
#include "direct.h"

#include <errno.h>
#include <stdlib.h>

enum {
    LEAST = 8192,  /* bytes of a put for which it is worth asking */
    TRANSFERS = 8, /* on their way; fewer than what GAM remembers of each peer */
    PATIENCE = 64, /* with transfers in a row that come to nothing */
    NUMBERS = (1 << 24) - 1,
};

enum stage {
    FREE,
    ASKED,
    READY,    /* the owner holds its pages */
    CHECKING, /* all pieces have gone */
    REFUSED,  /* it goes as a store */
};

struct transfer {
    enum stage stage;
    bool holds; /* the source's pages */
    uint32_t rank;
    uint32_t number;
    const char *from;
    char *to;
    size_t bytes;
};

struct put {
    struct put *next;
    uint32_t rank;
    const char *from;
    char *to;
    size_t left;
};

uint64_t splitc_direct_busy, splitc_direct_landed, splitc_direct_repeated;

static bool taking_part;
static struct transfer transfer[TRANSFERS]; /* by number, modulo theirs */
static struct put *first, **last = &first;
static uint32_t next_number = 1;
static uint32_t vain; /* transfers in a row */

void splitc_direct_open(void)
{
    const char *told = getenv("SPLITC_DIRECT");

    taking_part = !(told && strcmp(told, "0") == 0) && gam_direct_open(splitc_runtime.gam) == 0;
}

/* ---- the owner ------------------------------------------------------------------------ */

void splitc_on_direct_ask(struct gam *g, const struct gam_message *m)
{
    const void *address = (void *)(uintptr_t)m->word[0];

    splitc_expect(m, m->words == 3);
    splitc_sent(m->source, gam_reply_2(g, SPLITC_MSG_DIRECT_READY, m->word[2],
                                       gam_direct_hold(g, address, m->word[1]) == 0));
}

void splitc_on_direct_check(struct gam *g, const struct gam_message *m)
{
    const void *address = (void *)(uintptr_t)m->word[0];
    const uint32_t number = (uint32_t)m->word[2];

    splitc_expect(m, m->words == 4);
    gam_direct_release(g, address, m->word[1]);
    splitc_sent(m->source, gam_reply_2(g, SPLITC_MSG_DIRECT_LANDED, number,
                                       gam_direct_come(g, m->source, number) == m->word[3]));
}

/* ---- answers ---------------------------------------------------------------------------- */

static struct transfer *answered(const struct gam_message *m, enum stage stage)
{
    struct transfer *t = &transfer[m->word[0] % TRANSFERS];

    splitc_expect(m, m->words == 2 && t->stage == stage && t->rank == m->source &&
                         t->number == m->word[0]);
    return t;
}

void splitc_on_direct_ready(struct gam *g, const struct gam_message *m)
{
    struct transfer *t = answered(m, ASKED);

    (void)g;
    t->stage = m->word[1] ? READY : REFUSED;
}

static void release(struct transfer *t)
{
    if (t->holds)
        gam_direct_release(splitc_runtime.gam, t->from, t->bytes);
    t->holds = false;
}

void splitc_on_direct_landed(struct gam *g, const struct gam_message *m)
{
    struct transfer *t = answered(m, CHECKING);

    (void)g;
    release(t);
    t->stage = m->word[1] ? FREE : REFUSED;
    if (t->stage == REFUSED)
        return;
    vain = 0;
    splitc_direct_landed++;
    splitc_direct_busy--;
    splitc_runtime.puts--;
}

/* ---- transfers ----------------------------------------------------------------------------- */

/* Requests poll, and so the stage changes while they are sent. */
static void ask(struct transfer *t)
{
    t->stage = ASKED;
    splitc_sent(t->rank, gam_request_3(splitc_runtime.gam, t->rank, SPLITC_MSG_DIRECT_ASK,
                                       (uintptr_t)t->to, t->bytes, t->number));
}

static void check(struct transfer *t, int pieces)
{
    t->stage = CHECKING;
    splitc_sent(t->rank, gam_request_4(splitc_runtime.gam, t->rank, SPLITC_MSG_DIRECT_CHECK,
                                       (uintptr_t)t->to, t->bytes, t->number, (uint64_t)pieces));
}

/* Where our own pages cannot be held, nothing goes, and the owner finds that all is missing. */
static void put_pieces(struct transfer *t)
{
    struct gam *g = splitc_runtime.gam;
    int pieces = GAM_DIRECT_PIECES + 1;

    if (!t->holds)
        t->holds = gam_direct_hold(g, t->from, t->bytes) == 0;
    if (t->holds)
        pieces = gam_direct_put(g, t->rank, t->number, t->from, t->to, t->bytes);
    if (pieces == -EAGAIN)
        return;
    splitc_sent(t->rank, pieces);
    check(t, pieces);
}

/* Its share of the pending puts is the store's now. */
static void store(struct transfer *t)
{
    const struct transfer old = *t;

    t->stage = FREE;
    splitc_direct_busy--;
    splitc_direct_repeated++;
    taking_part =
        taking_part && ++vain < PATIENCE; /* who may not pin enough need not ask for ever */
    splitc_put_in_messages(old.rank, old.to, old.from, old.bytes);
}

static void move(struct transfer *t)
{
    switch (t->stage) {
    case READY:
        put_pieces(t);
        break;
    case REFUSED:
        store(t);
        break;
    case FREE:
    case ASKED:
    case CHECKING:
        break;
    }
}

/* ---- puts ------------------------------------------------------------------------------------ */

/* The next transfer of the oldest put. */
static void cut(struct put *put, struct transfer *t)
{
    const size_t most = GAM_DIRECT_PIECES * gam_direct_most(splitc_runtime.gam, put->rank);
    const size_t n = put->left < most ? put->left : most;

    *t = (struct transfer){
        .rank = put->rank, .number = next_number, .from = put->from, .to = put->to, .bytes = n};
    next_number = next_number % NUMBERS + 1;
    put->from += n;
    put->to += n;
    put->left -= n;
    splitc_direct_busy++;
    splitc_runtime.puts++;
    ask(t);
}

static void end_first(void)
{
    struct put *put = first;

    first = put->next;
    if (!first)
        last = &first;
    splitc_direct_busy--;
    splitc_runtime.puts--;
    free(put);
}

static void begin_transfers(void)
{
    while (first && transfer[next_number % TRANSFERS].stage == FREE) {
        struct put *put = first;

        cut(put, &transfer[next_number % TRANSFERS]);
        if (put->left == 0)
            end_first();
    }
}

/* What it sends polls, but nothing that a poll runs comes here. */
bool splitc_direct_move(void)
{
    bool stuck = false;

    for (int i = 0; i < TRANSFERS; i++) {
        move(&transfer[i]);
        stuck |= transfer[i].stage == READY;
    }
    begin_transfers();
    return stuck;
}

bool splitc_direct_put(uint32_t rank, void *to, const void *from, size_t n)
{
    struct put *put;

    if (!taking_part || n < LEAST || gam_direct_most(splitc_runtime.gam, rank) == 0)
        return false;
    put = malloc(sizeof *put);
    if (!put)
        return false;
    *put = (struct put){.rank = rank, .from = from, .to = to, .left = n};
    *last = put;
    last = &put->next;
    splitc_direct_busy++;
    splitc_runtime.puts++;
    splitc_direct_move();
    return true;
}
