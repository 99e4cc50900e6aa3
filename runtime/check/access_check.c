/* SPDX-License-Identifier: BSD-3-Clause */
#include "access/direct.h"
#include "check.h"
#include "library.h"

/* Sizes around the limits of the small messages, and into the bulk. */
static const size_t sizes[] = {1,  2,  3,  4,  5,   7,   8,   9,   12,   15,   16,   17,   20,
                               23, 24, 25, 31, 32,  33,  40,  47,  48,   49,   63,   64,   65,
                               95, 96, 97, 99, 128, 255, 256, 511, 1000, 1024, 2047, 4095, 4096};
#define SIZES (sizeof sizes / sizeof *sizes)

static const size_t large[] = {4097, 8063, 8064, 8065, 16128, 16129, 65536, 1048579};
#define LARGES (sizeof large / sizeof *large)
#define LARGEST 1048579

/* ---- scalars ------------------------------------------------------------------- */

struct scalars {
    char c;
    short s;
    int i;
    long l;
    float f;
    double d;
};

static void read_scalars(void)
{
    splitc_ptr area = area_open(sizeof(struct scalars));
    struct scalars *mine = splitc_address(area);

    *mine = (struct scalars){.c = (char)my_rank(),
                             .s = (short)-my_rank(),
                             .i = 1000 * my_rank(),
                             .l = -(1L << 40) * my_rank(),
                             .f = 0.5f * (float)my_rank(),
                             .d = 1e100 * my_rank()};
    splitc_barrier();
    for (int r = 0; r < ranks(); r++) {
        struct scalars seen;

        splitc_read(&seen.c, area_at(area, r, offsetof(struct scalars, c)), sizeof seen.c);
        splitc_read(&seen.s, area_at(area, r, offsetof(struct scalars, s)), sizeof seen.s);
        splitc_read(&seen.i, area_at(area, r, offsetof(struct scalars, i)), sizeof seen.i);
        splitc_read(&seen.l, area_at(area, r, offsetof(struct scalars, l)), sizeof seen.l);
        splitc_read(&seen.f, area_at(area, r, offsetof(struct scalars, f)), sizeof seen.f);
        splitc_read(&seen.d, area_at(area, r, offsetof(struct scalars, d)), sizeof seen.d);
        EXPECT_EQ((char)r, seen.c);
        EXPECT_EQ(-r, seen.s);
        EXPECT_EQ(1000 * r, seen.i);
        EXPECT_EQ(-(1L << 40) * r, seen.l);
        EXPECT_DOUBLE(0.5 * r, seen.f);
        EXPECT_DOUBLE(1e100 * r, seen.d);
    }
    area_close(area);
}

static void write_scalars(void)
{
    splitc_ptr area = area_open(8 * 64);
    long seen;

    for (long value = 1; value < 64; value++) {
        splitc_write(area_at(area, neighbour(1), 8 * (size_t)value), &value, sizeof value);
        splitc_read(&seen, area_at(area, neighbour(1), 8 * (size_t)value), sizeof seen);
        EXPECT_EQ(value, seen);
    }
    splitc_barrier();
    for (long value = 1; value < 64; value++)
        EXPECT_EQ(value, ((long *)splitc_address(area))[value]);
    area_close(area);
}

/* A blocking write is in place when it returns: whoever is told afterwards sees it. */
static void write_is_complete(void)
{
    splitc_ptr area = area_open(16);
    volatile int *flag = splitc_address(area);

    for (int round = 1; round <= 200; round++) {
        int turn = round % ranks();

        if (my_rank() == turn)
            for (int r = 0; r < ranks(); r++)
                splitc_write(area_at(area, r, 0), &round, sizeof round);
        splitc_barrier();
        EXPECT_EQ(round, *flag);
        splitc_barrier();
    }
    area_close(area);
}

/* ---- every size, every alignment ------------------------------------------------- */

typedef void reader(void *to, splitc_ptr from, size_t n);
typedef void writer(splitc_ptr to, const void *from, size_t n);

/* Read n bytes at an odd place of another rank into an odd place here. */
static void check_reader(reader *read, const size_t *size, size_t count, size_t largest)
{
    size_t room = largest + 3 * GUARD;
    splitc_ptr area = area_open(room);
    unsigned char *here = malloc(room);

    fill(area_here(area), room, (unsigned)my_rank());
    splitc_barrier();
    for (size_t i = 0; i < count; i++) {
        size_t n = size[i], source = i % 13, target = GUARD + i % 7;
        int owner = neighbour((int)i);

        memset(here, GUARD_BYTE, room);
        read(here + target, area_at(area, owner, source), n);
        splitc_sync();
        EXPECT_FILLED(here + target, n, source, (unsigned)owner);
        EXPECT_GUARDED(here + target, n);
    }
    free(here);
    area_close(area);
}

/* Write n bytes to an odd place of another rank, which looks at them and around. */
static void check_writer(writer *write, const size_t *size, size_t count, size_t largest)
{
    size_t room = largest + 3 * GUARD;
    splitc_ptr area = area_open(room);
    unsigned char *source = malloc(room);

    for (size_t i = 0; i < count; i++) {
        size_t n = size[i], target = GUARD + i % 13, start = i % 7;
        int to = neighbour((int)i), from = neighbour(-(int)i);
        char *here = area_here(area);

        memset(here, GUARD_BYTE, room);
        splitc_barrier();
        fill(source + start, n, (unsigned)my_rank());
        write(area_at(area, to, target), source + start, n);
        splitc_sync();
        splitc_barrier();
        EXPECT_FILLED(here + target, n, 0, (unsigned)from);
        EXPECT_GUARDED(here + target, n);
        splitc_barrier();
    }
    free(source);
    area_close(area);
}

static void read_blocking(void *to, splitc_ptr from, size_t n)
{
    splitc_read(to, from, n);
}

static void read_split_phase(void *to, splitc_ptr from, size_t n)
{
    splitc_get(to, from, n);
}

static void read_far(void *to, splitc_ptr from, size_t n)
{
    splitc_far_read(to, from, n);
}

static void bulk_read(void *to, splitc_ptr from, size_t n)
{
    splitc_bulk_read(to, from, (long)n);
}

static void bulk_get(void *to, splitc_ptr from, size_t n)
{
    splitc_bulk_get(to, from, (long)n);
}

static void write_blocking(splitc_ptr to, const void *from, size_t n)
{
    splitc_write(to, from, n);
}

static void write_far(splitc_ptr to, const void *from, size_t n)
{
    splitc_far_write(to, from, n);
}

/* The source of a put may be reused at once. */
static void write_split_phase(splitc_ptr to, const void *from, size_t n)
{
    void *copy = malloc(n);

    memcpy(copy, from, n);
    splitc_put(to, copy, n);
    memset(copy, 0xee, n);
    free(copy);
}

static void bulk_write(splitc_ptr to, const void *from, size_t n)
{
    splitc_bulk_write(to, from, (long)n);
}

static void bulk_put(splitc_ptr to, const void *from, size_t n)
{
    splitc_bulk_put(to, from, (long)n);
}

static void read_sizes(void)
{
    check_reader(read_blocking, sizes, SIZES, 4096);
}

static void get_sizes(void)
{
    check_reader(read_split_phase, sizes, SIZES, 4096);
}

static void far_read_sizes(void)
{
    check_reader(read_far, sizes, SIZES, 4096);
}

static void bulk_read_sizes(void)
{
    check_reader(bulk_read, sizes, SIZES, 4096);
}

static void bulk_get_sizes(void)
{
    check_reader(bulk_get, sizes, SIZES, 4096);
}

static void bulk_read_large(void)
{
    check_reader(bulk_read, large, LARGES - 1, 65536);
}

static void write_sizes(void)
{
    check_writer(write_blocking, sizes, SIZES, 4096);
}

static void put_sizes(void)
{
    check_writer(write_split_phase, sizes, SIZES, 4096);
}

static void far_write_sizes(void)
{
    check_writer(write_far, sizes, SIZES, 4096);
}

static void bulk_write_sizes(void)
{
    check_writer(bulk_write, sizes, SIZES, 4096);
}

static void bulk_put_sizes(void)
{
    check_writer(bulk_put, sizes, SIZES, 4096);
}

static void bulk_write_large(void)
{
    check_writer(bulk_write, large, LARGES, LARGEST);
}

static void bulk_put_large(void)
{
    check_writer(bulk_put, large, LARGES, LARGEST);
}

/* Where the network has it, and has not been told otherwise. */
static void puts_directly(void)
{
    bulk_put_large();
    EXPECT(splitc_direct_landed > 0);
}

static void puts_in_messages(void)
{
    bulk_put_large();
    EXPECT_EQ(0, splitc_direct_landed);
}

/* Memory that is given back and taken again is not what was pinned. */
static void puts_into_new_memory(void)
{
    for (int i = 0; i < 4; i++)
        bulk_put_large();
}

static void bulk_of_nothing(void)
{
    char here = 'x';

    splitc_bulk_read(&here, 0, 0);
    splitc_bulk_write(0, &here, 0);
    splitc_bulk_get(&here, 0, 0);
    splitc_bulk_put(0, &here, 0);
    splitc_bulk_store(0, &here, 0);
    splitc_sync();
    splitc_all_store_sync();
    EXPECT_EQ('x', here);
}

/* ---- split phase ------------------------------------------------------------------- */

#define MANY 5000

/* Thousands of gets and puts in flight at once, from and to everybody. */
static void many_outstanding(void)
{
    splitc_ptr area = area_open(2 * MANY * sizeof(int));
    int *here = splitc_address(area), *got = malloc(MANY * sizeof *got);

    for (int i = 0; i < MANY; i++)
        here[i] = MANY * my_rank() + i;
    splitc_barrier();
    for (int i = 0; i < MANY; i++) {
        size_t target = (size_t)(MANY + i) * sizeof(int);
        int value = MANY * my_rank() - i;

        splitc_get(&got[i], area_at(area, neighbour(i), (size_t)i * sizeof(int)), sizeof(int));
        splitc_put(area_at(area, neighbour(i), target), &value, sizeof value);
    }
    splitc_sync();
    for (int i = 0; i < MANY; i++)
        EXPECT_EQ(MANY * neighbour(i) + i, got[i]);
    splitc_barrier();
    for (int i = 0; i < MANY; i++)
        EXPECT_EQ(MANY * neighbour(-i) - i, here[MANY + i]);
    free(got);
    area_close(area);
}

/* is_sync is false until the owner has served us, and true some time later. */
static void asking_for_completion(void)
{
    splitc_ptr area = area_open(sizeof(long));
    long got = -1;

    EXPECT(splitc_is_sync());
    *(long *)splitc_address(area) = my_rank();
    splitc_barrier();
    splitc_get(&got, area_at(area, neighbour(1), 0), sizeof got);
    while (!splitc_is_sync())
        ;
    EXPECT_EQ(neighbour(1), got);
    EXPECT(splitc_is_sync());
    area_close(area);
}

/* ---- objects that are not spread ------------------------------------------------------ */

static long static_object;

static void tell_all(splitc_ptr area, size_t slot, const void *address)
{
    splitc_ptr g = splitc_from_local(address);

    for (int r = 0; r < ranks(); r++)
        splitc_write(area_at(area, r, 8 * ((size_t)my_rank() * 3 + slot)), &g, sizeof g);
}

/* Static, heap and stack objects are all within reach. */
static void private_objects(void)
{
    splitc_ptr area = area_open(8 * 3 * (size_t)ranks());
    splitc_ptr *object = splitc_address(area);
    long stack_object = 3 * my_rank();
    long *heap_object = malloc(sizeof *heap_object);
    long expected[3] = {neighbour(1), 2 * neighbour(1), 3 * neighbour(1)};

    static_object = my_rank();
    *heap_object = 2 * my_rank();
    tell_all(area, 0, &static_object);
    tell_all(area, 1, heap_object);
    tell_all(area, 2, &stack_object);
    splitc_barrier();
    for (int i = 0; i < 3; i++) {
        long seen;

        EXPECT_EQ(neighbour(1), splitc_rank(object[3 * neighbour(1) + i]));
        splitc_read(&seen, object[3 * neighbour(1) + i], sizeof seen);
        EXPECT_EQ(expected[i], seen);
    }
    splitc_barrier();
    free(heap_object);
    area_close(area);
}

/* ---- random traffic against a model ------------------------------------------------------ */

#define TRAFFIC_BYTES 4096u

/* One random access to our own slice of a random rank's area. */
static void random_access(splitc_ptr area, unsigned char *model, uint64_t *state)
{
    int rank = (int)(next_random(state) % (unsigned)ranks());
    size_t n = 1 + next_random(state) % (next_random(state) % 4 ? 40 : 1000);
    size_t at = next_random(state) % (TRAFFIC_BYTES - n);
    splitc_ptr g = area_at(area, rank, TRAFFIC_BYTES * (size_t)my_rank() + at);
    unsigned char *expected = model + TRAFFIC_BYTES * (size_t)rank + at;
    unsigned char here[1000];

    switch (next_random(state) % 6) {
    case 0:
        splitc_read(here, g, n);
        EXPECT_EQ(0, memcmp(here, expected, n));
        break;
    case 1:
        splitc_bulk_get(here, g, (long)n);
        splitc_sync();
        EXPECT_EQ(0, memcmp(here, expected, n));
        break;
    case 2:
        fill(expected, n, (unsigned)next_random(state));
        splitc_write(g, expected, n);
        break;
    case 3:
        fill(expected, n, (unsigned)next_random(state));
        splitc_put(g, expected, n);
        splitc_sync();
        break;
    case 4:
        fill(expected, n, (unsigned)next_random(state));
        splitc_bulk_put(g, expected, (long)n);
        splitc_sync();
        break;
    default:
        fill(expected, n, (unsigned)next_random(state));
        splitc_bulk_write(g, expected, (long)n);
    }
}

/* Each rank owns a slice of every rank's area, so a model of its own is exact. */
static void random_traffic(void)
{
    size_t slices = TRAFFIC_BYTES * (size_t)ranks();
    splitc_ptr area = area_open(slices);
    unsigned char *model = calloc(1, slices);
    uint64_t state = 12345 + (uint64_t)my_rank();

    for (int i = 0; i < 3000; i++)
        random_access(area, model, &state);
    splitc_barrier();
    for (int r = 0; r < ranks(); r++) {
        unsigned char here[TRAFFIC_BYTES];

        splitc_bulk_read(here, area_at(area, r, TRAFFIC_BYTES * (size_t)my_rank()), sizeof here);
        EXPECT_EQ(0, memcmp(here, model + TRAFFIC_BYTES * (size_t)r, sizeof here));
    }
    free(model);
    area_close(area);
}

const struct check access_checks[] = {
    {"read_scalars", read_scalars},
    {"write_scalars", write_scalars},
    {"write_is_complete", write_is_complete},
    {"read_sizes", read_sizes},
    {"get_sizes", get_sizes},
    {"far_read_sizes", far_read_sizes},
    {"bulk_read_sizes", bulk_read_sizes},
    {"bulk_get_sizes", bulk_get_sizes},
    {"bulk_read_large", bulk_read_large},
    {"write_sizes", write_sizes},
    {"put_sizes", put_sizes},
    {"far_write_sizes", far_write_sizes},
    {"bulk_write_sizes", bulk_write_sizes},
    {"bulk_put_sizes", bulk_put_sizes},
    {"bulk_write_large", bulk_write_large},
    {"bulk_put_large", bulk_put_large},
    {"puts_directly", puts_directly},
    {"puts_in_messages", puts_in_messages},
    {"puts_into_new_memory", puts_into_new_memory},
    {"bulk_of_nothing", bulk_of_nothing},
    {"many_outstanding", many_outstanding},
    {"asking_for_completion", asking_for_completion},
    {"private_objects", private_objects},
    {"random_traffic", random_traffic},
    {0},
};
