/* SPDX-License-Identifier: BSD-3-Clause
 *
 * direct.c - bulk puts by direct access, where the network between two ranks has it.
 *
 * A put is cut into transfers.  The owner of the place grants it, pieces go there without the
 * owner's help, and then it is asked whether what is there is what was sent.  A transfer of which
 * that is not true goes again as a store: the grant has ended by then, so nothing that comes late
 * is placed over it, or over what the program does with that memory later.
 *
 *     we                                     the owner
 *     ASK    address, bytes, transfer    ->  grants
 *                                        <-  READY   transfer, grant (0: none)
 *     pieces .............................>
 *     CHECK  grant, address, bytes, sum  ->  revokes, sums
 *                                        <-  LANDED  grant, whether the sums are one
 *
 * A put counts as pending for itself until it is cut up, and once for each of its transfers.
 */
#include "direct.h"
#include "job/endpoints.h"

#include <errno.h>
#include <stdlib.h>

enum {
    LEAST = 8192,  /* bytes of a put for which it is worth asking */
    TRANSFERS = 8, /* on their way */
    PATIENCE = 64, /* with transfers in a row that come to nothing */
    NUMBERS = (1 << 24) - 1,
};

enum stage {
    FREE,
    ASKED,
    READY,    /* the owner has granted it */
    CHECKING, /* all pieces have gone */
    REFUSED,  /* it goes as a store */
};

struct transfer {
    enum stage stage;
    bool holds; /* the source's pages */
    uint32_t rank;
    uint32_t number;
    uint64_t grant;
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

static struct unet_endpoint *network;
static bool taking_part;
static struct transfer transfer[TRANSFERS]; /* by number, modulo theirs */
static struct put *first, **last = &first;
static uint32_t next_number = 1;
static uint32_t vain; /* transfers in a row */

void splitc_direct_open(void)
{
    const char *told = getenv("SPLITC_DIRECT");

    network = splitc_endpoints_reliable();
    taking_part =
        network && !(told && strcmp(told, "0") == 0) && reliable_direct_open(network) == 0;
}

/* ---- the owner ------------------------------------------------------------------------ */

void splitc_on_direct_ask(struct gam *g, const struct gam_message *m)
{
    const void *address = (void *)(uintptr_t)m->word[0];
    uint64_t grant = 0;

    splitc_expect(m, m->words == 3);
    if (taking_part)
        reliable_direct_grant(network, m->source, address, m->word[1], &grant);
    splitc_sent(m->source, gam_reply_2(g, SPLITC_MSG_DIRECT_READY, m->word[2], grant));
}

void splitc_on_direct_check(struct gam *g, const struct gam_message *m)
{
    const uint64_t grant = m->word[0];
    const void *address = (void *)(uintptr_t)m->word[1];
    const size_t n = m->word[2];

    splitc_expect(m, m->words == 4 && taking_part &&
                         reliable_direct_revoke(network, address, n, grant) == 0);
    splitc_sent(m->source,
                gam_reply_2(g, SPLITC_MSG_DIRECT_LANDED, grant,
                            reliable_direct_mac(network, grant, address, n) == m->word[3]));
}

/* ---- answers ---------------------------------------------------------------------------- */

void splitc_on_direct_ready(struct gam *g, const struct gam_message *m)
{
    struct transfer *t = &transfer[m->word[0] % TRANSFERS];

    (void)g;
    splitc_expect(m, m->words == 2 && t->stage == ASKED && t->rank == m->source &&
                         t->number == m->word[0]);
    t->grant = m->word[1];
    t->stage = t->grant ? READY : REFUSED;
}

static struct transfer *checked(uint32_t rank, uint64_t grant)
{
    for (int i = 0; i < TRANSFERS; i++) {
        struct transfer *t = &transfer[i];

        if (t->stage == CHECKING && t->rank == rank && t->grant == grant)
            return t;
    }
    return NULL;
}

static void release(struct transfer *t)
{
    if (t->holds)
        reliable_direct_unpin(network, t->from, t->bytes);
    t->holds = false;
}

void splitc_on_direct_landed(struct gam *g, const struct gam_message *m)
{
    struct transfer *t = checked(m->source, m->word[0]);

    (void)g;
    splitc_expect(m, m->words == 2 && t);
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

static void check(struct transfer *t)
{
    struct gam *g = splitc_runtime.gam;
    const uint64_t sum = reliable_direct_mac(network, t->grant, t->from, t->bytes);

    t->stage = CHECKING;
    splitc_sent(t->rank, gam_request_4(g, t->rank, SPLITC_MSG_DIRECT_CHECK, t->grant,
                                       (uintptr_t)t->to, t->bytes, sum));
}

/* Where our own pages cannot be held, nothing goes, and the owner finds that all is missing. */
static void put_pieces(struct transfer *t)
{
    int rc = 0;

    if (!t->holds)
        t->holds = reliable_direct_pin(network, t->from, t->bytes) == 0;
    if (t->holds)
        rc = reliable_direct_put(network, t->rank, t->grant, t->from, t->to, t->bytes);
    if (rc == -EAGAIN)
        return;
    splitc_sent(t->rank, rc);
    check(t);
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
    const size_t most = RELIABLE_DIRECT_PIECES * reliable_direct_most(network);
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

    if (!taking_part || n < LEAST || !splitc_by_network(rank))
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
