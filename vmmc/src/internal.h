/* SPDX-License-Identifier: BSD-3-Clause
 *
 * internal.h - an instance, its exports and imports, and what its source files share.
 */
#ifndef VMMC_INTERNAL_H
#define VMMC_INTERNAL_H

#include <errno.h>
#include <gam/gam.h>
#include <pthread.h>
#include <stdatomic.h>
#include <vmmc/vmmc.h>

/* What the handlers mean, from the index that the user has given on. */
enum vmmc_handler {
    VMMC_ON_IMPORT = 0,   /* request: name, secret, ticket */
    VMMC_ON_IMPORTED = 1, /* its reply: ticket and error; or ticket below the lane's use, 0 below
                             the number, size, address of the lane or 0 */
    VMMC_ON_UNIMPORT = 2, /* request: number; a right is given back */
    VMMC_ON_REVOKED = 3,  /* request: number; the export has ended */
    VMMC_ON_NOTIFY = 4,   /* of a store to a buffer; or a request: tag, number, offset, length */
    VMMC_ON_LANDED = 5,   /* request, no words: bytes have come through a window */
};

/* Memory that is posted for part of a buffer.  Its number is set last, so that posting takes no
 * lock.  A posting that is not full is withdrawn as posting_withdraw does, so that it stays as it
 * is while a sender copies; one that is full may change at any time, and no sender reads it. */
struct vmmc_posting {
    _Atomic uint64_t number; /* of this posting among those of its buffer; 0: nothing is posted */
    uint64_t to;             /* an address of the owner's */
    uint64_t offset;
    size_t n;
};

/* What has been written of a posting. */
struct vmmc_extent {
    uint64_t of;       /* the posting's number; nothing has been written of any other */
    size_t begin, end; /* relative to its `offset` */
    size_t n;          /* its length, as its owner may change the posting once it is full */
};

/* The same as its owner is told.  It changes so that whoever is killed in between leaves one that
 * tells the truth. */
struct vmmc_told_extent {
    _Atomic uint64_t of;
    _Atomic size_t begin, end; /* empty unless begin < end */
};

/* What senders have to know of an export.  It lies in the owner's memory, where ranks of its node
 * find it through their windows; they hold their lane's lock meanwhile.  Its owner trusts nothing
 * in it but its own words: who has a window could write anywhere else, too.
 *
 * Each of its three lines is read by one side and written by the other, or is one side's, as a line
 * that both read and one writes moves twice as often.  So a message that is redirected moves two
 * besides its bytes: what was posted, and what has come of it. */
struct vmmc_door {
    /* The owner writes, senders read. */
    uint64_t at; /* of the buffer, an address of the owner's */
    uint32_t number;
    uint32_t writer; /* the rank that may copy, or VMMC_ANYBODY */
    struct vmmc_posting posting;
    /* Senders write when the bytes of a piece are in place, `landed` last; the owner reads. */
    _Alignas(64) struct vmmc_told_extent told;
    _Atomic uint64_t redirected; /* bytes that came through windows to posted memory */
    _Atomic uint64_t landed;     /* and anywhere */
    /* Its writer's own, and the owner's who puts that one's messages into their places.
     *
     * `copying` is set while the writer copies, from before it looks at the posting; and for ever
     * by one that dies then.  An owner that has withdrawn its posting, and finds this clear, needs
     * no lock. */
    _Alignas(64) _Atomic uint32_t copying;
    struct vmmc_extent extent;
    uint64_t redirected_so_far, landed_so_far; /* as above, of redirectable buffers */
};

/* What an owner and one rank that imports from it share, in the owner's memory.  A lane outlives
 * its instance, as its sender may look at it at any time; `use` tells one use from the next. */
struct vmmc_lane {
    pthread_mutex_t lock;    /* robust: who dies while it copies does not keep it */
    _Atomic uint32_t wanted; /* by the owner: the sender has to let it in between two pieces */
    uint32_t use;            /* 0: none */
    uint64_t doors;          /* the owner's table: addresses of doors, by slot */
    /* How many bytes of messages the owner has put into their places, where a message without
     * bytes counts as one: the sender copies only after all that it has sent as messages. */
    _Alignas(64) _Atomic uint64_t handled;
    struct vmmc_lane *next; /* of those that nobody uses */
};

/* Another rank, as seen from here. */
struct vmmc_peer {
    struct vmmc_lane *lane;   /* by which it sends to this one; NULL: it has imported nothing */
    uint64_t sent;            /* by messages from here to it, as counted in `handled` */
    uint32_t ticket, granted; /* its last import here, and the number of the export */
};

struct vmmc_exported {
    struct vmmc *v;
    uint64_t name, secret;
    uint32_t rank;   /* who may import it, or VMMC_ANYBODY */
    uint32_t number; /* of its slot, below the slot's generation */
    uint8_t *at;
    size_t n;
    unsigned flags;
    vmmc_notify_fn *notify;
    void *arg;
    uint64_t arrived; /* by messages */
    struct vmmc_door *door;
    uint64_t postings; /* the number of the last one */
    size_t posted;     /* its bytes; 0: it has ended */
    uint16_t right[];  /* by rank: how many imports of it */
};

/* A number is a slot and its generation, so that one that has ended is never another's. */
enum { VMMC_SLOT_BITS = 12 };
_Static_assert(VMMC_EXPORTS_MAX == 1u << VMMC_SLOT_BITS, "a slot fits into its bits");

struct vmmc_slot {
    struct vmmc_exported *e;
    uint32_t generation;
};

struct vmmc_imported {
    struct vmmc *v;
    struct vmmc_imported *next;
    size_t n;
    uint32_t rank, number;
    struct vmmc_lane *lane; /* the owner's, through a window; NULL: there is none */
    uint32_t use;           /* of the lane */
    int why;                /* 0: valid */
    bool told;
};

/* The import that waits for its answer. */
struct vmmc_asking {
    uint32_t ticket;
    uint32_t rank; /* whose answer counts */
    bool answered;
    int status;
    uint32_t number, use;
    uint64_t lane; /* an address of the owner's, or 0 */
    size_t n;
};

/* A right that came after its import had given up. */
struct vmmc_orphan {
    uint32_t rank, number;
};

struct vmmc_waiting {
    uint32_t number; /* of the export */
    struct vmmc_notification notification;
};

/* Notifications that wait to be run: a ring whose size is a power of two. */
struct vmmc_queue {
    struct vmmc_waiting *at;
    uint32_t size, first, count;
};

struct vmmc {
    struct gam *g;
    uint32_t first; /* handler */
    uint32_t slots; /* in use so far */
    uint32_t blocked;
    bool running; /* a function of the user's */
    bool invalid; /* some import is, and was not told */
    struct vmmc_slot *slot;
    _Atomic uint64_t *door;    /* the table that lanes name */
    struct vmmc_peer *peer;    /* by rank */
    struct vmmc_lane *landing; /* of the piece whose place was given last, and is copied there */
    uint64_t landing_bytes;    /* once the hook has returned */
    struct vmmc_imported *imports;
    struct vmmc_door *copied_to; /* by which was copied last; only good to be fetched early */
    struct vmmc_asking asking;
    struct vmmc_orphan *orphan;
    size_t orphans;
    struct vmmc_queue queue;
    vmmc_invalid_fn *on_invalid;
    void *on_invalid_arg;
    struct vmmc_stats stats;
};

/* ---- export.c ------------------------------------------------------------- */

/* The export of that number, or NULL. */
struct vmmc_exported *vmmc_export_find(const struct vmmc *v, uint32_t number);

gam_placement_fn vmmc_export_place;
gam_handler_fn vmmc_export_on_import, vmmc_export_on_unimport;

/* ---- redirect.c ------------------------------------------------------------ */

/* Where a byte of the buffer lands, as an address of the owner's; *length is cut to those behind it
 * that lie behind it there.  *posted: the number of the posting whose extent has to be told of it,
 * or 0. */
uint64_t vmmc_posting_find(const struct vmmc_door *door, uint64_t offset, size_t *length,
                           uint64_t *posted);

/* These bytes are in posted memory, or will be before its owner looks. */
void vmmc_posting_extend(struct vmmc_door *door, uint64_t posted, uint64_t offset, size_t length);

/* ---- lane.c, of owners -------------------------------------------------------- */

/* The lane by which that rank sends to this one; NULL without windows or memory. */
struct vmmc_lane *vmmc_lane_open(struct vmmc *v, uint32_t rank);

/* All lanes of an instance, of which no sender sees anything any more. */
void vmmc_lanes_close(struct vmmc *v);

/* Keep the sender out; it may finish a piece first.  NULL: nothing is done. */
void vmmc_lane_lock(struct vmmc_lane *lane);
void vmmc_lane_unlock(struct vmmc_lane *lane);

/* Wait until nobody copies who has not seen what changed before. */
void vmmc_lane_drain(struct vmmc_lane *lane);

/* A piece, or one of no bytes, goes to its place as soon as the hook returns; and the senders may
 * know of the last one. */
void vmmc_lane_land(struct vmmc *v, uint32_t rank, size_t length);
void vmmc_lane_publish(struct vmmc *v);

/* ---- window.c, of senders ------------------------------------------------------ */

/* Look for the lane of an import that was just granted. */
void vmmc_window_open(struct vmmc_imported *i, uint64_t lane, uint32_t use);

/* Copy as much of a message as can be through windows; returns how many bytes that was. May poll.
 */
size_t vmmc_window_send(struct vmmc_imported *i, uint64_t offset, const uint8_t *from, size_t n);

gam_handler_fn vmmc_window_on_landed;

/* ---- import.c ------------------------------------------------------------- */

gam_handler_fn vmmc_import_on_imported, vmmc_import_on_revoked;

/* Give back the rights that nobody waits for any more. */
void vmmc_orphans_return(struct vmmc *v);

/* Tell the user of imports that are no longer valid; returns of how many. */
int vmmc_imports_check(struct vmmc *v);

/* ---- notify.c ------------------------------------------------------------- */

gam_handler_fn vmmc_notify_on_notify;

/* Run what waits, unless that is blocked; returns how many ran. */
int vmmc_notify_run(struct vmmc *v);

#endif
