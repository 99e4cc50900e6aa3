/* SPDX-License-Identifier: BSD-3-Clause
 *
 * direct.c - bulk puts by direct access, where the network between two ranks has it.
 *
 * A put is cut into transfers.  The owner of the target memory grants access to it, the pieces of
 * the transfer are placed there without the owner, and then the owner compares a checksum of the
 * memory with the sender's.  If they differ, the transfer is sent again as a store.  The grant has
 * ended by then, so a piece that is late cannot overwrite the store, or later writes of the
 * program.
 *
 *     the sender                             the owner
 *     ASK    address, bytes, transfer    ->  grants
 *                                        <-  READY   transfer, grant (0: none)
 *     pieces .............................>
 *     CHECK  grant, address, bytes, sum  ->  revokes, sums
 *                                        <-  LANDED  grant, whether the sums are one
 *
 * A put counts as pending until it is cut up, and so does each of its transfers until it ends.
 */
#include "direct.h"

#include "access.h"
#include "direct_path.h"

#include <errno.h>
#include <reliable/reliable.h>
#include <stdlib.h>

enum {
    LEAST = 8192,  /* bytes of a put for which asking the owner pays */
    TRANSFERS = 8, /* under way at a time */
    PATIENCE = 64, /* after this many consecutive failures no more transfers are tried */
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
    bool holds; /* the pages of the source are pinned */
    uint32_t rank;
    uint32_t number;
    uint64_t grant;
    const char *from;
    char *to;
    size_t bytes;
    uint64_t handle;
};

struct put {
    struct put *next;
    uint32_t rank;
    const char *from;
    char *to;
    size_t left;
    uint64_t handle;
};

uint64_t splitc_direct_busy, splitc_direct_landed, splitc_direct_repeated;

static struct unet_endpoint *network; /* the endpoint to other nodes */
static const struct splitc_direct_path *path;
static bool direct_enabled;
static struct transfer transfer[TRANSFERS]; /* indexed by number % TRANSFERS */
static struct put *first_put, **last_put = &first_put;
static uint32_t next_number = 1;
static uint32_t failures; /* consecutive ones */

void splitc_direct_open(void)
{
    const char *setting = getenv("SPLITC_DIRECT");

    if (setting && strcmp(setting, "0") != 0 && strcmp(setting, "1") != 0)
        splitc_die_together("SPLITC_DIRECT is \"%s\": it may be 1, or 0 to have bulk puts go in "
                            "messages",
                            setting);
    network = splitc_runtime.network;
    path = splitc_direct_path();
    direct_enabled = network && !(setting && strcmp(setting, "0") == 0) && path->open(network) == 0;
}

/* ---- the owner ------------------------------------------------------------------------ */

void splitc_on_direct_ask(struct gam *g, const struct gam_message *m)
{
    const void *address = (void *)(uintptr_t)m->word[0];
    uint64_t grant = 0;

    splitc_expect(m, m->words == 3);
    if (direct_enabled)
        path->grant(network, m->source, address, m->word[1], &grant);
    splitc_sent(m->source, gam_reply_2(g, SPLITC_MSG_DIRECT_READY, m->word[2], grant));
}

void splitc_on_direct_check(struct gam *g, const struct gam_message *m)
{
    const uint64_t grant = m->word[0];
    const void *address = (void *)(uintptr_t)m->word[1];
    const size_t n = m->word[2];

    splitc_expect(m,
                  m->words == 4 && direct_enabled && path->revoke(network, address, n, grant) == 0);
    splitc_sent(m->source, gam_reply_2(g, SPLITC_MSG_DIRECT_LANDED, grant,
                                       path->mac(network, grant, address, n) == m->word[3]));
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

static struct transfer *transfer_in_check(uint32_t rank, uint64_t grant)
{
    for (int i = 0; i < TRANSFERS; i++) {
        struct transfer *t = &transfer[i];

        if (t->stage == CHECKING && t->rank == rank && t->grant == grant)
            return t;
    }
    return NULL;
}

static void transfer_release(struct transfer *t)
{
    if (t->holds)
        path->unpin(network, t->from, t->bytes);
    t->holds = false;
}

void splitc_on_direct_landed(struct gam *g, const struct gam_message *m)
{
    struct transfer *t = transfer_in_check(m->source, m->word[0]);

    (void)g;
    splitc_expect(m, m->words == 2 && t);
    transfer_release(t);
    t->stage = m->word[1] ? FREE : REFUSED;
    if (t->stage == REFUSED)
        return;
    failures = 0;
    splitc_direct_landed++;
    splitc_direct_busy--;
    splitc_runtime.puts--;
    splitc_handle_less(t->handle);
}

/* ---- transfers ----------------------------------------------------------------------------- */

/* A request polls, so the stage may change while it is sent. */
static void transfer_ask(struct transfer *t)
{
    t->stage = ASKED;
    splitc_sent(t->rank, gam_request_3(splitc_runtime.gam, t->rank, SPLITC_MSG_DIRECT_ASK,
                                       (uintptr_t)t->to, t->bytes, t->number));
}

static void transfer_check(struct transfer *t)
{
    struct gam *g = splitc_runtime.gam;
    const uint64_t sum = path->mac(network, t->grant, t->from, t->bytes);

    t->stage = CHECKING;
    splitc_sent(t->rank, gam_request_4(g, t->rank, SPLITC_MSG_DIRECT_CHECK, t->grant,
                                       (uintptr_t)t->to, t->bytes, sum));
}

/* Where the pages of the source cannot be pinned, no piece is sent, and the owner finds that the
 * sums differ. */
static void transfer_put_pieces(struct transfer *t)
{
    int rc = 0;

    if (!t->holds)
        t->holds = path->pin(network, t->from, t->bytes) == 0;
    if (t->holds)
        rc = path->put(network, t->rank, t->grant, t->from, t->to, t->bytes);
    if (rc == -EAGAIN)
        return;
    splitc_sent(t->rank, rc);
    transfer_check(t);
}

/* A put that counts as pending already.  Without memory to remember it, it is done at once. */
static void put_in_messages(uint32_t rank, void *to, const void *from, size_t n, uint64_t handle)
{
    int result = gam_store_async(splitc_runtime.gam, rank, from, to, n, SPLITC_MSG_PUT_LANDED,
                                 handle, NULL, NULL);

    if (result == -ENOMEM)
        result = gam_store(splitc_runtime.gam, rank, from, to, n, SPLITC_MSG_PUT_LANDED, handle);
    splitc_sent(rank, result);
}

/* The store takes over the transfer's share of the pending puts. */
static void transfer_store(struct transfer *t)
{
    const struct transfer old = *t;

    t->stage = FREE;
    splitc_direct_busy--;
    splitc_direct_repeated++;
    direct_enabled =
        direct_enabled &&
        ++failures < PATIENCE; /* a process that may not pin enough need not ask for ever */
    put_in_messages(old.rank, old.to, old.from, old.bytes, old.handle);
}

static void transfer_move(struct transfer *t)
{
    switch (t->stage) {
    case READY:
        transfer_put_pieces(t);
        break;
    case REFUSED:
        transfer_store(t);
        break;
    case FREE:
    case ASKED:
    case CHECKING:
        break;
    }
}

/* ---- puts ------------------------------------------------------------------------------------ */

/* The next transfer of the oldest put. */
static void put_cut(struct put *put, struct transfer *t)
{
    const size_t most = RELIABLE_DIRECT_PIECES * path->most(network);
    const size_t n = put->left < most ? put->left : most;

    *t = (struct transfer){.rank = put->rank,
                           .number = next_number,
                           .from = put->from,
                           .to = put->to,
                           .bytes = n,
                           .handle = put->handle};
    splitc_handle_more(put->handle);
    next_number = next_number % NUMBERS + 1;
    put->from += n;
    put->to += n;
    put->left -= n;
    splitc_direct_busy++;
    splitc_runtime.puts++;
    transfer_ask(t);
}

static void put_end_first(void)
{
    struct put *put = first_put;

    first_put = put->next;
    if (!first_put)
        last_put = &first_put;
    splitc_direct_busy--;
    splitc_runtime.puts--;
    splitc_handle_less(put->handle);
    free(put);
}

static void put_begin_transfers(void)
{
    while (first_put && transfer[next_number % TRANSFERS].stage == FREE) {
        struct put *put = first_put;

        put_cut(put, &transfer[next_number % TRANSFERS]);
        if (put->left == 0)
            put_end_first();
    }
}

/* What it sends polls, but no handler calls it. */
bool splitc_direct_move(void)
{
    bool stuck = false;

    for (int i = 0; i < TRANSFERS; i++) {
        transfer_move(&transfer[i]);
        stuck |= transfer[i].stage == READY;
    }
    put_begin_transfers();
    return stuck;
}

bool splitc_direct_takes(uint32_t rank, size_t n)
{
    return direct_enabled && n >= LEAST && splitc_is_by_network(rank);
}

static struct put *put_remember(uint32_t rank, void *to, const void *from, size_t n,
                                uint64_t handle)
{
    struct put *put;

    if (!splitc_direct_takes(rank, n))
        return NULL;
    put = malloc(sizeof *put);
    if (put)
        *put = (struct put){.rank = rank, .from = from, .to = to, .left = n, .handle = handle};
    return put;
}

void splitc_direct_put(uint32_t rank, void *to, const void *from, size_t n, uint64_t handle)
{
    struct put *put = put_remember(rank, to, from, n, handle);

    splitc_runtime.puts++;
    if (!put) {
        put_in_messages(rank, to, from, n, handle);
        return;
    }
    *last_put = put;
    last_put = &put->next;
    splitc_direct_busy++;
    splitc_direct_move();
}
