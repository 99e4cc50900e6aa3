/* SPDX-License-Identifier: BSD-3-Clause
 *
 * internal.h - an instance, its exports and imports, and what its source files share.
 */
#ifndef VMMC_INTERNAL_H
#define VMMC_INTERNAL_H

#include <errno.h>
#include <gam/gam.h>
#include <vmmc/vmmc.h>

/* What the handlers mean, from the index that the user has given on. */
enum vmmc_handler {
    VMMC_ON_IMPORT = 0,   /* request: name, secret, ticket */
    VMMC_ON_IMPORTED = 1, /* its reply: ticket, error or 0, number, size */
    VMMC_ON_UNIMPORT = 2, /* request: number; a right is given back */
    VMMC_ON_REVOKED = 3,  /* request: number; the export has ended */
    VMMC_ON_NOTIFY = 4,   /* of a store to a buffer */
};

/* Memory that is posted for part of a buffer, and the extent of it that has been written. */
struct vmmc_posting {
    uint8_t *to; /* NULL: nothing is posted */
    uint64_t offset;
    size_t n;
    size_t begin, end; /* relative to `offset`; empty if equal */
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
    uint64_t arrived;
    struct vmmc_posting posting;
    uint16_t right[]; /* by rank: how many imports of it */
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
    int why; /* 0: valid */
    bool told;
};

/* The import that waits for its answer. */
struct vmmc_asking {
    uint64_t ticket;
    uint32_t rank; /* whose answer counts */
    bool answered;
    int status;
    uint32_t number;
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
    struct vmmc_imported *imports;
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

/* Where a byte of the buffer lands; *length is cut to those behind it that lie behind it there. */
uint8_t *vmmc_redirect_place(struct vmmc_exported *e, uint64_t offset, size_t *length);

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
