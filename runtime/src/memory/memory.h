/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memory.h - room memory: the memory of this rank, and its windows of the memory of others.
 *
 * It calls observe.  It sends no messages: what ranks agree on, the rooms above negotiate.
 */
#ifndef SPLITC_MEMORY_H
#define SPLITC_MEMORY_H

#include "runtime.h"

/* Where another rank has its copy of the static object at `here`; NULL without a window. */
static inline void *splitc_peers_copy(uint32_t rank, const void *here)
{
    splitc_ptr g = splitc_make((int)rank, here);

    return splitc_is_near(g) ? splitc_near(g) : NULL;
}

struct splitc_range {
    uint64_t start; /* both are multiples of the page size */
    uint64_t size;
};

/* ---- heaps (heap.c) --------------------------------------------------------------- */

struct splitc_heap_sizes {
    uint64_t spread;  /* of the spread heap */
    uint64_t private; /* of malloc's heap, where it has to lie in a window */
};

/* The sizes that SPLITC_HEAP sets, or else what fits the machine's memory.  Errors end the job. */
struct splitc_heap_sizes splitc_heap_sizes(uint32_t local_ranks);

/* Without windows: move malloc to a range that is larger than the machine's memory, where address
 * space is not limited. */
void splitc_heap_reserve(void);

/* Let the calling thread of the library allocate in malloc's range. */
void splitc_heap_thread(void);

/* n bytes of malloc's range, zeroed and aligned to 64, or NULL; and its release. */
void *splitc_heap_alloc(uint64_t n);
void splitc_heap_free(void *at);

/* ---- the spread heap (spread_heap.c) ------------------------------------------------ */

/* Reserve the range, which is the same on every rank if `size` is.  Errors end the job. */
struct splitc_range splitc_spread_heap_open(uint64_t size);
void splitc_spread_heap_close(void);

/* Allocate; every rank that makes the same calls gets the same addresses.  Errors: -ENOSPC no free
 * piece is large enough, -ENOMEM no memory for the bookkeeping. */
int splitc_spread_heap_alloc(uint64_t size, uint64_t *start);

/* Free what begins at `start`.  Returns 1 if pages went back to the system, so that no rank may
 * write to them before all have freed them; 0 if none did.  Error: -EINVAL nothing allocated begins
 * there. */
int splitc_spread_heap_free(uint64_t start);

/* Bytes of the largest free piece. */
uint64_t splitc_spread_heap_largest(void);

/* ---- windows (window.c) -------------------------------------------------------------- */

enum splitc_part { SPLITC_STATICS, SPLITC_STACK, SPLITC_SPREAD, SPLITC_HEAP, SPLITC_PARTS };

/* The shared object that a rank's memory lies in (object.h). */
struct splitc_memory {
    int fd;
    uint64_t small_first; /* bytes at the start of each heap in small pages; the rest may lie in
                             huge ones */
    uint64_t nonce[2];
    struct splitc_range part[SPLITC_PARTS]; /* in the order of addresses */
};

/* What a rank tells the others of its node about its memory. */
struct splitc_offer {
    uint32_t magic; /* 0: there is nothing to map */
    int32_t pid;
    int64_t fd;
    struct splitc_memory memory; /* its fd means nothing to others */
};

/* Before any global pointer is followed: the window of this rank is all of its own memory. */
void splitc_window_open_own(void);

/* Make the object that holds this rank's memory, and map all of it but the static objects.  The
 * offer says that there is none if `wanted` is false, if the user or a sanitizer wants none, or if
 * it cannot be made. */
struct splitc_offer splitc_window_offer(bool wanted, const struct splitc_heap_sizes *sizes);

/* Whether this rank has made an offer. */
bool splitc_window_is_offered(void);

/* Map the memory of another rank of this node.  Errors: -EPROTO the offer is not sane, or its
 * static objects lie elsewhere than here; -errno. */
int splitc_window_attach(uint32_t rank, const struct splitc_offer *offer);

/* Undo splitc_window_attach, and the offer. */
void splitc_window_detach(uint32_t rank);
void splitc_window_withdraw(void);

/* Move the static objects into the object, while no other thread writes them.
 * Errors: -errno; nothing has changed then. */
int splitc_window_move_statics(void);

/* The same for malloc; from then on the memory is shared. */
void splitc_window_move_in(void);

/* Let global pointers use the memory that is attached, once its rank has moved in. */
void splitc_window_open(uint32_t rank);

/* Windows are not used, which is no error; unetrun -v shows it. */
void splitc_window_warn(const char *what, int error);

/* The memory object of this rank, or NULL if no other rank has mapped it. */
const struct splitc_memory *splitc_window_memory(void);

/* Where this process has n bytes at an address of a rank of this node; NULL if they lie in no
 * window, or not within one part of that rank's memory.  Of this rank: the address, if others have
 * a window of it. */
void *splitc_window_reach(uint32_t rank, uint64_t address, uint64_t n);

/* ---- addresses ------------------------------------------------------------------------ */

/* True if n bytes there can be read, and written if that is asked (memory_map.c).  Memory that was
 * unmapped since the last question may still count. */
bool splitc_memory_is_mapped(uint64_t address, uint64_t n, bool writable);

/* From now on a segmentation fault or bus error prints one line, which says what was accessed and
 * whose it is (fault.c); then the rank dies of the signal, as it would have anyway.  Handlers that
 * the program has installed stay. */
void splitc_fault_watch(void);

/* ---- the stack (stack.c) --------------------------------------------------------------- */

/* Run entry(argc, argv) on the stack that other ranks can reach, if there is one, or else on a
 * large one, if the program wants it.  Then exit with its result. */
_Noreturn void splitc_stack_run(int (*entry)(int argc, char **argv), int argc, char **argv);

#endif
