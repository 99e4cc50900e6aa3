/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "window.h"

#include "fork.h"
#include "heap.h"
#include "object.h"
#include "observe/observe.h"
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUARTERS (1u << (SPLITC_ADDRESS_BITS - SPLITC_QUARTER_BITS))
#define WINDOWS (GAM_RANKS_MAX * QUARTERS)
#define OFFER_MAGIC 0x6d65536du
#define HUGE_PAGE (2ul << 20)

static struct splitc_memory memory; /* of this rank */
static bool offered;                /* it is mapped here, and others may map it */
static bool shared;                 /* all other ranks of the node have mapped it */

/* abi.h declares the table constant, because it is once the program runs. */
extern struct splitc_window splitc_window_table[WINDOWS] __asm__("splitc_windows");
struct splitc_window splitc_window_table[WINDOWS] __attribute__((aligned(64)));

/* Where the memory of other ranks is mapped, before the table says so. */
static struct view {
    uint64_t start; /* address here of its object's offset 0; 0: it is not mapped */
    uint64_t top;   /* the size of the object */
} view[GAM_RANKS_MAX];

splitc_size splitc_stored[GAM_RANKS_MAX];

_Static_assert(sizeof(struct splitc_window) == 32, "a power of two");

void splitc_window_warn(const char *what, int error)
{
    if (splitc_is_verbose())
        fprintf(stderr, "splitc: rank %u: no windows, %s: %s; messages do instead\n",
                splitc_runtime.rank, what, strerror(-error));
}

/* ---- this rank's memory -------------------------------------------------------------------- */

void splitc_window_open_own(void)
{
    splitc_ptr us = (splitc_ptr)splitc_runtime.rank << SPLITC_ADDRESS_BITS;

    splitc_runtime.near = &splitc_runtime.rank;
    splitc_runtime.near_ranks = 1;
    for (uint32_t i = 0; i < QUARTERS; i++) {
        splitc_window_table[i] = (struct splitc_window){.limit = 0};
        splitc_window_table[splitc_runtime.rank * QUARTERS + i] =
            (struct splitc_window){.origin = us + SPLITC_NULL_PAGE,
                                   .limit = SPLITC_ADDRESS_MASK + 1 - SPLITC_NULL_PAGE,
                                   .shift = -us};
    }
}

struct splitc_offer splitc_window_offer(bool wanted, const struct splitc_heap_sizes *sizes)
{
    const bool huge = splitc_huge_pages_wanted();
    const char *why;
    int error;

    if (!splitc_windows_wanted() || !wanted || splitc_is_sanitized())
        return (struct splitc_offer){.magic = 0};
    error = splitc_object_open(&memory, sizes->spread, sizes->private, huge, &why);
    if (error) {
        splitc_window_warn(why, error);
        return (struct splitc_offer){.magic = 0};
    }
    offered = true;
    return (struct splitc_offer){
        .magic = OFFER_MAGIC, .pid = getpid(), .fd = memory.fd, .memory = memory};
}

bool splitc_window_is_offered(void)
{
    return offered;
}

/* ---- a peer's memory --------------------------------------------------------------------- */

static bool offer_is_sane(const struct splitc_offer *offer)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t last = 2 * SPLITC_QUARTER - page;
    uint64_t end = SPLITC_NULL_PAGE;

    if (offer->magic != OFFER_MAGIC || offer->pid <= 0)
        return false;
    for (int i = 0; i < SPLITC_PARTS; i++) {
        const struct splitc_range *r = &offer->memory.part[i];

        if (r->start < end || r->start > last || r->size > last - r->start || r->start % page ||
            r->size % page)
            return false;
        end = i == SPLITC_STATICS ? SPLITC_HIGH : splitc_range_end(r);
    }
    return true;
}

/* Addresses of static objects mean the same where these lie at the same place only.  Ranks compare
 * their programs before (job/program.h), so who offers other memory does not tell the truth. */
static bool has_our_statics(const struct splitc_memory *theirs)
{
    return memcmp(&theirs->part[SPLITC_STATICS], &memory.part[SPLITC_STATICS],
                  sizeof(struct splitc_range)) == 0;
}

/* Another process may have got the pid since; the nonce shows whether it has. */
static int object_check(int fd, const struct splitc_memory *theirs)
{
    uint64_t nonce[2];
    struct stat status;

    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_nlink > 0)
        return -EBADF;
    if (status.st_uid != geteuid())
        return -EACCES;
    if ((uint64_t)status.st_size < splitc_object_top(theirs) ||
        pread(fd, nonce, sizeof nonce, 0) != sizeof nonce ||
        memcmp(nonce, theirs->nonce, sizeof nonce) != 0)
        return -ESTALE;
    return 0;
}

static int object_open_peers(const struct splitc_offer *offer, int *fd)
{
    char path[64];
    int error;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", offer->pid, (int)offer->fd);
    *fd = open(path, O_RDWR | O_CLOEXEC);
    if (*fd < 0)
        return -errno;
    error = object_check(*fd, &offer->memory);
    if (error)
        close(*fd);
    return error;
}

/* Reserve addresses for the whole object, so that accesses between its parts fault; aligned, so
 * that huge pages of the owner are huge here. */
static int reserve_aligned(uint64_t size, uint64_t *start)
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

static int object_map(int fd, const struct splitc_memory *theirs, uint64_t *start)
{
    uint64_t top = splitc_object_top(theirs);
    int error = reserve_aligned(top, start);

    for (int i = 0; i < SPLITC_PARTS && error == 0; i++) {
        const struct splitc_range *r = &theirs->part[i];
        const uint64_t offset = splitc_object_offset(r->start);

        if (mmap((void *)(*start + offset), r->size, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, (off_t)offset) == MAP_FAILED) {
            error = -errno;
            munmap((void *)*start, top);
        } else {
            splitc_object_advise(&memory, i, *start + offset, r->size);
        }
    }
    if (error) {
        *start = 0;
        return error;
    }
    madvise((void *)*start, top, MADV_DONTFORK); /* a child is no rank */
    madvise((void *)*start, top, MADV_DONTDUMP); /* a core holds the memory of one rank */
    return 0;
}

int splitc_window_attach(uint32_t rank, const struct splitc_offer *offer)
{
    struct view *v = &view[rank];
    int fd = -1;
    int error;

    if (!offer_is_sane(offer) || !has_our_statics(&offer->memory))
        return -EPROTO;
    error = object_open_peers(offer, &fd);
    if (error)
        return error;
    error = object_map(fd, &offer->memory, &v->start);
    close(fd);
    v->top = splitc_object_top(&offer->memory);
    return error;
}

void splitc_window_detach(uint32_t rank)
{
    if (view[rank].start)
        munmap((void *)view[rank].start, view[rank].top);
    view[rank].start = 0;
}

void splitc_window_open(uint32_t rank)
{
    const struct view *v = &view[rank];
    const struct splitc_range *statics = &memory.part[SPLITC_STATICS]; /* theirs are at the same */
    splitc_ptr them = (splitc_ptr)rank << SPLITC_ADDRESS_BITS;
    struct splitc_window *w = &splitc_window_table[rank * QUARTERS];

    w[0] = (struct splitc_window){
        .origin = them + statics->start, .limit = statics->size, .shift = v->start - them};
    w[1] = (struct splitc_window){.origin = them + SPLITC_HIGH,
                                  .limit = v->top - SPLITC_STATICS_MAX,
                                  .shift = v->start - (them + SPLITC_QUARTER)};
}

/* ---- moving in ------------------------------------------------------------------------------ */

void splitc_window_withdraw(void)
{
    if (offered)
        splitc_object_close(&memory);
    offered = false;
}

int splitc_window_move_statics(void)
{
    return splitc_object_move_statics(&memory);
}

void splitc_window_move_in(void)
{
    const struct splitc_range *heap = &memory.part[SPLITC_HEAP];
    const int error = splitc_heap_move(heap->start, heap->size);

    shared = true;
    if (error)
        splitc_window_warn("the program brings a malloc of its own, so for its heap", error);
    splitc_fork_prepare(&memory);
}

const struct splitc_memory *splitc_window_memory(void)
{
    return shared ? &memory : NULL;
}

int splitc_window_find(uint64_t address, splitc_ptr *g)
{
    for (uint32_t rank = 0; rank < splitc_runtime.ranks; rank++) {
        const struct view *v = &view[rank];

        if (v->start == 0 || address - v->start >= v->top)
            continue;
        *g = splitc_make((int)rank, (void *)splitc_object_address(address - v->start));
        return (int)rank;
    }
    return -1;
}

/* The parts of a near rank's memory, as it has them; NULL without a window. */
static const struct splitc_range *window_parts(uint32_t rank)
{
    const struct splitc_memory *theirs = shared ? splitc_peers_copy(rank, &memory) : NULL;

    return theirs ? theirs->part : NULL;
}

void *splitc_window_reach(uint32_t rank, uint64_t address, uint64_t n)
{
    const struct splitc_range *part = window_parts(rank);

    for (int i = 0; part && i < SPLITC_PARTS; i++)
        if (address >= part[i].start && n <= part[i].size &&
            address - part[i].start <= part[i].size - n)
            return splitc_peers_copy(rank, (const void *)address);
    return NULL;
}

bool splitc_window_is_kept_free(uint64_t address)
{
    return shared && address - SPLITC_QUARTER < splitc_object_top(&memory) &&
           !splitc_window_part(splitc_runtime.rank, address);
}

const char *splitc_window_part(uint32_t rank, uint64_t address)
{
    static const char *const name[SPLITC_PARTS] = {[SPLITC_STATICS] = "static objects",
                                                   [SPLITC_STACK] = "stack",
                                                   [SPLITC_SPREAD] = "spread heap",
                                                   [SPLITC_HEAP] = "heap"};
    const struct splitc_range *part = window_parts(rank);

    for (int i = 0; part && i < SPLITC_PARTS; i++)
        if (address - part[i].start < part[i].size)
            return name[i];
    return NULL;
}
