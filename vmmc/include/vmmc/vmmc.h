/* SPDX-License-Identifier: BSD-3-Clause
 *
 * vmmc.h - virtual memory-mapped communication, as VMMC-2 (Dubnicki and others, 1997), over GAM.
 *
 * A process exports buffers of its memory; others import them, and send from any address of theirs
 * to an offset of an imported buffer.  There is no receive: bytes are in place once the owner's
 * poll has read them, and a message may notify.  Where GAM knows the memory of ranks of one node
 * (gam_set_memory), senders there copy to its place what is longer than VMMC_SMALL_MAX, and bytes
 * may be in place before the owner polls.  What is sent to a redirectable buffer lands in
 * memory that its owner has posted, and in the buffer otherwise.
 *
 * Protection is the owner's.  It lets in what comes from a rank that has imported the buffer by its
 * secret, and lies within it; all else is refused and counted, and nothing of it is written.  A
 * sender that copies asks for itself what the owner would ask: see docs/adr/0024-vmmc-windows.md.
 *
 * All functions of an instance belong to the thread of its GAM instance, return 0 or -errno, and
 * set outputs only on success.  None may be called from a handler of GAM; those that "may poll" run
 * such handlers.  Lengths and offsets are in bytes.
 */
#ifndef VMMC_H
#define VMMC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gam;
struct vmmc;
struct vmmc_exported; /* a buffer of this process */
struct vmmc_imported; /* one of another process, or of this one */

#define VMMC_ANYBODY UINT32_MAX /* instead of a rank: whoever knows the secret */
#define VMMC_HANDLERS 6u        /* indices of GAM's table that an instance takes */
#define VMMC_EXPORTS_MAX 4096u  /* buffers exported at a time */
#define VMMC_WAITING_MAX 65536u /* notifications that wait to be run */
#define VMMC_SMALL_MAX 32u      /* bytes that cost one small message */

/* Of exports. */
#define VMMC_REDIRECTABLE (1u << 0) /* vmmc_redirect may be used; one rank at a time imports it */

/* Of sends. */
#define VMMC_NOTIFY (1u << 0) /* run the buffer's function when all has come */

/* What a function of notifications is told. */
struct vmmc_notification {
    uint32_t source; /* the rank that has sent */
    uint32_t tag;    /* of vmmc_send */
    uint64_t offset; /* of vmmc_send */
    size_t length;
};

/* A message that notifies has come to the buffer, and its bytes are in place.  Runs in vmmc_poll,
 * vmmc_wait or vmmc_unblock, never within another one, in the order of arrival.  It may send, post
 * redirections, import and export, and may end this export. */
typedef void vmmc_notify_fn(struct vmmc_exported *e, void *arg,
                            const struct vmmc_notification *notification);

/* An import is no longer valid: `why` is -EPIPE, its owner is dead or out of reach, or -ESTALE, its
 * owner has ended the export.  Runs in vmmc_poll and vmmc_wait, once for each import; it may do
 * what functions of notifications may, and call vmmc_unimport. */
typedef void vmmc_invalid_fn(struct vmmc_imported *i, void *arg, int why);

/* Counters since vmmc_open. */
struct vmmc_stats {
    uint64_t sends, sent_bytes;
    uint64_t notifications;    /* run */
    uint64_t dropped;          /* notifications beyond VMMC_WAITING_MAX, or without memory */
    uint64_t arrived_bytes;    /* let in, or copied, to all buffers */
    uint64_t redirected_bytes; /* of these, in memory that was posted */
    uint64_t refused;       /* pieces for no buffer, beyond one, or from who has not imported it */
    uint64_t denied;        /* imports refused: wrong secret, or for another rank */
    uint64_t redirections;  /* postings ended, of which */
    uint64_t full, partial; /* all bytes, and some bytes, came to the posted memory */
};

/* Open an instance on one of GAM, which has at most one at a time.  It takes the hook of
 * gam_set_placement, and the handlers first .. first + VMMC_HANDLERS - 1, which have to be the same
 * on every rank.  Not collective: until a rank has opened its own, imports from it wait.
 * Errors: -EINVAL, -ENOMEM, -EEXIST a handler is taken, -EBUSY the hook is taken. */
int vmmc_open(struct gam *g, uint32_t first, struct vmmc **v);

/* End all exports and give back all imports, which are freed; then close.  May poll.  Before
 * gam_close.  NULL is allowed. */
void vmmc_close(struct vmmc *v);

/* ---- export and import ------------------------------------------------------------------- */

/* Let a rank, or VMMC_ANYBODY, that knows name and secret write into n bytes at `at`, which stay
 * the caller's and have to live until vmmc_unexport.  `notify` may be NULL. Errors: -EINVAL,
 * -EEXIST that name is exported, -ENOSPC VMMC_EXPORTS_MAX are, -ENOMEM. */
int vmmc_export(struct vmmc *v, uint64_t name, uint64_t secret, uint32_t rank, void *at, size_t n,
                unsigned flags, vmmc_notify_fn *notify, void *arg, struct vmmc_exported **e);

/* End an export, a posting included: nothing is written any more once this returns (it may wait, as
 * vmmc_redirect_end does), and notifications that wait are dropped.  Importers are told; what they
 * send before they know is refused here.  Frees it.  May poll. */
void vmmc_unexport(struct vmmc_exported *e);

/* Import the buffer that `rank` has exported by that name, for which this waits, polling, at most
 * timeout_ms (-1: no limit).  `n` (may be NULL) is set to its size.  No notifications run
 * meanwhile. Errors: -ETIMEDOUT, -EACCES the secret is another, or it is not for this rank, -EBUSY
 * it is redirectable and another rank has it, -EINVAL, -ENOMEM, -EPIPE the rank is dead. */
int vmmc_import(struct vmmc *v, uint32_t rank, uint64_t name, uint64_t secret, int timeout_ms,
                struct vmmc_imported **i, size_t *n);

/* Give an import back, valid or not, and free it.  What was sent before still arrives.  May poll.
 */
void vmmc_unimport(struct vmmc_imported *i);

/* False once its owner has ended the export, or is dead: import it anew. */
bool vmmc_is_valid(const struct vmmc_imported *i);

/* Whom to tell of imports that become invalid; NULL: nobody. */
void vmmc_on_invalid(struct vmmc *v, vmmc_invalid_fn *fn, void *arg);

/* ---- sending -------------------------------------------------------------------------- */

/* Copy n bytes from any address here to an offset of the imported buffer.  What one rank sends to
 * another arrives in order.  Returns when `from` may be reused.  May poll, and waits while GAM's
 * window is full.  Up to VMMC_SMALL_MAX bytes cost one small message.  n may be 0, to notify.
 * Errors: -EINVAL beyond the buffer, -EPIPE the owner is dead, -ESTALE it has ended the export,
 * -EPERM called from a handler of GAM. */
int vmmc_send(struct vmmc_imported *i, uint64_t offset, const void *from, size_t n, unsigned flags,
              uint32_t tag);

/* How many bytes have come to the buffer, wherever they lie.  Polls of this instance move it, and
 * ranks of this node that copy.  For each of those there is a message behind, so that vmmc_wait
 * does not sleep. */
uint64_t vmmc_arrived(const struct vmmc_exported *e);

/* ---- transfer redirection ------------------------------------------------------------------ */

/* Where the bytes of a posting are.  They are one extent in the posted memory, and otherwise in the
 * buffer: what came before the posting or after it was full, and what was sent so that it does not
 * touch that extent.
 *   0 .. first                   in the buffer, at the offset of the posting, if they have come
 *   first .. first + placed      in the posted memory, `first` behind its start
 *   and `last` bytes behind them in the buffer, if they have come
 */
struct vmmc_redirected {
    size_t first, placed, last;
};

/* From now on what is sent to `n` bytes of a redirectable buffer, from `offset` on, lands at `to`
 * (byte offset + k at to + k), until all of them have come: what is sent there again goes to the
 * buffer.  `to` has to live until the posting ends.  One posting at a time.
 * Errors: -EINVAL not redirectable, or beyond the buffer, -EBUSY one is posted. */
int vmmc_redirect(struct vmmc_exported *e, uint64_t offset, void *to, size_t n);

/* What has come of the posting so far.  Errors: -ENOENT nothing is posted. */
int vmmc_redirect_look(const struct vmmc_exported *e, struct vmmc_redirected *r);

/* End the posting and tell what came of it: all of it (placed = n), part of it, or nothing (placed
 * = 0, first = n).  Does not poll: `to` is the caller's when it returns.  Waits while a sender of
 * this node copies a piece, of at most 64 KiB; one that dies meanwhile does not keep it, and leaves
 * what it has not copied whole, outside of the extent, undefined.  Errors: -ENOENT nothing is
 * posted. */
int vmmc_redirect_end(struct vmmc_exported *e, struct vmmc_redirected *r);

/* ---- progress and notifications ------------------------------------------------------------- */

/* Read what has arrived and run the functions of notifications and of invalid imports.  Returns how
 * many messages were read and functions run.  Within such a function: reads only. */
int vmmc_poll(struct vmmc *v);

/* Poll; if nothing was there, sleep until something arrives, at most timeout_ms (-1: no limit), and
 * poll again.  Returns as vmmc_poll.  Errors: as gam_wait. */
int vmmc_wait(struct vmmc *v, int timeout_ms);

/* Hold notifications back, and run those that were held back.  Bytes arrive all the same.  Nests.
 */
void vmmc_block(struct vmmc *v);
void vmmc_unblock(struct vmmc *v);

/* The counters, as they are now. */
void vmmc_stats(const struct vmmc *v, struct vmmc_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
