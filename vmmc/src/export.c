/* SPDX-License-Identifier: BSD-3-Clause
 *
 * export.c - buffers of this process: who may write where.
 */
#include "internal.h"
#include <stdlib.h>

/* ---- slots ---------------------------------------------------------------- */

static uint32_t slot_of(uint32_t number)
{
    return number & (VMMC_EXPORTS_MAX - 1);
}

struct vmmc_exported *vmmc_export_find(const struct vmmc *v, uint32_t number)
{
    const uint32_t slot = slot_of(number);
    struct vmmc_exported *e = slot < v->slots ? v->slot[slot].e : NULL;

    return e && e->number == number ? e : NULL;
}

static struct vmmc_exported *export_named(const struct vmmc *v, uint64_t name)
{
    for (uint32_t i = 0; i < v->slots; i++) {
        if (v->slot[i].e && v->slot[i].e->name == name)
            return v->slot[i].e;
    }
    return NULL;
}

/* A slot whose generations are used up stays empty. */
static bool slot_usable(const struct vmmc_slot *slot)
{
    return !slot->e && slot->generation < 1u << (32 - VMMC_SLOT_BITS);
}

/* A free slot, or -ENOSPC. */
static int slot_find(struct vmmc *v)
{
    for (uint32_t i = 0; i < v->slots; i++) {
        if (slot_usable(&v->slot[i]))
            return (int)i;
    }
    return v->slots < VMMC_EXPORTS_MAX ? (int)v->slots++ : -ENOSPC;
}

/* ---- arrivals --------------------------------------------------------------- */

static bool export_admits(const struct vmmc *v, const struct vmmc_exported *e,
                          const struct gam_piece *piece)
{
    return e && piece->source < gam_ranks(v->g) && e->right[piece->source] > 0 &&
           piece->offset <= e->n && piece->length <= e->n - piece->offset;
}

void *vmmc_export_place(void *arg, const struct gam_piece *piece, size_t *length)
{
    struct vmmc *v = arg;
    struct vmmc_exported *e = vmmc_export_find(v, piece->buffer);
    uint64_t to;
    uint64_t posted;

    if (!export_admits(v, e, piece)) {
        v->stats.refused++;
        if (piece->source < gam_ranks(v->g))
            vmmc_lane_land(v, piece->source, piece->length);
        return NULL;
    }
    if (*length == 0) {
        vmmc_lane_land(v, piece->source, 0);
        return e->at;
    }
    to = vmmc_posting_find(e->door, piece->offset, length, &posted);
    if (posted) {
        vmmc_posting_extend(e->door, posted, piece->offset, *length);
        v->stats.redirected_bytes += *length;
    }
    vmmc_lane_land(v, piece->source, *length);
    e->arrived += *length;
    v->stats.arrived_bytes += *length;
    return (void *)(uintptr_t)to;
}

/* ---- rights ------------------------------------------------------------------ */

/* Whether a rank other than this one, and alive, has imported it. */
static bool export_taken(const struct vmmc_exported *e, uint32_t rank)
{
    for (uint32_t i = 0; i < gam_ranks(e->v->g); i++) {
        if (i != rank && e->right[i] > 0 && !gam_is_dead(e->v->g, i))
            return true;
    }
    return false;
}

/* 0, or why that rank may not import it. */
static int export_judge(const struct vmmc_exported *e, uint32_t rank, uint64_t secret)
{
    if (e->secret != secret || (e->rank != VMMC_ANYBODY && e->rank != rank))
        return -EACCES;
    if ((e->flags & VMMC_REDIRECTABLE) && export_taken(e, rank))
        return -EBUSY;
    return e->right[rank] < UINT16_MAX ? 0 : -EBUSY;
}

/* Who waits long for an answer asks again, by the same ticket.  The right that was granted is on
 * its way, and a second one would be given back late or never. */
static bool export_has_answered(const struct vmmc_exported *e, uint32_t rank, uint32_t ticket)
{
    const struct vmmc_peer *peer = &e->v->peer[rank];

    return peer->ticket == ticket && peer->granted == e->number;
}

/* Before the answer, as who has it copies at once.  A redirectable buffer is taken from a rank that
 * is dead to GAM, even if its process still copies. */
static void export_grant(struct vmmc_exported *e, uint32_t rank, uint32_t ticket)
{
    const uint32_t before = e->door->writer;

    e->v->peer[rank].ticket = ticket;
    e->v->peer[rank].granted = e->number;
    e->right[rank]++;
    if (!(e->flags & VMMC_REDIRECTABLE) || before == rank)
        return;
    e->door->writer = rank;
    if (before < gam_ranks(e->v->g))
        vmmc_lane_drain(e->v->peer[before].lane);
}

/* The answer could not be sent: the next question with this ticket is answered anew. */
static void export_grant_undo(struct vmmc_exported *e, uint32_t rank)
{
    e->v->peer[rank].ticket = 0;
    e->right[rank]--;
}

void vmmc_export_on_import(struct gam *g, const struct gam_message *m)
{
    struct vmmc *v = gam_placement_arg(g);
    struct vmmc_exported *e = v && m->words == 3 ? export_named(v, m->word[0]) : NULL;
    const int rc = e ? export_judge(e, m->source, m->word[1]) : -ENOENT;
    struct vmmc_lane *lane;
    /* The index is the one that this was called by, as the instance may be closed. */
    const uint32_t reply = m->handler - VMMC_ON_IMPORT + VMMC_ON_IMPORTED;

    if (rc == 0 && export_has_answered(e, m->source, (uint32_t)m->word[2]))
        return;
    if (rc) {
        if (v && rc == -EACCES)
            v->stats.denied++;
        gam_reply_2(g, reply, m->word[2], (uint64_t)-rc);
        return;
    }
    vmmc_lane_publish(v); /* the sender counts from what is told now */
    lane = vmmc_lane_open(v, m->source);
    export_grant(e, m->source, (uint32_t)m->word[2]);
    if (gam_reply_4(g, reply, (uint64_t)(lane ? lane->use : 0) << 32 | (uint32_t)m->word[2],
                    (uint64_t)e->number << 32, e->n, (uintptr_t)lane) != 0)
        export_grant_undo(e, m->source);
}

void vmmc_export_on_unimport(struct gam *g, const struct gam_message *m)
{
    struct vmmc *v = gam_placement_arg(g);
    struct vmmc_exported *e = v && m->words == 1 ? vmmc_export_find(v, (uint32_t)m->word[0]) : NULL;

    if (e && e->right[m->source] > 0)
        e->right[m->source]--;
}

/* ---- calls --------------------------------------------------------------------- */

static bool export_ok(const struct vmmc *v, uint32_t rank, const void *at, size_t n, unsigned flags)
{
    return (rank == VMMC_ANYBODY || rank < gam_ranks(v->g)) && at && n > 0 &&
           (uintptr_t)at + n > (uintptr_t)at && (flags & ~VMMC_REDIRECTABLE) == 0;
}

int vmmc_export(struct vmmc *v, uint64_t name, uint64_t secret, uint32_t rank, void *at, size_t n,
                unsigned flags, vmmc_notify_fn *notify, void *arg, struct vmmc_exported **out)
{
    struct vmmc_exported *e;
    int slot;

    if (!export_ok(v, rank, at, n, flags))
        return -EINVAL;
    if (export_named(v, name))
        return -EEXIST;
    e = calloc(1, sizeof(*e) + gam_ranks(v->g) * sizeof(e->right[0]));
    if (!e)
        return -ENOMEM;
    e->door = gam_memory_alloc(v->g, sizeof(*e->door));
    slot = e->door ? slot_find(v) : -ENOMEM;
    if (slot < 0) {
        gam_memory_free(v->g, e->door);
        free(e);
        return slot;
    }
    e->v = v;
    e->name = name;
    e->secret = secret;
    e->rank = rank;
    e->number = v->slot[slot].generation++ << VMMC_SLOT_BITS | (uint32_t)slot;
    e->at = at;
    e->n = n;
    e->flags = flags;
    e->notify = notify;
    e->arg = arg;
    e->door->at = (uintptr_t)at;
    e->door->number = e->number;
    e->door->writer = VMMC_ANYBODY;
    v->slot[slot].e = e;
    atomic_store_explicit(&v->door[slot], (uintptr_t)e->door, memory_order_release);
    *out = e;
    return 0;
}

/* Who copies has found the door before it was taken from the table, and ends its piece. */
static void export_shut(struct vmmc_exported *e)
{
    struct vmmc *v = e->v;

    atomic_store_explicit(&v->door[slot_of(e->number)], 0, memory_order_release);
    for (uint32_t rank = 0; rank < gam_ranks(v->g); rank++)
        vmmc_lane_drain(e->right[rank] > 0 ? v->peer[rank].lane : NULL);
    v->stats.arrived_bytes += atomic_load(&e->door->landed);
    v->stats.redirected_bytes += atomic_load(&e->door->redirected);
    gam_memory_free(v->g, e->door);
}

/* It is out of its slot before anybody is told, as telling may poll. */
void vmmc_unexport(struct vmmc_exported *e)
{
    struct vmmc *v = e->v;

    v->slot[slot_of(e->number)].e = NULL;
    export_shut(e);
    for (uint32_t rank = 0; rank < gam_ranks(v->g); rank++) {
        if (e->right[rank] > 0)
            gam_request_1(v->g, rank, v->first + VMMC_ON_REVOKED, e->number);
    }
    free(e);
}

uint64_t vmmc_arrived(const struct vmmc_exported *e)
{
    return e->arrived + atomic_load_explicit(&e->door->landed, memory_order_acquire);
}
