/* SPDX-License-Identifier: BSD-3-Clause
 *
 * atomic.c - atomic read-modify-write of objects of any processor.
 *
 * Through a window the calling rank does it; otherwise a handler at the owner does.  Both use the
 * machine's atomic instructions.
 *
 *   request      words                           answered by
 *   ATOMIC       address|code, cell, a, b        ANSWER cell, old value; UNCHANGED the same
 *   MASKED       address, cell + mask and bits   ANSWER cell
 */
#include "access.h"
#include "library.h"

enum operation {
    FETCH_ADD,
    EXCHANGE,
    COMPARE_AND_SWAP, /* a = expected, b = desired */
    OPERATIONS
};

static inline uint64_t atomic_apply_int(enum operation operation, uint32_t *object, uint32_t a,
                                        uint32_t b)
{
    switch (operation) {
    case FETCH_ADD:
        return __atomic_fetch_add(object, a, __ATOMIC_SEQ_CST);
    case EXCHANGE:
        return __atomic_exchange_n(object, a, __ATOMIC_SEQ_CST);
    default: /* leaves the old value in a */
        __atomic_compare_exchange_n(object, &a, b, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return a;
    }
}

static inline uint64_t atomic_apply_long(enum operation operation, uint64_t *object, uint64_t a,
                                         uint64_t b)
{
    switch (operation) {
    case FETCH_ADD:
        return __atomic_fetch_add(object, a, __ATOMIC_SEQ_CST);
    case EXCHANGE:
        return __atomic_exchange_n(object, a, __ATOMIC_SEQ_CST);
    default:
        __atomic_compare_exchange_n(object, &a, b, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return a;
    }
}

static inline uint64_t atomic_apply(enum operation operation, size_t size, void *object, uint64_t a,
                                    uint64_t b)
{
    if (size == sizeof(uint32_t))
        return atomic_apply_int(operation, object, (uint32_t)a, (uint32_t)b);
    return atomic_apply_long(operation, object, a, b);
}

/* The code in a request: operation and size of the object. */
static uint64_t atomic_code(enum operation operation, size_t size)
{
    return (uint64_t)operation << 8 | size;
}

static void atomic_count_vain(uint32_t source)
{
    splitc_runtime.vain++;
    splitc_runtime.vain_far += splitc_is_by_network(source);
}

/* An exchange that changes nothing is a failed attempt to take a lock. */
void splitc_on_atomic(struct gam *g, const struct gam_message *m)
{
    void *object = splitc_packed_address(m->word[0]);
    size_t packed = splitc_packed_size(m->word[0]);
    size_t size = packed & 0xff;
    enum operation operation = (enum operation)(packed >> 8);
    uint64_t old;
    bool unchanged;

    splitc_expect(m, m->words == 4 && packed >> 8 < OPERATIONS && (size == 4 || size == 8));
    old = atomic_apply(operation, size, object, m->word[2], m->word[3]);
    unchanged = operation == EXCHANGE && old == m->word[2];
    if (unchanged)
        atomic_count_vain(m->source);
    splitc_sent(m->source, gam_reply_2(g, unchanged ? SPLITC_MSG_UNCHANGED : SPLITC_MSG_ANSWER,
                                       m->word[1], old));
}

void splitc_on_unchanged(struct gam *g, const struct gam_message *m)
{
    atomic_count_vain(m->source);
    splitc_on_answer(g, m);
}

/* By a message, as part of that wait. */
static uint64_t atomic_ask(enum operation operation, splitc_ptr object, size_t size, uint64_t a,
                           uint64_t b, struct splitc_wait *w)
{
    uint64_t old = 0;
    struct splitc_cell cell = {.to = &old, .n = sizeof old};
    uint32_t rank = splitc_target(object, w->what);

    splitc_sent(rank,
                gam_request_4(splitc_runtime.gam, rank, SPLITC_MSG_ATOMIC,
                              splitc_pack(splitc_address(object), atomic_code(operation, size)),
                              splitc_cell_word(&cell), a, b));
    while (!cell.done)
        splitc_wait_step(w);
    return old;
}

static void atomic_check(splitc_ptr object, size_t size)
{
    if (object % size != 0)
        splitc_die("atomic operation on an object of %zu bytes at misaligned address %p", size,
                   splitc_address(object));
    splitc_check_access(object, size, true);
}

static __attribute__((noinline)) uint64_t
atomic_perform_far(enum operation operation, splitc_ptr object, size_t size, uint64_t a, uint64_t b)
{
    SPLITC_INSIDE;
    struct splitc_wait w = {.kind = SPLITC_WAIT_ACCESS, .what = "atomic operation"};
    uint64_t old;

    atomic_check(object, size);
    if (splitc_is_near(object))
        return atomic_apply(operation, size, splitc_near(object), a, b);
    w.whom = (uint32_t)splitc_rank(object);
    old = atomic_ask(operation, object, size, a, b, &w);
    splitc_wait_end(&w);
    return old;
}

/* Through a window it is one instruction behind the lookup of the object. */
static inline __attribute__((always_inline)) uint64_t
atomic_perform(enum operation operation, splitc_ptr object, size_t size, uint64_t a, uint64_t b)
{
    if (splitc_is_near(object) && object % size == 0 && !splitc_access_check)
        return atomic_apply(operation, size, splitc_near(object), a, b);
    return atomic_perform_far(operation, object, size, a, b);
}

int splitc_exchange_in(struct splitc_wait *w, splitc_ptr object, int value)
{
    int old;

    atomic_check(object, sizeof value);
    if (splitc_is_near(object))
        return (int)atomic_apply(EXCHANGE, sizeof value, splitc_near(object), (uint64_t)value, 0);
    w->trying = splitc_is_by_network(splitc_target(object, w->what));
    old = (int)atomic_ask(EXCHANGE, object, sizeof value, (uint32_t)value, 0, w);
    w->trying = false;
    return old;
}

int splitc_fetch_add(splitc_ptr g, int value)
{
    return (int)atomic_perform(FETCH_ADD, g, sizeof value, (uint64_t)value, 0);
}

int splitc_exchange(splitc_ptr g, int value)
{
    return (int)atomic_perform(EXCHANGE, g, sizeof value, (uint64_t)value, 0);
}

int splitc_cmp_and_swap(splitc_ptr g, int expected, int desired)
{
    return (int)atomic_perform(COMPARE_AND_SWAP, g, sizeof expected, (uint64_t)expected,
                               (uint64_t)desired);
}

int splitc_test_and_set(splitc_ptr g)
{
    return splitc_exchange(g, 1);
}

long splitc_fetch_add_l(splitc_ptr g, long value)
{
    return (long)atomic_perform(FETCH_ADD, g, sizeof value, (uint64_t)value, 0);
}

long splitc_exchange_l(splitc_ptr g, long value)
{
    return (long)atomic_perform(EXCHANGE, g, sizeof value, (uint64_t)value, 0);
}

long splitc_cmp_and_swap_l(splitc_ptr g, long expected, long desired)
{
    return (long)atomic_perform(COMPARE_AND_SWAP, g, sizeof expected, (uint64_t)expected,
                                (uint64_t)desired);
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
