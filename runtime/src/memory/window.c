/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "window.h"

#include "heap.h"
#include "job/boot.h"
#include "job/endpoints.h"
#include "library.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OFFER_KEY "splitc.memory"
#define OFFER_MAGIC 0x6d65536du
#define HUGE_PAGE (2ul << 20)
#define TOP_MAX (1ul << 46)

/* What a rank tells the others about its memory. */
struct offer {
    uint32_t magic; /* 0: there is nothing to map */
    int32_t pid;
    int64_t fd;
    struct splitc_memory memory; /* its fd means nothing elsewhere */
};

static struct splitc_memory memory;
static bool offered; /* our memory is mapped here and may be mapped by others */
static bool shared;  /* it is mapped by all others of the node */

/* Emitted code takes the table for constant, which it is once the program runs. */
extern struct splitc_window splitc_window_table[GAM_RANKS_MAX] __asm__("splitc_windows");
struct splitc_window splitc_window_table[GAM_RANKS_MAX] __attribute__((aligned(64)));

/* Where a rank's memory is mapped here, while the table does not yet say so. */
static struct view {
    uint64_t start; /* of its address 0; 0: nowhere */
    uint64_t first; /* what lies in the window of its addresses */
    uint64_t top;
} view[GAM_RANKS_MAX];

splitc_size splitc_stored[GAM_RANKS_MAX];

_Static_assert(sizeof(struct splitc_window) == 32, "a power of two");

/* ---- who wants them ---------------------------------------------------------------- */

extern void __asan_init(void) __attribute__((weak));
extern void __lsan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));

bool splitc_sanitized(void)
{
    return __asan_init || __lsan_init || __tsan_init || __msan_init;
}

static bool is_on(const char *variable, const char *off)
{
    const char *told = getenv(variable);

    if (told && strcmp(told, "0") != 0 && strcmp(told, "1") != 0)
        splitc_die_together("%s is \"%s\": it may be 1, or 0 to %s", variable, told, off);
    return !told || *told == '1';
}

bool splitc_huge_pages(void)
{
    return is_on("SPLITC_HUGE_PAGES", "have small pages alone");
}

static bool wanted(const struct splitc_boot *boot)
{
    return is_on("SPLITC_WINDOWS", "reach other ranks by messages alone") && boot->windows &&
           !splitc_sanitized();
}

/* Falling back is no error; unetrun -v tells of it. */
static void tell_fallback(const char *what, int error)
{
    if (getenv("SPLITC_VERBOSE"))
        fprintf(stderr, "splitc: rank %u: no windows, %s: %s; messages do instead\n",
                splitc_runtime.rank, what, strerror(-error));
}

/* ---- our own memory -------------------------------------------------------------------- */

void splitc_windows_begin(void)
{
    splitc_ptr us = (splitc_ptr)splitc_runtime.rank << SPLITC_ADDRESS_BITS;

    splitc_runtime.near = &splitc_runtime.rank;
    splitc_runtime.near_ranks = 1;
    splitc_window_table[0] = (struct splitc_window){.limit = 0};
    splitc_window_table[splitc_runtime.rank] =
        (struct splitc_window){.origin = us + SPLITC_NULL_PAGE,
                               .limit = SPLITC_ADDRESS_MASK + 1 - SPLITC_NULL_PAGE,
                               .shift = -us};
}

void splitc_windows_offer(const struct splitc_boot *boot, const struct splitc_heap_sizes *sizes)
{
    bool huge = splitc_huge_pages();
    struct offer offer = {.magic = 0};
    const char *why;
    int error;

    if (wanted(boot)) {
        error = splitc_memory_open(&memory, sizes->spread, sizes->private, huge, &why);
        offered = error == 0;
        if (error)
            tell_fallback(why, error);
    }
    if (offered)
        offer = (struct offer){
            .magic = OFFER_MAGIC, .pid = getpid(), .fd = memory.fd, .memory = memory};
    splitc_boot_tell(OFFER_KEY, &offer, sizeof offer);
}

/* ---- a peer's memory --------------------------------------------------------------------- */

static bool sane(const struct offer *offer)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t end = SPLITC_NULL_PAGE;

    if (offer->magic != OFFER_MAGIC || offer->pid <= 0)
        return false;
    for (int i = 0; i < SPLITC_PARTS; i++) {
        const struct splitc_range *r = &offer->memory.part[i];

        if (r->start < end || r->start > TOP_MAX || r->size > TOP_MAX || r->start % page ||
            r->size % page)
            return false;
        end = splitc_range_end(r);
    }
    return true;
}

/* The executable has to be the same one for pointers to static objects to mean the same. */
static bool same_program(const struct splitc_memory *theirs)
{
    return memcmp(&theirs->part[SPLITC_STATICS], &memory.part[SPLITC_STATICS],
                  sizeof(struct splitc_range)) == 0;
}

/* The pid may have passed to another process meanwhile: the nonce would tell. */
static int check_object(int fd, const struct splitc_memory *theirs)
{
    uint64_t nonce[2];
    struct stat status;

    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_nlink > 0)
        return -EBADF;
    if (status.st_uid != geteuid())
        return -EACCES;
    if ((uint64_t)status.st_size < splitc_memory_top(theirs) ||
        pread(fd, nonce, sizeof nonce, 0) != sizeof nonce ||
        memcmp(nonce, theirs->nonce, sizeof nonce) != 0)
        return -ESTALE;
    return 0;
}

static int open_object(const struct offer *offer, int *fd)
{
    char path[64];
    int error;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", offer->pid, (int)offer->fd);
    *fd = open(path, O_RDWR | O_CLOEXEC);
    if (*fd < 0)
        return -errno;
    error = check_object(*fd, &offer->memory);
    if (error)
        close(*fd);
    return error;
}

/* Addresses for all of it, so that what lies between the parts faults; aligned, so that
 * huge pages of the owner are huge here. */
static int reserve(uint64_t size, uint64_t *start)
{
    const uint64_t room = size + HUGE_PAGE;
    char *at = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint64_t aligned = ((uint64_t)at + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;

    if (at == MAP_FAILED)
        return -errno;
    if (aligned > (uint64_t)at)
        munmap(at, aligned - (uint64_t)at);
    munmap((void *)(aligned + size), (uint64_t)at + room - (aligned + size));
    *start = aligned;
    return 0;
}

static int map_object(int fd, const struct splitc_memory *theirs, uint64_t *start)
{
    uint64_t top = splitc_memory_top(theirs);
    int error = reserve(top, start);

    for (int i = 0; i < SPLITC_PARTS && error == 0; i++) {
        const struct splitc_range *r = &theirs->part[i];

        if (mmap((void *)(*start + r->start), r->size, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, (off_t)r->start) == MAP_FAILED) {
            error = -errno;
            munmap((void *)*start, top);
        } else {
            splitc_memory_advise(&memory, i, *start + r->start, r->size);
        }
    }
    if (error) {
        *start = 0;
        return error;
    }
    madvise((void *)*start, top, MADV_DONTFORK); /* a child is no rank */
    madvise((void *)*start, top, MADV_DONTDUMP); /* and a core is ours alone */
    return 0;
}

static int attach(uint32_t rank)
{
    struct view *v = &view[rank];
    struct offer offer;
    int fd = -1;
    int error = splitc_boot_ask(rank, OFFER_KEY, &offer, sizeof offer);

    if (error)
        return error;
    if (!sane(&offer) || !same_program(&offer.memory))
        return -EPROTO;
    error = open_object(&offer, &fd);
    if (error)
        return error;
    error = map_object(fd, &offer.memory, &v->start);
    close(fd);
    v->first = offer.memory.part[SPLITC_STATICS].start;
    v->top = splitc_memory_top(&offer.memory);
    return error;
}

static void detach(uint32_t rank)
{
    if (view[rank].start)
        munmap((void *)view[rank].start, view[rank].top);
    view[rank].start = 0;
}

static void open_window(uint32_t rank)
{
    const struct view *v = &view[rank];
    splitc_ptr them = (splitc_ptr)rank << SPLITC_ADDRESS_BITS;

    splitc_window_table[rank] = (struct splitc_window){
        .origin = them + v->first, .limit = v->top - v->first, .shift = v->start - them};
}

/* ---- all together --------------------------------------------------------------------------- */

static bool attach_all(const struct splitc_boot *boot)
{
    for (uint32_t i = 0; i < boot->local_ranks; i++) {
        uint32_t rank = boot->local[i];
        int error = rank == splitc_runtime.rank ? 0 : attach(rank);

        if (error) {
            tell_fallback("a peer's memory cannot be mapped", error);
            return false;
        }
    }
    return true;
}

static void give_up(const struct splitc_boot *boot)
{
    for (uint32_t i = 0; i < boot->local_ranks; i++)
        detach(boot->local[i]);
    if (offered)
        splitc_memory_close(&memory);
    offered = false;
}

static void move_in(void)
{
    int error = splitc_memory_move_statics(&memory);

    if (error)
        splitc_die("cannot move the static objects into shared memory: %s; SPLITC_WINDOWS=0 "
                   "does without",
                   strerror(-error));
    shared = true;
    error = splitc_heap_move(memory.part[SPLITC_HEAP].start, memory.part[SPLITC_HEAP].size);
    if (error)
        tell_fallback("the program brings a malloc of its own, so for its heap", error);
    splitc_fork_prepare(&memory);
}

static uint32_t place_of(uint32_t rank, const uint32_t *list)
{
    uint32_t at = 0;

    while (list[at] != rank)
        at++;
    return at;
}

static void open_all(const struct splitc_boot *boot)
{
    for (uint32_t i = 0; i < boot->local_ranks; i++)
        if (boot->local[i] != splitc_runtime.rank)
            open_window(boot->local[i]);
    splitc_runtime.near = boot->local;
    splitc_runtime.near_ranks = boot->local_ranks;
    splitc_runtime.near_at = place_of(splitc_runtime.rank, boot->local);
    if (boot->local_ranks == boot->ranks)
        return;
    splitc_runtime.nodes = splitc_endpoints_nodes(&splitc_runtime.first);
    splitc_runtime.node_at = place_of(boot->local[0], splitc_runtime.first);
}

void splitc_windows_open(const struct splitc_boot *boot)
{
    bool able = offered && attach_all(boot);
    bool crowded;

    if (!splitc_reduce_to_all(SPLITC_MIN, able)) {
        give_up(boot);
        return;
    }
    move_in();
    crowded = splitc_reduce_to_all(SPLITC_MAX, splitc_shares_cores()); /* all have moved in */
    open_all(boot);
    splitc_runtime.crowded = crowded && splitc_runtime.near_ranks == splitc_runtime.ranks;
}

const struct splitc_memory *splitc_windows_memory(void)
{
    return shared ? &memory : NULL;
}

int splitc_windows_find(uint64_t address, splitc_ptr *g)
{
    for (uint32_t rank = 0; rank < splitc_runtime.ranks; rank++) {
        const struct view *v = &view[rank];

        if (v->start == 0 || address - v->start >= v->top)
            continue;
        *g = splitc_make((int)rank, (void *)(address - v->start));
        return (int)rank;
    }
    return -1;
}

const char *splitc_windows_part(uint32_t rank, uint64_t address)
{
    static const char *const name[SPLITC_PARTS] = {[SPLITC_STATICS] = "static objects",
                                                   [SPLITC_STACK] = "stack",
                                                   [SPLITC_SPREAD] = "spread heap",
                                                   [SPLITC_HEAP] = "heap"};
    const struct splitc_memory *theirs = shared ? splitc_peers_copy(rank, &memory) : NULL;

    for (int i = 0; theirs && i < SPLITC_PARTS; i++)
        if (address - theirs->part[i].start < theirs->part[i].size)
            return name[i];
    return NULL;
}
