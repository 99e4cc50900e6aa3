/* SPDX-License-Identifier: BSD-3-Clause
 *
 * import.c - buffers of other processes: how they are found, sent to and lost.
 */
#include "internal.h"
#include <stdlib.h>
#include <time.h>

enum {
    ASK_AGAIN_MS = 1, /* for a name that is not exported yet */
    PATIENCE_MS = 5,  /* until there is no answer to the first question; twice that for the next, */
    PATIENCE_MOST_MS = 5000, /* as each may take a slot of the owner's window */
};

/* ---- asking -------------------------------------------------------------------- */

/* An answer that comes too late has given a right, which a handler of a reply cannot give back. */
static void import_orphan(struct vmmc *v, uint32_t rank, uint32_t number)
{
    struct vmmc_orphan *more = realloc(v->orphan, (v->orphans + 1) * sizeof(*more));

    if (!more)
        return;
    v->orphan = more;
    more[v->orphans++] = (struct vmmc_orphan){rank, number};
}

void vmmc_orphans_return(struct vmmc *v)
{
    while (v->orphans > 0) {
        const struct vmmc_orphan o = v->orphan[--v->orphans];

        gam_request_1(v->g, o.rank, v->first + VMMC_ON_UNIMPORT, o.number);
    }
}

void vmmc_import_on_imported(struct gam *g, const struct gam_message *m)
{
    struct vmmc *v = gam_placement_arg(g);
    const bool granted = m->words == 4 && (uint32_t)m->word[1] == 0;

    if (!v || (!granted && (m->words != 2 || m->word[1] == 0 || m->word[1] > 4095)))
        return;
    if (m->source != v->asking.rank || (uint32_t)m->word[0] != v->asking.ticket) {
        if (granted)
            import_orphan(v, m->source, (uint32_t)(m->word[1] >> 32));
        return;
    }
    v->asking.answered = true;
    v->asking.status = granted ? 0 : -(int)m->word[1];
    v->asking.number = granted ? (uint32_t)(m->word[1] >> 32) : 0;
    v->asking.n = granted ? m->word[2] : 0;
    v->asking.lane = granted ? m->word[3] : 0;
    v->asking.use = (uint32_t)(m->word[0] >> 32);
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* How long the next sleep may be: until `until`, or 100 ms. */
static int left_ms(int64_t until)
{
    const int64_t left = until < 0 ? 100 : until - now_ms();

    return left < 0 ? 0 : left < 100 ? (int)left : 100;
}

static bool ask_is_answered(const struct vmmc *v)
{
    return v->asking.answered;
}

static bool ask_is_granted(const struct vmmc *v)
{
    return v->asking.answered && v->asking.status == 0;
}

/* Wait until it is `done`.  -ETIMEDOUT, -EPIPE. */
static int ask_wait(struct vmmc *v, uint32_t rank, int64_t until, bool (*done)(const struct vmmc *))
{
    for (;;) {
        if (done(v))
            return 0;
        if (gam_is_dead(v->g, rank))
            return -EPIPE;
        if (until >= 0 && now_ms() >= until)
            return -ETIMEDOUT;
        /* With some rank dead this does not sleep. */
        if (gam_wait(v->g, left_ms(until)) == -EPIPE)
            gam_poll(v->g);
    }
}

/* The earlier of two times, of which the first may be none. */
static int64_t earlier(int64_t until, int64_t other)
{
    return until >= 0 && until < other ? until : other;
}

/* Ask once, and wait for the answer until then. */
static int import_ask(struct vmmc *v, uint32_t rank, uint64_t name, uint64_t secret, int64_t until)
{
    int rc;

    v->asking.answered = false;
    rc = gam_request_3(v->g, rank, v->first + VMMC_ON_IMPORT, name, secret, v->asking.ticket);
    if (rc == 0)
        rc = ask_wait(v, rank, until, ask_is_answered);
    return rc ? rc : v->asking.status;
}

/* No two imports of this process have the same, not of different instances either; 0 is none. */
static uint32_t ticket_take(void)
{
    static _Atomic uint32_t last;
    uint32_t ticket;

    do
        ticket = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    while (ticket == 0);
    return ticket;
}

/* GAM refuses what comes before the owner has opened its instance, so there may be no answer.  All
 * questions have one ticket: the owner grants them one right, and answers no more then.  So a right
 * is taken whenever it comes, in the pause between two questions, too. */
static int import_ask_often(struct vmmc *v, uint32_t rank, uint64_t name, uint64_t secret,
                            int64_t until)
{
    int64_t patience = PATIENCE_MS;

    v->asking = (struct vmmc_asking){.ticket = ticket_take(), .rank = rank};
    for (;;) {
        const int64_t now = now_ms();
        int rc = import_ask(v, rank, name, secret, earlier(until, now + patience));

        if (rc == -ENOENT)
            rc = ask_wait(v, rank, earlier(until, now_ms() + ASK_AGAIN_MS), ask_is_granted);
        else if (rc == -ETIMEDOUT && patience < PATIENCE_MOST_MS)
            patience *= 2;
        if (rc != -ETIMEDOUT || (until >= 0 && now_ms() >= until))
            return rc;
    }
}

int vmmc_import(struct vmmc *v, uint32_t rank, uint64_t name, uint64_t secret, int timeout_ms,
                struct vmmc_imported **out, size_t *n)
{
    const int64_t until = timeout_ms < 0 ? -1 : now_ms() + timeout_ms;
    struct vmmc_imported *i;
    int rc;

    if (rank >= gam_ranks(v->g) || gam_in_handler(v->g))
        return -EINVAL;
    i = calloc(1, sizeof(*i));
    if (!i)
        return -ENOMEM;
    vmmc_orphans_return(v);
    rc = import_ask_often(v, rank, name, secret, until);
    v->asking.ticket = 0; /* what comes now is too late */
    if (rc) {
        free(i);
        return rc;
    }
    *i = (struct vmmc_imported){
        .v = v, .next = v->imports, .n = v->asking.n, .rank = rank, .number = v->asking.number};
    vmmc_window_open(i, v->asking.lane, v->asking.use);
    v->imports = i;
    *out = i;
    if (n)
        *n = i->n;
    return 0;
}

/* ---- losing ------------------------------------------------------------------------- */

void vmmc_import_on_revoked(struct gam *g, const struct gam_message *m)
{
    struct vmmc *v = gam_placement_arg(g);

    if (!v || m->words != 1)
        return;
    /* One poll may read the right and its end: nobody has listed that import yet, so ask anew. */
    if (v->asking.answered && v->asking.status == 0 && v->asking.rank == m->source &&
        v->asking.number == m->word[0])
        v->asking.status = -ENOENT;
    for (struct vmmc_imported *i = v->imports; i; i = i->next) {
        if (i->rank == m->source && i->number == m->word[0] && i->why == 0) {
            i->why = -ESTALE;
            v->invalid = true;
        }
    }
}

static void imports_find_dead(struct vmmc *v)
{
    for (struct vmmc_imported *i = v->imports; i; i = i->next) {
        if (i->why == 0 && gam_is_dead(v->g, i->rank)) {
            i->why = -EPIPE;
            v->invalid = true;
        }
    }
}

static struct vmmc_imported *import_untold(struct vmmc *v)
{
    struct vmmc_imported *i = v->imports;

    while (i && (i->why == 0 || i->told))
        i = i->next;
    return i;
}

/* The user may change the list at each. */
int vmmc_imports_check(struct vmmc *v)
{
    struct vmmc_imported *i;
    int told = 0;

    if (gam_dead_peer(v->g) >= 0)
        imports_find_dead(v);
    if (!v->invalid)
        return 0;
    v->invalid = false;
    while ((i = import_untold(v)) != NULL) {
        i->told = true;
        told++;
        v->running = true;
        if (v->on_invalid)
            v->on_invalid(i, v->on_invalid_arg, i->why);
        v->running = false;
    }
    return told;
}

bool vmmc_is_valid(const struct vmmc_imported *i)
{
    return i->why == 0 && !gam_is_dead(i->v->g, i->rank);
}

void vmmc_unimport(struct vmmc_imported *i)
{
    struct vmmc *v = i->v;
    struct vmmc_imported **link = &v->imports;

    while (*link != i)
        link = &(*link)->next;
    *link = i->next;
    if (vmmc_is_valid(i))
        gam_request_1(v->g, i->rank, v->first + VMMC_ON_UNIMPORT, i->number);
    free(i);
}

void vmmc_on_invalid(struct vmmc *v, vmmc_invalid_fn *fn, void *arg)
{
    v->on_invalid = fn;
    v->on_invalid_arg = arg;
}

/* ---- sending ------------------------------------------------------------------------ */

/* Bytes, or none, by messages.  The owner says how many it has read as this counts them. */
static int send_messages(struct vmmc_imported *i, uint64_t offset, const void *from, size_t n,
                         uint32_t handler, uint32_t tag)
{
    struct vmmc *v = i->v;
    const int rc = gam_place_store(v->g, i->rank, from, n, i->number, offset, handler, tag);

    if (rc == 0)
        v->peer[i->rank].sent += n > 0 ? n : 1;
    return rc;
}

/* Whether copying is worth a look; what GAM would refuse is left to it. */
static bool send_may_copy(const struct vmmc_imported *i, const void *from, size_t n)
{
    return n > VMMC_SMALL_MAX && i->lane && from && (uintptr_t)from + n > (uintptr_t)from &&
           !gam_in_handler(i->v->g) && !gam_is_dead(i->v->g, i->rank);
}

/* The first `done` bytes are in place: the others follow, and then the owner is told. */
static int send_rest(struct vmmc_imported *i, uint64_t offset, const uint8_t *from, size_t n,
                     size_t done, unsigned flags, uint32_t tag)
{
    struct vmmc *v = i->v;
    int rc = 0;

    if (done < n)
        rc = send_messages(i, offset + done, from + done, n - done, 0, 0);
    if (rc == 0 && (flags & VMMC_NOTIFY))
        return gam_request_4(v->g, i->rank, v->first + VMMC_ON_NOTIFY, tag, i->number, offset, n);
    return rc ? rc : gam_request_0(v->g, i->rank, v->first + VMMC_ON_LANDED);
}

int vmmc_send(struct vmmc_imported *i, uint64_t offset, const void *from, size_t n, unsigned flags,
              uint32_t tag)
{
    struct vmmc *v = i->v;
    const uint32_t handler = flags & VMMC_NOTIFY ? v->first + VMMC_ON_NOTIFY : 0;
    size_t done = 0;
    int rc;

    if (i->why)
        return i->why;
    if (offset > i->n || n > i->n - offset || (flags & ~VMMC_NOTIFY) != 0)
        return -EINVAL;
    vmmc_lane_publish(v);
    if (send_may_copy(i, from, n))
        done = vmmc_window_send(i, offset, from, n);
    if (done > 0)
        rc = send_rest(i, offset, from, n, done, flags, tag);
    else
        rc = send_messages(i, offset, from, n, handler, tag);
    if (rc)
        return rc;
    v->stats.sends++;
    v->stats.sent_bytes += n;
    return 0;
}
