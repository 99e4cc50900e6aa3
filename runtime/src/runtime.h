/* SPDX-License-Identifier: BSD-3-Clause
 *
 * runtime.h - the state of a rank, and the numbers of its messages, which all rooms share.
 *
 * The runtime has five rooms, the folders of runtime/src.  A room has one header for the others,
 * ROOM/ROOM.h, and calls only the rooms below it:
 *
 *   job          joins and leaves the job; threads of the library; -fcheck
 *   collective   calls that all ranks make together
 *   access       waits, and uses the memory of other ranks
 *   memory       the memory of this rank, and its windows of the others' memory
 *   observe      errors, events, and who is told of them
 *
 * tests/includes_test.cc enforces that.
 *
 * All state belongs to the program's one thread of control.  Handlers run inside gam_poll, so they
 * interrupt nothing but a wait.  Every symbol that the library exports begins with splitc_: all
 * other names are the program's.
 */
#ifndef SPLITC_RUNTIME_H
#define SPLITC_RUNTIME_H

#include <gam/gam.h>
#include <split-c/abi.h>
#include <split-c/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SPLITC_LEVELS 16        /* log2 of GAM_RANKS_MAX: rounds of a barrier, depth of a tree */
#define SPLITC_NULL_PAGE 4096ul /* nothing is ever mapped below this address */

_Static_assert(1u << SPLITC_LEVELS == GAM_RANKS_MAX, "levels of a tree over all ranks");
_Static_assert(sizeof(splitc_ptr) == 8, "a global pointer has 64 bits");

/* The first cache line has what accesses use. */
struct splitc_runtime {
    struct gam *gam;
    uint32_t rank;
    uint32_t ranks;
    const char *running; /* the function of the program that must not wait; NULL: none runs */
    uint64_t gets;       /* begun here and not yet complete */
    uint64_t puts;       /* the same */
    uint64_t vain;       /* messages of failed attempts to take a lock; they change nothing */
    bool crowded;        /* all ranks are near, and there are more ranks than cores */
    bool threaded;       /* threads use the library by turns, holding the monitor */
    bool coalesced;      /* small accesses wait for company (access/coalesce.c) */
    uint32_t observed;   /* the events that some observer wants, 1 << enum splitc_event_kind */
    bool served;         /* a thread of the library runs handlers */
    bool own_threads;    /* threads of the program use the library */
    uint64_t vain_far;   /* of vain, those that came over a network: as many as were sent */

    uint64_t stored_out;    /* bytes of signalling stores sent in messages */
    uint64_t stored_in;     /* bytes of such stores that have arrived and are in place */
    uint64_t consumed;      /* of all bytes stored to here, those that store_sync has waited for */
    uint64_t collectives;   /* collective calls begun here */
    const void *running_on; /* the frames of `running` lie below this address */

    const uint32_t *near; /* the ranks whose windows are open, including this one */
    uint32_t near_ranks;
    uint32_t near_at;               /* this rank's index among them */
    const uint32_t *local;          /* one bit per rank: messages reach it without a network */
    struct unet_endpoint *network;  /* to other nodes; NULL: there is none */
    struct unet_endpoint *protocol; /* the same, if it has the protocol of reliable.h */
    const uint32_t *first; /* the first rank of each node, where ranks of a node share memory */
    uint32_t nodes;        /* length of that list; 0: one node, or no shared memory */
    uint32_t node_at;      /* this node's index in it */
    const struct unet_ops *carrier; /* the backend of that network, whatever stands in front */
} __attribute__((aligned(64)));
extern struct splitc_runtime splitc_runtime;

/* Whether messages to that rank go over a network. */
static inline bool splitc_is_by_network(uint32_t rank)
{
    return !(splitc_runtime.local[rank / 32] >> rank % 32 & 1);
}

/* Index of each handler in GAM's table, the same on every rank.  job.c registers them. */
enum splitc_message {
    SPLITC_MSG_READ = 1,
    SPLITC_MSG_WRITE,
    SPLITC_MSG_WRITE_LANDED, /* a blocking bulk write is in place */
    SPLITC_MSG_ANSWER,       /* completes a splitc_cell */
    SPLITC_MSG_UNCHANGED,    /* the same, for an atomic operation that changed nothing */
    SPLITC_MSG_BULK_READ,    /* a blocking bulk read is complete */
    SPLITC_MSG_GET,
    SPLITC_MSG_GET_ANSWER,
    SPLITC_MSG_PUT,
    SPLITC_MSG_PUT_LANDED,
    SPLITC_MSG_GOT,      /* a bulk get is complete */
    SPLITC_MSG_PUT_DONE, /* a put is complete */
    SPLITC_MSG_STORE,
    SPLITC_MSG_STORE_LANDED,
    SPLITC_MSG_RECORDS,
    SPLITC_MSG_RECORDS_DONE,
    SPLITC_MSG_ATOMIC,
    SPLITC_MSG_ATOMIC_DONE, /* a split-phase one is */
    SPLITC_MSG_MASKED,
    SPLITC_MSG_RUN,     /* atomic(fn, ...) */
    SPLITC_MSG_RUN_GET, /* x := atomic(fn, ...) */
    SPLITC_MSG_COLLECTIVE,
    SPLITC_MSG_PIECE, /* of a collective operation on arrays */
    SPLITC_MSG_TAKEN,
    SPLITC_MSG_PULLED,
    SPLITC_MSG_INQUIRY, /* whether a member makes a collective call */
    SPLITC_MSG_NEVER,   /* it does not */
    SPLITC_MSG_END,
    SPLITC_MSG_WAKE,  /* wakes a rank that sleeps */
    SPLITC_MSG_STATS, /* the reports of observers */
    SPLITC_MSG_TRACE,
    SPLITC_MSG_PROFILE,
    SPLITC_MSG_DIRECT_ASK, /* direct.c describes the protocol */
    SPLITC_MSG_DIRECT_READY,
    SPLITC_MSG_DIRECT_CHECK,
    SPLITC_MSG_DIRECT_LANDED,
    SPLITC_MSG_XFER, /* am_reply_xfer */
    SPLITC_MSG_XFER_LARGE,
    SPLITC_MSG_PROBE, /* of -fcheck; checks.c registers it */
    SPLITC_MESSAGES
};

#endif
