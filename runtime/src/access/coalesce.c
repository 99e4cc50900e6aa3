/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coalesce.c - small accesses to one rank of another node share messages.
 *
 * A message costs a sender over a network more than the bytes of many accesses.  So in a burst of
 * small stores, puts and gets to one rank only the first few go by themselves.  The others become
 * records, which wait until they are as many as went before in the burst: a burst then takes few
 * messages, and at most half of it waits.  Whatever else the rank does with messages sends the
 * records first: a wait, a poll, an access that waits, a message of another kind.  Accesses to a
 * rank of up to 24 bytes therefore stay in order.
 *
 * A rank may also wait without doing anything with messages, by reading the memory of a rank of its
 * node.  What it waits for may depend on its records, which nobody would send.  So bursts wait only
 * where no other rank's memory can be read, or where a second thread sends what waits; transfers
 * that know all their accesses, and send what is left (strided.c), do so everywhere.
 *
 *   RECORDS      puts, gets; records                answered, unless both are 0, by
 *   RECORDS_DONE puts, gets; records of the answers
 *
 *   record of a store or put   kind|n|address, n bytes
 *   record of a get            kind|n|address, address at the caller
 *   record of its answer       n|address at the caller, n bytes
 *
 * Bytes are filled up to a multiple of 8.  Accesses to addresses that follow one another become one
 * record.
 */
#include "access.h"
#include "library.h"

#include <stdlib.h>

enum {
    SPARES = 32,       /* free ones that are kept */
    FEW = 4,           /* accesses of a burst that go by themselves */
    OLD_ACCESSES = 16, /* in a message; fewer go with the next access when they are old */
    ACCESSES_MAX = GAM_MEDIUM_MAX, /* that a message can have */
    KIND_SHIFT = 62,
    SIZE_MASK = (1 << (KIND_SHIFT - SPLITC_ADDRESS_BITS)) - 1,
};

#define OLD_SECONDS 100e-6

_Static_assert(GAM_MEDIUM_MAX <= (unsigned)SIZE_MASK, "the longest record has a size");

struct record {
    uint64_t head;
    uint64_t body[];
};

/* Records that wait for a message to one rank. */
struct records {
    struct records *next, **at; /* of those that wait; of those that are free, without `at` */
    uint32_t rank;
    uint32_t accesses;
    uint32_t puts, gets;
    uint32_t bytes;  /* of `data` */
    uint32_t answer; /* bytes that the answer will have */
    struct record *last;
    double opened; /* in seconds */
    uint64_t data[GAM_MEDIUM_MAX / 8];
};

/* What went to a rank since this rank last waited. */
struct burst {
    struct records *open; /* NULL: no record waits */
    uint32_t number;
    uint32_t sent; /* accesses */
};

uint32_t splitc_bursts;

static struct burst *burst; /* by rank; NULL: no rank is on another node */
static bool bursts_wait;    /* any access may become a record */
static bool together;       /* those of the transfer that goes on may */
static struct records *waiting, *spare;
static uint32_t spares;

void splitc_coalesce_open(void)
{
    const char *setting = getenv("SPLITC_COALESCE");

    if (setting && strcmp(setting, "0") != 0 && strcmp(setting, "1") != 0)
        splitc_die_together(
            "SPLITC_COALESCE is \"%s\": it may be 1, to have bursts of small accesses "
            "share messages, or 0",
            setting);
    if (splitc_runtime.network)
        burst = calloc(splitc_runtime.ranks, sizeof *burst); /* without memory there is none */
    if (setting)
        bursts_wait = strcmp(setting, "0") != 0;
    else
        bursts_wait = splitc_runtime.near_ranks <= 1 || splitc_runtime.served;
}

/* ---- records ------------------------------------------------------------------------- */

static size_t padded(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

static uint64_t record_head(enum splitc_record kind, size_t n, const volatile void *address)
{
    return (uint64_t)kind << KIND_SHIFT | splitc_pack(address, n);
}

static enum splitc_record record_kind(const struct record *r)
{
    return (enum splitc_record)(r->head >> KIND_SHIFT);
}

static size_t record_size(const struct record *r)
{
    return splitc_packed_size(r->head) & SIZE_MASK;
}

/* Whether an access goes on where the last one ended, so that its bytes only make that longer. */
static bool record_continues(const struct record *last, enum splitc_record kind,
                             const volatile void *there, const void *here)
{
    const size_t n = record_size(last);
    const uint8_t *end = (const uint8_t *)splitc_packed_address(last->head) + n;

    if (record_kind(last) != kind || end != there || n % 8 != 0)
        return false;
    return kind != SPLITC_RECORD_GET || (uintptr_t)here == last->body[0] + n;
}

static bool records_fit(const struct records *r, enum splitc_record kind, size_t n)
{
    const size_t bytes = kind == SPLITC_RECORD_GET ? sizeof(uint64_t) : padded(n);
    const size_t answer = kind == SPLITC_RECORD_GET ? sizeof(uint64_t) + padded(n) : 0;

    return r->bytes + sizeof(struct record) + bytes <= sizeof r->data &&
           r->answer + answer <= sizeof r->data;
}

static void record_begin(struct records *r, enum splitc_record kind, const volatile void *there,
                         const void *here)
{
    r->last = (struct record *)((uint8_t *)r->data + r->bytes);
    r->last->head = record_head(kind, 0, there);
    r->bytes += sizeof(struct record);
    if (kind == SPLITC_RECORD_GET) {
        r->last->body[0] = (uintptr_t)here;
        r->bytes += sizeof(uint64_t);
        r->answer += sizeof(uint64_t);
    }
}

static void records_add(struct records *r, enum splitc_record kind, const volatile void *there,
                        const void *here, size_t n)
{
    if (!r->last || !record_continues(r->last, kind, there, here))
        record_begin(r, kind, there, here);
    r->last->head += (uint64_t)n << SPLITC_ADDRESS_BITS;
    if (kind == SPLITC_RECORD_GET) {
        r->answer += (uint32_t)padded(n);
    } else {
        splitc_copy((uint8_t *)r->data + r->bytes, here, n);
        r->bytes += (uint32_t)padded(n);
    }
    r->puts += kind == SPLITC_RECORD_PUT;
    r->gets += kind == SPLITC_RECORD_GET;
    r->accesses++;
}

/* ---- bursts --------------------------------------------------------------------------- */

static void records_link(struct records *r)
{
    r->next = waiting;
    r->at = &waiting;
    if (waiting)
        waiting->at = &r->next;
    waiting = r;
    splitc_runtime.coalesced = true;
}

static void records_unlink(struct records *r)
{
    *r->at = r->next;
    if (r->next)
        r->next->at = r->at;
    splitc_runtime.coalesced = waiting != NULL;
}

static void records_free(struct records *r)
{
    if (spares == SPARES) {
        free(r);
        return;
    }
    r->next = spare;
    spare = r;
    spares++;
}

/* NULL: no memory. */
static struct records *records_open(uint32_t rank)
{
    struct records *r = spare;

    if (r) {
        spare = r->next;
        spares--;
    } else {
        r = malloc(sizeof *r);
    }
    if (!r)
        return NULL;
    records_link(r);
    r->rank = rank;
    r->accesses = r->puts = r->gets = r->bytes = r->answer = 0;
    r->last = NULL;
    r->opened = splitc_get_seconds();
    return r;
}

/* While GAM waits for room it runs handlers, which find these records gone from the list. */
static void records_send(struct records *r)
{
    const uint64_t word[] = {r->puts, r->gets};

    records_unlink(r);
    burst[r->rank].open = NULL;
    burst[r->rank].sent += r->accesses;
    splitc_sent(r->rank, gam_request_medium(splitc_runtime.gam, r->rank, SPLITC_MSG_RECORDS,
                                            r->data, r->bytes, 2, word));
    records_free(r);
}

void splitc_coalesce_flush(void)
{
    if (gam_in_handler(splitc_runtime.gam))
        return;
    while (waiting)
        records_send(waiting);
}

void splitc_coalesce_expect(uint32_t rank, uint64_t accesses)
{
    struct burst *b = burst ? &burst[rank] : NULL;

    if (!b)
        return;
    together = true;
    if (!b->open && b->number != splitc_bursts)
        *b = (struct burst){.number = splitc_bursts};
    if (b->sent < FEW)
        b->sent = FEW;
    if (b->sent < accesses)
        b->sent = accesses < ACCESSES_MAX ? (uint32_t)accesses : ACCESSES_MAX;
}

void splitc_coalesce_end(void)
{
    together = false;
    splitc_coalesced_go();
}

/* NULL: the access goes by itself, and no record waits. */
static struct records *burst_records(struct burst *b, uint32_t rank, enum splitc_record kind,
                                     size_t n)
{
    if (b->open && !records_fit(b->open, kind, n))
        records_send(b->open);
    if (b->open)
        return b->open;
    if (b->number != splitc_bursts)
        *b = (struct burst){.number = splitc_bursts};
    if (b->sent < FEW) {
        b->sent++;
        return NULL;
    }
    return b->open = records_open(rank);
}

/* Where accesses are rare, none waits for long. */
static bool records_are_old(const struct records *r)
{
    return r->accesses < OLD_ACCESSES && splitc_get_seconds() - r->opened > OLD_SECONDS;
}

/* A handler of the program may not access other ranks; the message that it would send tells it. */
bool splitc_coalesce(enum splitc_record kind, uint32_t rank, const volatile void *there,
                     const void *here, size_t n)
{
    struct records *r;

    if (!burst || !(bursts_wait || together) || !splitc_is_by_network(rank) ||
        n > SPLITC_COALESCE_MOST || gam_in_handler(splitc_runtime.gam))
        return false;
    r = burst_records(&burst[rank], rank, kind, n);
    if (!r)
        return false;
    records_add(r, kind, there, here, n);
    if (r->accesses >= burst[rank].sent || records_are_old(r))
        records_send(r);
    return true;
}

/* Neighbouring words may have become one record; none of them is seen half written. */
static void record_copy(void *to, const void *from, size_t n)
{
    if (((uintptr_t)to | (uintptr_t)from | n) % 8 != 0) {
        splitc_copy(to, from, n);
        return;
    }
    for (size_t i = 0; i < n / 8; i++)
        __atomic_store_n((uint64_t *)to + i,
                         __atomic_load_n((const uint64_t *)from + i, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
}

/* ---- at the owner ----------------------------------------------------------------------- */

/* The record at `at`, if all of it lies before the end of the message; NULL: it does not. */
static const struct record *record_at(const struct gam_message *m, size_t at)
{
    const struct record *r = (const struct record *)((const uint8_t *)m->data + at);
    const size_t left = m->length - at;
    size_t body;

    if (left < sizeof *r)
        return NULL;
    body = record_kind(r) == SPLITC_RECORD_GET ? sizeof(uint64_t) : padded(record_size(r));
    return body <= left - sizeof *r ? r : NULL;
}

/* Append the answer to a get. */
static size_t record_answer(const struct record *r, uint64_t answer[GAM_MEDIUM_MAX / 8], size_t at)
{
    const size_t n = record_size(r);

    if (at + sizeof(uint64_t) + padded(n) > GAM_MEDIUM_MAX)
        return 0;
    answer[at / 8] = splitc_pack((const void *)(uintptr_t)r->body[0], n);
    record_copy(&answer[at / 8 + 1], splitc_packed_address(r->head), n);
    return at + sizeof(uint64_t) + padded(n);
}

void splitc_on_records(struct gam *g, const struct gam_message *m)
{
    uint64_t answer[GAM_MEDIUM_MAX / 8];
    size_t answered = 0;

    splitc_expect(m, m->words == 2);
    for (size_t at = 0; at < m->length;) {
        const struct record *r = record_at(m, at);
        size_t n;

        splitc_expect(m, r != NULL && record_kind(r) != 0);
        n = record_size(r);
        if (record_kind(r) == SPLITC_RECORD_GET) {
            answered = record_answer(r, answer, answered);
            splitc_expect(m, answered > 0);
            at += sizeof *r + sizeof(uint64_t);
            continue;
        }
        record_copy(splitc_packed_address(r->head), r->body, n);
        splitc_runtime.stored_in += record_kind(r) == SPLITC_RECORD_STORE ? n : 0;
        at += sizeof *r + padded(n);
    }
    if (answered > 0)
        splitc_sent(m->source,
                    gam_reply_medium(g, SPLITC_MSG_RECORDS_DONE, answer, answered, 2, m->word));
    else if (m->word[0] > 0)
        splitc_sent(m->source, gam_reply_2(g, SPLITC_MSG_RECORDS_DONE, m->word[0], 0));
}

/* ---- back at the caller ------------------------------------------------------------------ */

void splitc_on_records_done(struct gam *g, const struct gam_message *m)
{
    (void)g;
    splitc_expect(m, m->words == 2 && m->word[0] <= splitc_runtime.puts &&
                         m->word[1] <= splitc_runtime.gets);
    for (size_t at = 0; at < m->length;) {
        const struct record *r = record_at(m, at);

        splitc_expect(m, r != NULL && record_kind(r) == 0);
        record_copy(splitc_packed_address(r->head), r->body, record_size(r));
        at += sizeof *r + padded(record_size(r));
    }
    splitc_runtime.puts -= m->word[0];
    splitc_runtime.gets -= m->word[1];
}
