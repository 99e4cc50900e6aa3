/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks of what lies in a window: objects of every kind, of every rank, and what
 * the program does that has to cope with memory that is shared.
 */
#include "check.h"
#include "library.h"

#include <errno.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGEST 4096

/* ---- an object of each kind --------------------------------------------------------- */

enum kind { DATA, BSS, FUNCTION_STATIC, HEAP, STACK, SPREAD, THREAD_LOCAL, MAPPED, KINDS };

#define NEAR_KINDS THREAD_LOCAL /* those that a window covers; the others follow */

static const char *const kind_name[KINDS] = {".data", ".bss",   "function-static", "heap",
                                             "stack", "spread", "thread",          "memory-mapped"};

struct object {
    unsigned char before[GUARD];
    unsigned char bytes[LARGEST];
    unsigned char behind[GUARD];
};

static struct object in_data = {.before = {1}};
static struct object in_bss;
static _Thread_local struct object in_thread;

static struct object *function_static(void)
{
    static struct object object;

    return &object;
}

static void make_objects(struct object *object[KINDS], struct object *on_stack, splitc_ptr area)
{
    object[DATA] = &in_data;
    object[BSS] = &in_bss;
    object[FUNCTION_STATIC] = function_static();
    object[HEAP] = malloc(sizeof **object);
    object[STACK] = on_stack;
    object[SPREAD] = splitc_address(area);
    object[THREAD_LOCAL] = &in_thread;
    object[MAPPED] =
        mmap(NULL, sizeof **object, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(object[MAPPED] != MAP_FAILED);
    for (enum kind kind = 0; kind < KINDS; kind++) {
        memset(object[kind]->before, GUARD_BYTE, GUARD);
        memset(object[kind]->behind, GUARD_BYTE, GUARD);
    }
}

/* Everybody learns where everybody's objects are: where[rank * KINDS + kind]. */
static splitc_ptr *tell_where(struct object *const object[KINDS])
{
    splitc_ptr *where = malloc((size_t)ranks() * KINDS * sizeof *where);
    splitc_ptr own[KINDS];

    for (enum kind kind = 0; kind < KINDS; kind++)
        own[kind] = splitc_from_local(object[kind]->bytes);
    splitc_all_gather(where, own, sizeof own);
    return where;
}

/* Runs `check` on the objects of every kind of the rank above ours, and between two
 * barriers for each kind; guards have to stay. */
static void with_objects(void (*check)(const char *kind, splitc_ptr theirs, unsigned char *ours))
{
    struct object on_stack;
    struct object *object[KINDS];
    splitc_ptr area = area_open(sizeof(struct object));
    splitc_ptr *where;

    make_objects(object, &on_stack, area);
    where = tell_where(object);
    for (int distance = 0; distance < ranks(); distance++)
        for (enum kind kind = 0; kind < KINDS; kind++) {
            splitc_barrier();
            check(kind_name[kind], where[neighbour(distance) * KINDS + kind], object[kind]->bytes);
            splitc_barrier();
            EXPECT_GUARDED(object[kind]->bytes, LARGEST);
        }
    free(where);
    free(object[HEAP]);
    munmap(object[MAPPED], sizeof *object[MAPPED]);
    area_close(area);
}

/* ---- every size ---------------------------------------------------------------------------- */

static void read_all_sizes(const char *kind, splitc_ptr theirs, unsigned char *ours)
{
    unsigned char seen[LARGEST];

    (void)kind;
    fill(ours, LARGEST, 5);
    splitc_barrier();
    for (size_t n = 1; n <= LARGEST; n += ranks() < 3 ? 1 : 61) {
        splitc_read(seen, theirs, n);
        EXPECT_FILLED(seen, n, 0, 5);
        splitc_get(seen, theirs + (LARGEST - n), n);
        splitc_sync();
        EXPECT_FILLED(seen, n, LARGEST - n, 5);
    }
}

static void write_all_sizes(const char *kind, splitc_ptr theirs, unsigned char *ours)
{
    unsigned char from[LARGEST], seen[LARGEST];

    (void)kind;
    for (size_t n = 1; n <= LARGEST; n += ranks() < 3 ? 1 : 61) {
        fill(from, n, (unsigned)n);
        if (n % 3 == 0)
            splitc_write(theirs, from, n);
        else if (n % 3 == 1)
            splitc_put(theirs, from, n);
        else
            splitc_store(theirs, from, n);
        if (n % 3 == 2)
            splitc_read(seen, theirs, n); /* stores and reads by messages keep their order */
        else
            splitc_sync();
        splitc_read(seen, theirs, n);
        EXPECT_FILLED(seen, n, 0, (unsigned)n);
    }
    splitc_all_store_sync();
    (void)ours;
}

static void every_kind_is_read(void)
{
    with_objects(read_all_sizes);
}

static void every_kind_is_written(void)
{
    with_objects(write_all_sizes);
}

/* ---- every scalar type -------------------------------------------------------------------- */

#define CHECK_SCALAR(type, value)                                                                  \
    do {                                                                                           \
        type out = (type)(value), in = 0;                                                          \
                                                                                                   \
        splitc_write(theirs + 3, &out, sizeof out); /* misaligned */                               \
        splitc_read(&in, theirs + 3, sizeof in);                                                   \
        EXPECT(in == out);                                                                         \
        out = (type)(out + 1);                                                                     \
        splitc_put(theirs + 64, &out, sizeof out);                                                 \
        splitc_sync();                                                                             \
        splitc_get(&in, theirs + 64, sizeof in);                                                   \
        splitc_sync();                                                                             \
        EXPECT(in == out);                                                                         \
    } while (0)

static void scalars(const char *kind, splitc_ptr theirs, unsigned char *ours)
{
    int whose = splitc_rank(theirs);

    (void)kind;
    (void)ours;
    CHECK_SCALAR(_Bool, 0);
    CHECK_SCALAR(char, 'a' + whose % 16);
    CHECK_SCALAR(signed char, -3 - whose % 16);
    CHECK_SCALAR(short, -1000 - whose);
    CHECK_SCALAR(unsigned short, 60000 + whose);
    CHECK_SCALAR(int, -100000 - whose);
    CHECK_SCALAR(unsigned, 4000000000u + (unsigned)whose);
    CHECK_SCALAR(long, -5000000000 - whose);
    CHECK_SCALAR(unsigned long long, 18000000000000000000u + (unsigned)whose);
    CHECK_SCALAR(float, 1.5f + (float)whose);
    CHECK_SCALAR(double, -2.25 - whose);
    CHECK_SCALAR(long double, 3.125L + whose);
    CHECK_SCALAR(double _Complex, 1.5 + whose);
    CHECK_SCALAR(__int128, (__int128)1 << 100);
}

static void every_scalar(void)
{
    with_objects(scalars);
}

/* ---- what is near ------------------------------------------------------------------------- */

static int expected_near;

static void expect_near_kind(const char *kind, splitc_ptr theirs, unsigned char *ours)
{
    int near_ = splitc_is_near(theirs) && splitc_is_near(theirs + LARGEST - 1);

    (void)ours;
    if (splitc_rank(theirs) == my_rank() || near_ == expected_near)
        return;
    if (strcmp(kind, kind_name[NEAR_KINDS]) == 0 || strcmp(kind, kind_name[MAPPED]) == 0)
        return;
    fprintf(stderr, "rank %d: the %s object of rank %d is %s\n", my_rank(), kind,
            splitc_rank(theirs), near_ ? "near" : "far");
    exit(1);
}

/* Called with the word near or far. */
static void reach(void)
{
    EXPECT_EQ(1, check_argc);
    expected_near = strcmp(check_argv[0], "near") == 0;
    with_objects(expect_near_kind);
}

/* A loop that waits on a global pointer sees what others write. */
static void waiting_for_a_flag(void)
{
    static int flag;
    splitc_ptr theirs = splitc_make(neighbour(1), &flag);

    for (int round = 1; round <= 200; round++) {
        int seen;

        splitc_write(splitc_make(neighbour(-1), &flag), &round, sizeof round);
        do {
            splitc_read(&seen, splitc_from_local(&flag), sizeof seen);
            splitc_poll();
        } while (seen < round);
        splitc_read(&seen, theirs, sizeof seen);
        EXPECT(seen >= round - 1);
        splitc_barrier();
    }
}

/* ---- whose it is ------------------------------------------------------------------------ */

#define DESCRIPTORS_MAX 1024

/* A file without a name that is larger than any other. */
int memory_object(void)
{
    struct stat status;

    for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0 &&
            status.st_size > 16ll << 30)
            return fd;
    return -1;
}

/* Nobody else may open it, whatever the umask. */
static void memory_is_private(void)
{
    const int fd = memory_object();
    struct stat status;

    EXPECT(fd >= 0);
    EXPECT_EQ(0, fstat(fd, &status));
    EXPECT_EQ(0600, status.st_mode & 07777);
    EXPECT_EQ(geteuid(), status.st_uid);
    splitc_barrier();
}

/* ---- heaps -------------------------------------------------------------------------------- */

/* What malloc hands out is within reach, whatever its size, and is reused. */
static void heap_blocks(void)
{
    for (int round = 0; round < 20; round++)
        for (size_t n = 1; n < 40u << 20; n = 3 * n + round % 3) {
            unsigned char *block = malloc(n), seen;
            splitc_ptr all[64];
            splitc_ptr own = splitc_from_local(block + n - 1);

            EXPECT(block != NULL);
            block[n - 1] = (unsigned char)(my_rank() + round);
            splitc_all_gather(all, &own, sizeof own);
            splitc_read(&seen, all[neighbour(1)], 1);
            EXPECT_EQ(neighbour(1) + round, seen);
            splitc_barrier();
            free(block);
        }
}

/* Blocks that are given back to the system are whole again for who gets them next. */
static void given_back_blocks(void)
{
    const size_t bytes = 8u << 20; /* more than stays with the heap */
    const bool near = splitc_is_near(area_at(area_open(1), neighbour(1), 0));
    const long rounds = splitc_all_reduce_to_all_min(near) ? 30 : 3;

    for (long round = 1; round <= rounds; round++) {
        splitc_ptr area = splitc_all_spread_malloc(ranks(), (long)bytes);
        long seen = -1;

        for (size_t at = 0; at < bytes; at += 4096)
            splitc_write(area_at(area, neighbour(1), at), &round, sizeof round);
        splitc_barrier();
        for (size_t at = 0; at < bytes; at += 4096) {
            memcpy(&seen, area_here(area) + at, sizeof seen);
            EXPECT_EQ(round, seen);
        }
        splitc_all_spread_free(area);
    }
}

/* malloc says why it fails, and the program goes on. */
static void malloc_exhausted(void)
{
    void *block[64];
    int n = 0;

    while (n < 64 && (block[n] = malloc(20 << 20)))
        n++;
    EXPECT(n < 64);
    EXPECT_EQ(ENOMEM, errno);
    while (n > 0)
        free(block[--n]);
    free(malloc(1000));
}

/* More than the test allows the job. */
static void memory_exhausted(void)
{
    const size_t block = 16 << 20;

    for (int n = 0; my_rank() == 0 && n < 64; n++)
        memset(malloc(block), 1, block);
    splitc_barrier();
}

/* ---- processes ---------------------------------------------------------------------------- */

static int in_fork = 1;

/* A child has memory of its own: neither sees what the other writes. */
static void fork_copies(void)
{
    int *heap = malloc(sizeof *heap);
    volatile int stack = 1;

    for (int round = 0; round < 5; round++) {
        int status;
        pid_t child;

        *heap = in_fork = stack = 10 * round;
        child = fork();
        EXPECT(child >= 0);
        if (child == 0) {
            int sum = *heap + in_fork + stack;

            *heap = in_fork = stack = -1;
            _exit(sum == 30 * round ? 0 : 1);
        }
        *heap = in_fork = stack = 10 * round + 1;
        EXPECT_EQ(child, waitpid(child, &status, 0));
        EXPECT_EQ(0, status);
        EXPECT_EQ(3 * (10 * round + 1), *heap + in_fork + stack);
        splitc_barrier();
    }
    free(heap);
}

extern char **environ;

static void other_programs(void)
{
    char *words[] = {"true", NULL};
    char line[16] = "";
    pid_t child;
    int status;
    FILE *pipe = popen("echo popen", "r");

    EXPECT(pipe && fgets(line, sizeof line, pipe) && strcmp(line, "popen\n") == 0);
    EXPECT_EQ(0, pclose(pipe));
    EXPECT_EQ(0, posix_spawnp(&child, "true", NULL, NULL, words, environ));
    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    EXPECT_EQ(256 * 3, system("exit 3"));
    child = fork();
    if (child == 0) {
        execlp("true", "true", (char *)NULL);
        _exit(1);
    }
    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    splitc_barrier();
}

const struct check window_checks[] = {
    {"every_kind_is_read", every_kind_is_read},
    {"every_kind_is_written", every_kind_is_written},
    {"every_scalar", every_scalar},
    {"reach", reach},
    {"waiting_for_a_flag", waiting_for_a_flag},
    {"memory_is_private", memory_is_private},
    {"heap_blocks", heap_blocks},
    {"given_back_blocks", given_back_blocks},
    {"malloc_exhausted", malloc_exhausted},
    {"memory_exhausted", memory_exhausted},
    {"fork_copies", fork_copies},
    {"other_programs", other_programs},
    {NULL, NULL},
};
