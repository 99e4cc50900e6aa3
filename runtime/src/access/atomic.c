/* SPDX-License-Identifier: BSD-3-Clause
 *
 * atomic.c - atomic read-modify-write of objects of any processor.
 *
 * Through a window the calling rank does it; otherwise a handler at the owner does.  Both use the
 * machine's atomic instructions.
 *
 *   request      words                           answered by
 *   ATOMIC       address|code, cell, a, b        ANSWER cell, old value; UNCHANGED the same;
 *                                                ATOMIC_DONE the same, of a split-phase one
 *   MASKED       address, cell + mask and bits   ANSWER cell
 */
#include "atomic.h"

#include "access.h"
#include "library.h"

#include <stdlib.h>

/* The code in a request: operation, whether it is split-phase, and type. */
#define OPERATION_SHIFT 8
#define SPLIT_PHASE 0x80u
#define TYPE_MASK 0x7fu

static uint64_t atomic_code(enum splitc_atomic_operation operation, enum splitc_type type)
{
    return (uint64_t)operation << OPERATION_SHIFT | (uint64_t)type;
}

static bool is_bitwise(enum splitc_atomic_operation operation)
{
    return operation >= SPLITC_FETCH_AND && operation <= SPLITC_FETCH_XOR;
}

static bool is_real(enum splitc_type type)
{
    return type == SPLITC_TYPE_FLOAT || type == SPLITC_TYPE_DOUBLE;
}

static void atomic_count_vain(uint32_t source)
{
    splitc_runtime.vain++;
    splitc_runtime.vain_far += splitc_is_by_network(source);
}

/* ---- at the owner ------------------------------------------------------------------------ */

/* An exchange that changes nothing is a failed attempt to take a lock. */
void splitc_on_atomic(struct gam *g, const struct gam_message *m)
{
    void *object = splitc_packed_address(m->word[0]);
    const size_t packed = splitc_packed_size(m->word[0]);
    const enum splitc_type type = (enum splitc_type)(packed & TYPE_MASK);
    const enum splitc_atomic_operation operation =
        (enum splitc_atomic_operation)(packed >> OPERATION_SHIFT);
    const size_t size = splitc_atomic_size(type);
    enum splitc_message answer = SPLITC_MSG_ANSWER;
    uint64_t old;

    splitc_expect(m, m->words == 4 && packed >> OPERATION_SHIFT < SPLITC_ATOMIC_OPERATIONS &&
                         size > 0 && (uintptr_t)object % size == 0 &&
                         !(is_bitwise(operation) && is_real(type)));
    old = splitc_atomic_apply(operation, type, object, m->word[2], m->word[3]);
    if (packed & SPLIT_PHASE) {
        answer = SPLITC_MSG_ATOMIC_DONE;
    } else if (operation == SPLITC_EXCHANGE && old == m->word[2]) {
        atomic_count_vain(m->source);
        answer = SPLITC_MSG_UNCHANGED;
    }
    splitc_sent(m->source, gam_reply_2(g, answer, m->word[1], old));
}

/* ---- back at the caller -------------------------------------------------------------------- */

void splitc_on_unchanged(struct gam *g, const struct gam_message *m)
{
    atomic_count_vain(m->source);
    splitc_on_answer(g, m);
}

/* One that is under way; its address travels to the owner and back. */
struct atomic_pending {
    void *old; /* NULL: the program does not want it */
    size_t size;
    uint64_t handle;
};

void splitc_on_atomic_done(struct gam *g, const struct gam_message *m)
{
    struct atomic_pending *p = (struct atomic_pending *)(uintptr_t)m->word[0];

    (void)g;
    splitc_expect(m, m->words == 2 && p);
    if (p->old)
        memcpy(p->old, &m->word[1], p->size);
    splitc_runtime.gets--;
    splitc_handle_less(p->handle);
    free(p);
}

/* ---- the operations -------------------------------------------------------------------------- */

/* By a message, as part of that wait. */
static uint64_t atomic_ask(enum splitc_atomic_operation operation, enum splitc_type type,
                           splitc_ptr object, uint64_t a, uint64_t b, struct splitc_wait *w)
{
    uint64_t old = 0;
    struct splitc_cell cell = {.to = &old, .n = sizeof old};
    uint32_t rank = splitc_target(object, w->what);

    splitc_sent(rank,
                gam_request_4(splitc_runtime.gam, rank, SPLITC_MSG_ATOMIC,
                              splitc_pack(splitc_address(object), atomic_code(operation, type)),
                              splitc_cell_word(&cell), a, b));
    while (!cell.done)
        splitc_wait_step(w);
    return old;
}

static void atomic_check(splitc_ptr object, enum splitc_type type)
{
    const size_t size = splitc_atomic_size(type);

    if (object % size != 0)
        splitc_die("atomic operation on an object of %zu bytes at misaligned address %p", size,
                   splitc_address(object));
    splitc_check_access(object, size, true);
}

void splitc_atomic_serve(void)
{
    if (!splitc_is_foreign_thread())
        splitc_poll_once();
}

uint64_t splitc_atomic_far(enum splitc_atomic_operation operation, enum splitc_type type,
                           splitc_ptr object, uint64_t a, uint64_t b)
{
    SPLITC_INSIDE;
    struct splitc_wait w = {.kind = SPLITC_WAIT_ACCESS, .what = "atomic operation"};
    uint64_t old;

    atomic_check(object, type);
    if (splitc_is_near(object)) {
        old = splitc_atomic_apply(operation, type, splitc_near(object), a, b);
        if (splitc_atomic_in_vain(operation, type, old, a))
            splitc_atomic_serve();
        return old;
    }
    w.whom = (uint32_t)splitc_rank(object);
    old = atomic_ask(operation, type, object, a, b, &w);
    splitc_wait_end(&w);
    return old;
}

uint64_t splitc_atomic_begin(enum splitc_atomic_operation operation, enum splitc_type type,
                             void *old, splitc_ptr object, uint64_t a, uint64_t b)
{
    SPLITC_INSIDE;
    const size_t size = splitc_atomic_size(type);
    struct atomic_pending *p;
    uint64_t handle;
    uint32_t rank;

    atomic_check(object, type);
    if (splitc_is_near(object)) {
        a = splitc_atomic_apply(operation, type, splitc_near(object), a, b);
        if (old)
            memcpy(old, &a, size);
        return 0;
    }
    rank = splitc_target(object, "atomic operation");
    p = malloc(sizeof *p);
    if (!p)
        splitc_die("no memory for an atomic operation");
    *p = (struct atomic_pending){.old = old, .size = size, .handle = splitc_handle_open()};
    handle = p->handle; /* the answer may come while the request is sent */
    splitc_runtime.gets++;
    splitc_sent(rank, gam_request_4(splitc_runtime.gam, rank, SPLITC_MSG_ATOMIC,
                                    splitc_pack(splitc_address(object),
                                                atomic_code(operation, type) | SPLIT_PHASE),
                                    (uintptr_t)p, a, b));
    return handle;
}

int splitc_exchange_in(struct splitc_wait *w, splitc_ptr object, int value)
{
    const enum splitc_type type = SPLITC_TYPE_INT;
    int old;

    atomic_check(object, type);
    if (splitc_is_near(object))
        return (int)splitc_atomic_apply(SPLITC_EXCHANGE, type, splitc_near(object), (uint64_t)value,
                                        0);
    w->trying = splitc_is_by_network(splitc_target(object, w->what));
    old = (int)atomic_ask(SPLITC_EXCHANGE, type, object, (uint32_t)value, 0, w);
    w->trying = false;
    return old;
}

int splitc_fetch_add(splitc_ptr g, int value)
{
    return (int)splitc_atomic_perform(SPLITC_FETCH_ADD, SPLITC_TYPE_INT, g, (uint64_t)value, 0);
}

int splitc_exchange(splitc_ptr g, int value)
{
    return (int)splitc_atomic_perform(SPLITC_EXCHANGE, SPLITC_TYPE_INT, g, (uint32_t)value, 0);
}

int splitc_cmp_and_swap(splitc_ptr g, int expected, int desired)
{
    return (int)splitc_atomic_perform(SPLITC_COMPARE_AND_SWAP, SPLITC_TYPE_INT, g,
                                      (uint64_t)expected, (uint64_t)desired);
}

int splitc_test_and_set(splitc_ptr g)
{
    return splitc_exchange(g, 1);
}

/* ---- bit-fields ------------------------------------------------------------- */

#define MASKED_MAX 64u /* bytes: more than any storage unit of a bit-field */

/* Merge the bits of one aligned word, of which the object has `n` bytes from byte `first` on. */
static void masked_merge_word(uint64_t *word, size_t first, const uint8_t *mask,
                              const uint8_t *bits, size_t n)
{
    uint64_t which = 0, what = 0;
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);

    memcpy((uint8_t *)&which + first, mask, n);
    memcpy((uint8_t *)&what + first, bits, n);
    if (which == 0)
        return;
    while (!__atomic_compare_exchange_n(word, &old, (old & ~which) | (what & which), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        ;
}

/* Bit-fields do not cross aligned words, unless they are packed. */
static void masked_merge(uint8_t *to, const uint8_t *mask, const uint8_t *bits, size_t n)
{
    while (n > 0) {
        size_t first = (uintptr_t)to % sizeof(uint64_t);
        size_t room = sizeof(uint64_t) - first;
        size_t here = n < room ? n : room;

        masked_merge_word((uint64_t *)(to - first), first, mask, bits, here);
        to += here;
        mask += here;
        bits += here;
        n -= here;
    }
}

void splitc_on_masked(struct gam *g, const struct gam_message *m)
{
    size_t n = m->length / 2;

    splitc_expect(m, m->words == 2);
    masked_merge((uint8_t *)(uintptr_t)m->word[0], m->data, (const uint8_t *)m->data + n, n);
    splitc_sent(m->source, gam_reply_1(g, SPLITC_MSG_ANSWER, m->word[1]));
}

/* The number of bytes from the first to the last in which the mask has bits; `first` gets the
 * number of bytes before them. */
static size_t masked_bytes(const uint8_t *mask, size_t n, size_t *first)
{
    size_t before = 0;

    while (n > 0 && mask[n - 1] == 0)
        n--;
    while (before < n && mask[before] == 0)
        before++;
    *first = before;
    return n - before;
}

void splitc_write_masked(splitc_ptr to, const void *mask, const void *bits, splitc_size n)
{
    SPLITC_INSIDE;
    uint8_t both[2 * MASKED_MAX];
    struct splitc_cell cell = {.n = 0};
    uint64_t word[2];
    uint32_t rank;
    size_t first;

    n = masked_bytes(mask, n, &first);
    if (n > MASKED_MAX)
        splitc_die("bit-field of %lu bytes", n);
    to += first;
    mask = (const uint8_t *)mask + first;
    bits = (const uint8_t *)bits + first;
    if (splitc_is_near(to)) {
        masked_merge(splitc_near(to), mask, bits, n);
        return;
    }
    rank = splitc_target(to, "write of a bit-field");
    memcpy(both, mask, n);
    memcpy(both + n, bits, n);
    word[0] = (uintptr_t)splitc_address(to);
    word[1] = splitc_cell_word(&cell);
    splitc_sent(rank, gam_request_medium(splitc_runtime.gam, rank, SPLITC_MSG_MASKED, both, 2 * n,
                                         2, word));
    splitc_await(&cell.done, "write of a bit-field", rank);
}
