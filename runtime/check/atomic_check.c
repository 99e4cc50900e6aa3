/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "library.h"

#define ROUNDS 1000

/* Every ticket is drawn exactly once. */
static void fetch_add(void)
{
    splitc_ptr area = area_open(16);
    int tickets = ROUNDS * ranks(), mine = 0, last = -1;

    for (int i = 0; i < ROUNDS; i++) {
        int ticket = splitc_fetch_add(area_at(area, 0, 4), 1);

        EXPECT(ticket > last && ticket < tickets);
        last = ticket;
        mine += ticket % 1000;
    }
    splitc_barrier();
    EXPECT_EQ(tickets, splitc_fetch_add(area_at(area, 0, 4), 0));
    EXPECT_EQ((long)tickets / 1000 * (999 * 1000 / 2), splitc_all_reduce_to_all_add(mine));
    area_close(area);
}

static void fetch_add_long(void)
{
    splitc_ptr area = area_open(16);
    const long step = 1L << 33;

    for (int i = 0; i < ROUNDS; i++)
        splitc_fetch_add_l(area_at(area, neighbour(i), 8), i % 2 ? -step : 2 * step);
    splitc_barrier();
    EXPECT_EQ(step * ROUNDS / 2 * ranks(),
              splitc_all_reduce_to_all_add(
                  (int)(splitc_fetch_add_l(area_at(area, my_rank(), 8), 0) / step)) *
                  step);
    area_close(area);
}

static void operations_return_the_old_value(void)
{
    splitc_ptr area = area_open(16);
    splitc_ptr i = area_at(area, neighbour(1), 0), l = area_at(area, neighbour(1), 8);
    const long big = 1L << 40;

    EXPECT_EQ(0, splitc_exchange(i, -5));
    EXPECT_EQ(-5, splitc_cmp_and_swap(i, -4, 9));
    EXPECT_EQ(-5, splitc_cmp_and_swap(i, -5, 9));
    EXPECT_EQ(9, splitc_fetch_add(i, -9));
    EXPECT_EQ(0, splitc_test_and_set(i));
    EXPECT_EQ(1, splitc_test_and_set(i));
    EXPECT_EQ(0, splitc_exchange_l(l, big));
    EXPECT_EQ(big, splitc_cmp_and_swap_l(l, big + 1, 3));
    EXPECT_EQ(big, splitc_cmp_and_swap_l(l, big, -big));
    EXPECT_EQ(-big, splitc_fetch_add_l(l, 1));
    EXPECT_EQ(1 - big, splitc_exchange_l(l, 0));
    splitc_barrier();
    area_close(area);
}

/* A counter that is read, then written, under a lock. */
static void locks_exclude(void)
{
    splitc_ptr area = area_open(16);
    splitc_ptr lock = area_at(area, ranks() - 1, 0), counter = area_at(area, 0, 8);
    long value;

    for (int i = 0; i < 100; i++) {
        splitc_lock(lock);
        EXPECT(!splitc_trylock(lock));
        splitc_read(&value, counter, sizeof value);
        value++;
        splitc_write(counter, &value, sizeof value);
        splitc_unlock(lock);
    }
    splitc_barrier();
    splitc_read(&value, counter, sizeof value);
    EXPECT_EQ(100L * ranks(), value);
    if (my_rank() == 0)
        EXPECT(splitc_trylock(lock));
    splitc_barrier();
    area_close(area);
}

/* Rank 0 tries for its own lock until the last rank gives it back, for which it needs rank 0 where
 * messages do it. */
static bool attempt(int way, splitc_ptr lock)
{
    switch (way) {
    case 0:
        return splitc_test_and_set(lock) == 0;
    case 1:
        return splitc_exchange(lock, 1) == 0;
    case 2:
        return splitc_cmp_and_swap(lock, 0, 1) == 0;
    default:
        return splitc_trylock(lock);
    }
}

static void attempts_serve_others(void)
{
    splitc_ptr area = area_open(16);
    const int zero = 0;

    for (int way = 0; way < 4; way++) {
        splitc_ptr lock = area_at(area, 0, 4 * (size_t)way);

        if (my_rank() == ranks() - 1)
            EXPECT(attempt(way, lock));
        splitc_barrier();
        if (my_rank() == ranks() - 1)
            splitc_write(lock, &zero, sizeof zero);
        if (my_rank() == 0)
            while (!attempt(way, lock))
                ;
        splitc_barrier();
    }
    area_close(area);
}

/* Rank 0 looks, under a lock of its own, whether the last rank has written. */
static void unlocks_serve_others(void)
{
    splitc_ptr area = area_open(16), lock = area_at(area, 0, 0), word = area_at(area, 0, 8);
    const int one = 1;
    int seen = 0;

    splitc_barrier();
    if (my_rank() == ranks() - 1)
        splitc_write(word, &one, sizeof one);
    while (my_rank() == 0 && !seen) {
        splitc_lock(lock);
        splitc_read(&seen, word, sizeof seen);
        splitc_unlock(lock);
    }
    splitc_barrier();
    area_close(area);
}

/* Ranks set fields of their own, 7 bits wide and side by side, as many as a word has room for. */
static void masked_writes_keep_neighbours(void)
{
    const size_t fields = 64 / 7, rank = (size_t)my_rank();
    splitc_ptr area = area_open(((size_t)ranks() / fields + 1) * sizeof(uint64_t));
    splitc_ptr shared = area_at(area, 0, rank / fields * sizeof(uint64_t));
    unsigned shift = 7 * (unsigned)(rank % fields);
    uint64_t mask = 0x7full << shift, word;

    for (uint64_t i = 0; i < 200; i++) {
        uint64_t bits = (i % 128) << shift;

        splitc_write_masked(shared, &mask, &bits, sizeof bits);
        splitc_read(&word, shared, sizeof word);
        EXPECT_EQ((long long)bits, (long long)(word & mask));
    }
    area_close(area);
}

/* Storage units of every size, at odd places, next to bytes that stay. */
static void masked_write_sizes(void)
{
    for (size_t n = 1; n <= 24; n++) {
        splitc_ptr area = area_open(2 * GUARD + 64);
        unsigned char mask[24], bits[24];
        char *here = area_here(area);

        memset(here, GUARD_BYTE, 2 * GUARD + 64);
        fill(bits, n, (unsigned)my_rank());
        fill(mask, n, 77);
        splitc_barrier();
        splitc_write_masked(area_at(area, neighbour(1), GUARD + 3), mask, bits, n);
        splitc_barrier();
        fill(bits, n, (unsigned)neighbour(-1));
        for (size_t k = 0; k < n; k++)
            EXPECT_EQ((GUARD_BYTE & ~mask[k]) | (bits[k] & mask[k]),
                      (unsigned char)here[GUARD + 3 + k]);
        EXPECT_GUARDED(here + GUARD + 3, n);
        area_close(area);
    }
}

/* ---- every type ------------------------------------------------------------------------- */

/* One operation, blocking or begun, and what it does to the model; its value, from some bits. */
#define EXPECT_ATOMIC(name, letters, type, model_of)                                               \
    do {                                                                                           \
        const type v = (type)(int)(next_random(&state) % 200 - 100);                               \
        const type before = model;                                                                 \
        type was = (type)99;                                                                       \
                                                                                                   \
        model = model_of;                                                                          \
        if (next_random(&state) % 2)                                                               \
            was = splitc_##name##_##letters(object, v);                                            \
        else                                                                                       \
            splitc_sync_h(splitc_##name##_begin_##letters(&was, object, v));                       \
        EXPECT(was == before);                                                                     \
    } while (0)

#define NUMBERS(letters, type)                                                                     \
    static void numbers_##letters(splitc_ptr object)                                               \
    {                                                                                              \
        uint64_t state = 3;                                                                        \
        type model = 0, old;                                                                       \
                                                                                                   \
        for (int turn = 0; turn < 6; turn++) {                                                     \
            EXPECT_ATOMIC(fetch_add, letters, type, (type)(model + v));                            \
            EXPECT_ATOMIC(fetch_min, letters, type, v < model ? v : model);                        \
            EXPECT_ATOMIC(fetch_add, letters, type, (type)(model + v));                            \
            EXPECT_ATOMIC(fetch_max, letters, type, v > model ? v : model);                        \
            EXPECT_ATOMIC(exchange, letters, type, v);                                             \
            EXPECT(splitc_cmp_and_swap_##letters(object, (type)(model + 1), 7) == model);          \
            EXPECT(splitc_cmp_and_swap_##letters(object, model, 7) == model);                      \
            splitc_cmp_and_swap_begin_##letters(&old, object, 7, 9);                               \
            splitc_sync();                                                                         \
            EXPECT(old == 7);                                                                      \
            splitc_fetch_add_begin_##letters(NULL, object, 1);                                     \
            splitc_sync();                                                                         \
            model = 10;                                                                            \
        }                                                                                          \
        EXPECT(splitc_exchange_##letters(object, 0) == 10);                                        \
    }
#define INTEGERS(letters, type)                                                                    \
    NUMBERS(letters, type)                                                                         \
    static void integers_##letters(splitc_ptr object)                                              \
    {                                                                                              \
        uint64_t state = 4;                                                                        \
        type model = 0;                                                                            \
                                                                                                   \
        for (int turn = 0; turn < 6; turn++) {                                                     \
            EXPECT_ATOMIC(fetch_or, letters, type, (type)(model | v));                             \
            EXPECT_ATOMIC(fetch_xor, letters, type, (type)(model ^ v));                            \
            EXPECT_ATOMIC(fetch_and, letters, type, (type)(model & v));                            \
            EXPECT_ATOMIC(fetch_xor, letters, type, (type)(model ^ v));                            \
        }                                                                                          \
        splitc_exchange_##letters(object, 0);                                                      \
    }
SPLITC_INTEGER_TYPES(INTEGERS)
SPLITC_REAL_TYPES(NUMBERS)

/* At every place of a word that has room for it, next to bytes that stay. */
#define AT_EVERY_PLACE(letters, type)                                                              \
    for (size_t at = 0; at < 8; at += sizeof(type)) {                                              \
        memset(here, GUARD_BYTE, 2 * GUARD + 8);                                                   \
        memset(here + GUARD + at, 0, sizeof(type));                                                \
        splitc_barrier();                                                                          \
        CALLS(letters, area_at(area, neighbour(1), GUARD + at));                                   \
        splitc_barrier();                                                                          \
        EXPECT_GUARDED(here + GUARD + at, sizeof(type));                                           \
    }

static void operations_on_every_type(void)
{
    splitc_ptr area = area_open(2 * GUARD + 8);
    char *here = area_here(area);

#define CALLS(letters, object) (numbers_##letters(object), integers_##letters(object))
    SPLITC_INTEGER_TYPES(AT_EVERY_PLACE)
#undef CALLS
#define CALLS(letters, object) numbers_##letters(object)
    SPLITC_REAL_TYPES(AT_EVERY_PLACE)
    area_close(area);
}

/* All ranks at the same objects: no addition is lost, and the extremes are those of all. */
static void operations_by_all(void)
{
    splitc_ptr area = area_open(32);
    const splitc_ptr d = area_at(area, 0, 0), f = area_at(area, 0, 8), s = area_at(area, 0, 12);
    const splitc_ptr l = area_at(area, 0, 16), uc = area_at(area, 0, 24);
    double sum;
    unsigned char bits;

    for (int i = 0; i < 200; i++) {
        splitc_fetch_add_begin_d(NULL, d, 0.5);
        splitc_fetch_add_begin_s(NULL, s, 1);
        splitc_fetch_max_f(f, (float)(my_rank() * 200 + i));
        splitc_fetch_min_begin_l(NULL, l, -(my_rank() * 200L + i));
        splitc_fetch_xor_begin_uc(NULL, uc, (unsigned char)(1 << my_rank() % 8));
    }
    splitc_fetch_xor_uc(uc, (unsigned char)(my_rank() < 8 ? 1 << my_rank() : 0));
    splitc_sync();
    splitc_barrier();
    sum = splitc_fetch_add_d(d, 0);
    bits = splitc_fetch_or_uc(uc, 0);
    EXPECT_DOUBLE(100.0 * ranks(), sum);
    EXPECT_EQ((short)(200 * ranks()), splitc_fetch_add_s(s, 0));
    EXPECT_DOUBLE(200.0 * ranks() - 1, splitc_fetch_max_f(f, 0));
    EXPECT_EQ(-(200L * ranks() - 1), splitc_fetch_min_l(l, 0));
    EXPECT_EQ(ranks() < 8 ? (1 << ranks()) - 1 : 255, bits);
    area_close(area);
}

const struct check atomic_checks[] = {
    {"operations_on_every_type", operations_on_every_type},
    {"operations_by_all", operations_by_all},
    {"fetch_add", fetch_add},
    {"fetch_add_long", fetch_add_long},
    {"operations_return_the_old_value", operations_return_the_old_value},
    {"locks_exclude", locks_exclude},
    {"attempts_serve_others", attempts_serve_others},
    {"unlocks_serve_others", unlocks_serve_others},
    {"masked_writes_keep_neighbours", masked_writes_keep_neighbours},
    {"masked_write_sizes", masked_write_sizes},
    {0},
};
