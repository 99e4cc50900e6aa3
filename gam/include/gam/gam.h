/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gam.h - Generic Active Messages over a U-Net endpoint.
 *
 * The semantics are those of the Generic Active Message Interface 1.1 (Culler
 * et al., 1994), with the medium messages of 1.5 and with the flow control of
 * UAM (U-Net paper, section 5).  This header is the core: every call names
 * its instance, so that one process can hold many.  <split-c/am.h> has the classic
 * am_* names over one instance per process.
 *
 * Guarantees
 *  - A message is delivered exactly once, and messages from one rank to another
 *    in the order in which they were sent, barring the death of either.  A transfer
 *    that goes on after its call counts as sent when it ends: what is sent
 *    meanwhile may overtake it, except other stores to that rank.
 *  - A handler runs to completion and never waits: window slots for requests
 *    and, apart from them, for the replies to them are reserved per peer.
 *  - A request handler may reply once, to the requester; a reply handler sends
 *    nothing.  Anything else is -EPERM and counted.
 *  - Handlers travel as indices of the table, never as addresses.
 *
 * Calls that "may poll" run handlers of arrived messages before they return.
 * All functions belong to one thread per instance at a time, return 0 or
 * -errno, and set outputs only on success.  Lengths are in bytes.
 */
#ifndef GAM_H
#define GAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gam;
struct unet_endpoint;
struct unet_address;

#define GAM_HANDLERS 256u    /* size of the handler table; index 0 is never used */
#define GAM_WORDS_MAX 4u     /* 64-bit argument words of a request or reply */
#define GAM_MEDIUM_MAX 8064u /* bytes of one medium message */
#define GAM_RANKS_MAX 65536u /* ranks in the representation */

/* A message as its handler sees it; all of it is valid until the handler returns. */
struct gam_message {
    uint32_t source;  /* the sender's rank */
    uint16_t words;   /* how many of `word` were sent; the others are undefined */
    uint16_t handler; /* the index under which the handler was called */
    uint64_t word[GAM_WORDS_MAX];
    void *data;    /* medium: the bytes, in system storage, aligned to 8;
                      store and get: where they were put; else NULL */
    size_t length; /* bytes at `data` */
};

/* A handler.  `g` is the instance that received the message. */
typedef void gam_handler_fn(struct gam *g, const struct gam_message *m);

/* Called at the sender when the source of a store_async may be reused. */
typedef void gam_done_fn(void *arg);

/* How to reach a rank: fills in the address of its endpoint.  Returns 0 if the instance's endpoint
 * leads there, 1 if gam_config.network does, or -errno. */
typedef int gam_resolve_fn(void *arg, uint32_t rank, struct unet_address *address);

struct gam_config {
    uint32_t ranks;          /* 1..GAM_RANKS_MAX; endpoints of today have room for 32767 */
    uint32_t rank;           /* this instance's, below `ranks` */
    uint64_t key[2];         /* the job's secret: channels under another are refused */
    gam_resolve_fn *resolve; /* asked once for every rank, this one included */
    void *resolve_arg;
    uint32_t window; /* requests in flight per peer, at most 255; 0 = 64, or 255 on a network, or
                        32 with more than 64 ranks; the same on every rank */
    struct unet_endpoint *network; /* a second endpoint, for the ranks on other nodes
                                      (docs/adr/0007); NULL = none */
};

/* Counters since gam_open. */
struct gam_stats {
    uint64_t requests, replies; /* small messages sent, gets not counted */
    uint64_t mediums;           /* medium messages sent, requests and replies */
    uint64_t stores, gets;      /* bulk transfers started */
    uint64_t bulk_bytes;        /* bytes they carried, sent by this instance */
    uint64_t handled;           /* handlers run, bulk pieces not counted */
    uint64_t acks;              /* explicit acknowledgements sent */
    uint64_t polls, empty_polls;
    uint64_t stalls;  /* times a sender waited for its window */
    uint64_t refused; /* arrivals refused: unknown handler, bad length or kind */
    uint64_t misuse;  /* calls refused by the request/reply rule */
};

/* What an endpoint has to be opened with so that `ranks` peers with that window (0 = default) fit:
 * fill in the sizes, and leave the other fields alone.  The second is for endpoints on a network
 * (unet_ops.network), whose round trips are longer.  For more than 32767 ranks unet_open refuses
 * what they say, as it has no room for so many buffers.  Memory: see docs/gam.md. */
struct unet_config;
void gam_endpoint_config(uint32_t ranks, uint32_t window, struct unet_config *config);
void gam_network_config(uint32_t ranks, uint32_t window, struct unet_config *config);

/* Open an instance on an endpoint, or two, that are reliable and ordered (in front of one that is
 * not, reliable/reliable.h makes one) and have those sizes or larger ones.  They serve this one
 * instance, but stay the caller's, who closes them after gam_close.  Opens a channel to every rank;
 * does not wait for the peers to do the same.
 * Errors: -EINVAL, -ENOMEM, and what resolve or unet_connect return; -EOPNOTSUPP an endpoint is
 * not reliable, or not ordered. */
int gam_open(struct unet_endpoint *ep, const struct gam_config *config, struct gam **g);

/* Close it.  The caller has to know that nobody talks to it any more (a
 * barrier); what arrives later is dropped.  Closes all channels, for which an endpoint may wait
 * until what was sent is acknowledged.  NULL is allowed. */
void gam_close(struct gam *g);

/* Put a handler into the table, 1 <= index < GAM_HANDLERS.  The same index has
 * to mean the same on every rank before the first message to it is sent.
 * Errors: -EINVAL, -EEXIST the index is taken by another function. */
int gam_register(struct gam *g, uint32_t index, gam_handler_fn *fn);

/* Whether a handler of the instance runs now, which may not make all calls. */
bool gam_in_handler(const struct gam *g);

/* gam_config.ranks and gam_config.rank; and the counters, as they are now.  Any context. */
uint32_t gam_ranks(const struct gam *g);
uint32_t gam_rank(const struct gam *g);
void gam_stats(const struct gam *g, struct gam_stats *stats);

/* The number of the channel to a rank, of the endpoint that leads there; 0: there is no such rank.
 */
uint16_t gam_channel(const struct gam *g, uint32_t rank);

/* The first peer found dead, or -1.  Sends to a dead peer return -EPIPE; a call
 * that waits for one returns -EPIPE instead of waiting for ever.  Polling finds out
 * within seconds.  A peer that has closed its instance is dead, too, so nobody
 * may close before everybody knows that all is said. */
int64_t gam_dead_peer(const struct gam *g);

/* Whether that rank has been found dead.  False for one that is out of range. */
bool gam_is_dead(const struct gam *g, uint32_t rank);

/* The rank whose message is being worked on, or -1: who asked for the access that has just
 * gone wrong.  May be called in a signal handler. */
int64_t gam_serving(const struct gam *g);

/* ---- small messages: up to four words --------------------------------- */

/* Send a request.  May poll, and does so while the window to `dest` is full.
 * Errors: -EINVAL dest, handler or words out of range, -EPERM called from a
 * handler, -EPIPE dest is dead. */
int gam_request(struct gam *g, uint32_t dest, uint32_t handler, uint32_t words,
                const uint64_t word[]);
int gam_request_0(struct gam *g, uint32_t dest, uint32_t handler);
int gam_request_1(struct gam *g, uint32_t dest, uint32_t handler, uint64_t w0);
int gam_request_2(struct gam *g, uint32_t dest, uint32_t handler, uint64_t w0, uint64_t w1);
int gam_request_3(struct gam *g, uint32_t dest, uint32_t handler, uint64_t w0, uint64_t w1,
                  uint64_t w2);
int gam_request_4(struct gam *g, uint32_t dest, uint32_t handler, uint64_t w0, uint64_t w1,
                  uint64_t w2, uint64_t w3);

/* Reply to the request being handled.  Never waits, never polls.
 * Errors: -EINVAL, -EPERM not in a request handler, or it replied already, -EPIPE
 * the requester is dead; and, should there be no room for it now, -ENOMEM. */
int gam_reply(struct gam *g, uint32_t handler, uint32_t words, const uint64_t word[]);
int gam_reply_0(struct gam *g, uint32_t handler);
int gam_reply_1(struct gam *g, uint32_t handler, uint64_t w0);
int gam_reply_2(struct gam *g, uint32_t handler, uint64_t w0, uint64_t w1);
int gam_reply_3(struct gam *g, uint32_t handler, uint64_t w0, uint64_t w1, uint64_t w2);
int gam_reply_4(struct gam *g, uint32_t handler, uint64_t w0, uint64_t w1, uint64_t w2,
                uint64_t w3);

/* ---- medium messages: up to GAM_MEDIUM_MAX bytes and four words -------- */

/* As gam_request, carrying `length` bytes into storage that the receiver's
 * system provides for the time of the handler.  `data` may be reused at once.
 * May poll.  Errors: as gam_request, and -EMSGSIZE. */
int gam_request_medium(struct gam *g, uint32_t dest, uint32_t handler, const void *data,
                       size_t length, uint32_t words, const uint64_t word[]);

/* Send any number of bytes in as few of these messages as it takes, of equal lengths but for the
 * last one, each of which has the same words.  The handler runs for one after the other, with no
 * other request of this rank between them.  They travel as a bulk transfer does, which over a
 * network is faster than one call for each.  Returns when `data` may be reused.  May poll.
 * Errors: as gam_request, and -EINVAL for bytes at NULL. */
int gam_request_mediums(struct gam *g, uint32_t dest, uint32_t handler, const void *data,
                        size_t length, uint32_t words, const uint64_t word[]);

/* As gam_reply, with bytes.  Errors: as gam_reply, and -EMSGSIZE. */
int gam_reply_medium(struct gam *g, uint32_t handler, const void *data, size_t length,
                     uint32_t words, const uint64_t word[]);

/* ---- bulk transfers: any size ------------------------------------------ */

/* Copy n bytes from `lva` here to `rva` at dest; then run `handler` there (as a request
 * handler, data = rva, length = n, word[0] = arg; 0 = none).  Returns when the
 * source may be reused.  May poll.  n may be 0: only the handler runs.
 * Errors: -EINVAL, -EPERM called from a handler, -EPIPE. */
int gam_store(struct gam *g, uint32_t dest, const void *lva, void *rva, size_t n, uint32_t handler,
              uint64_t arg);

/* As gam_store, but returns at once (it may poll); `done` (may be NULL) runs here with
 * `done_arg`, during some later poll or before the call returns, when the source
 * may be reused.  Errors: as gam_store, and -ENOMEM. */
int gam_store_async(struct gam *g, uint32_t dest, const void *lva, void *rva, size_t n,
                    uint32_t handler, uint64_t arg, gam_done_fn *done, void *done_arg);

/* Rows of memory, here and there: each begins a stride behind the one before, which may be
 * negative. */
struct gam_rows {
    uint32_t bytes; /* of each; not 0 */
    size_t count;   /* not 0 */
    ptrdiff_t from_stride, to_stride;
};

/* As gam_store and gam_store_async, of rows, the first of which are at `lva` and `rva`.  They go as
 * one transfer.  The handler runs when all are there, with word[0] = arg and no data.
 * Errors: as those, and -EINVAL for nothing, or rows that wrap around. */
int gam_store_rows(struct gam *g, uint32_t dest, const void *lva, void *rva,
                   const struct gam_rows *rows, uint32_t handler, uint64_t arg);
int gam_store_rows_async(struct gam *g, uint32_t dest, const void *lva, void *rva,
                         const struct gam_rows *rows, uint32_t handler, uint64_t arg,
                         gam_done_fn *done, void *done_arg);

/* ---- stores to buffers: the receiver says where they land ---------------- */

#define GAM_PLACE_SMALL_MAX 32u /* bytes that one small message carries to a buffer */

/* Bytes that have come for a buffer. */
struct gam_piece {
    uint32_t source;
    uint32_t buffer;
    uint64_t offset; /* in the buffer */
    size_t length;   /* may be 0, of a store of no bytes */
};

/* Decide where a piece lands: the address of its first *length bytes, which may be fewer than those
 * of the piece but not 0 (it is asked again for the others), or NULL to refuse what is left of it,
 * which is counted in gam_stats.refused; its store runs no handler by it.  A piece of no bytes
 * is let in by any address.  Runs in polls, once for what it lets in, and right before the bytes
 * are copied; it may not call GAM.  No store to a buffer writes to memory that this has not named.
 */
typedef void *gam_placement_fn(void *arg, const struct gam_piece *piece, size_t *length);

/* Install that hook, or remove it (NULL), after which all is refused.
 * Errors: -EBUSY there is one. */
int gam_set_placement(struct gam *g, gam_placement_fn *fn, void *arg);

/* The argument of the hook, for handlers that belong to it; NULL without one. */
void *gam_placement_arg(const struct gam *g);

/* Copy n bytes from `lva` here to an offset of a buffer of dest, whose hook knows what `buffer`
 * means; then run `handler` there, as a request handler (0 = none), with the words arg, buffer and
 * offset, length = n and no data.  Returns when the source may be reused.  May poll.
 * Pieces arrive in order.  Up to GAM_PLACE_SMALL_MAX bytes are one message of the small window.
 * Errors: as gam_store; that the receiver has refused it is not told. */
int gam_place_store(struct gam *g, uint32_t dest, const void *lva, size_t n, uint32_t buffer,
                    uint64_t offset, uint32_t handler, uint32_t arg);

/* Let what was sent to a rank go: also what waits for more messages.  A network takes only so much
 * before acknowledgements come, and those are only seen by who polls: the rest would wait for as
 * long as this rank computes.  Polls until all has gone, or nothing of it could go for 50 us, as
 * the other rank computes, too: false.  Stores of more than GAM_MEDIUM_MAX bytes do so by
 * themselves.  Not in a handler. */
bool gam_push(struct gam *g, uint32_t dest);

/* The same for those ranks for which something was left, for 300 us in all: after waiting for
 * something else of them, and before this rank computes. */
void gam_push_left(struct gam *g);

/* Copy n bytes from `rva` at dest to `lva` here; then run `handler` here (as a
 * reply handler, data = lva, length = n, word[0] = arg; 0 = none), during a later
 * poll.  Returns at once (it may poll).  Errors: as gam_store_async. */
int gam_get(struct gam *g, uint32_t dest, const void *rva, void *lva, size_t n, uint32_t handler,
            uint64_t arg);

/* Bulk transfers started here that are not yet complete (asyncs whose source is
 * still needed, gets whose data is not yet all there).  A store to a peer that died has
 * ended; a get from it never will. */
size_t gam_pending(const struct gam *g);

/* Whether messages wait here for room in a window: stores, answers to gets, replies. */
bool gam_holds_back(const struct gam *g);

/* Whether all that was sent has arrived (unet_idle).  A peer's handler may still have to run. */
bool gam_settled(const struct gam *g);

/* ---- memory of other ranks that is mapped here ---------------------------- */

/* What maps the memory of ranks into each other.  GAM itself copies nothing through windows: it
 * keeps this for the libraries above it, which have no other way to ask. */
struct gam_memory {
    /* Where this process has n bytes at that address of that rank's memory; NULL: nowhere.  For
     * this instance's own rank: the address itself, if others can have a window of it. */
    void *(*find)(void *arg, uint32_t rank, uint64_t address, size_t n);
    /* n bytes of memory that others can have a window of, zeroed and aligned to 64, or NULL. */
    void *(*allocate)(void *arg, size_t n);
    void (*release)(void *arg, void *at);
    void *arg;
};

/* Tell the instance of it (the table is copied), or of none (NULL).  Until the instance is
 * closed what was found has to stay mapped. */
void gam_set_memory(struct gam *g, const struct gam_memory *memory);

/* As gam_memory.find; NULL without windows, or if rank is out of range.  What lies there is
 * another process's, which may change or unmap it at any time.  Any context. */
void *gam_memory_find(const struct gam *g, uint32_t rank, uint64_t address, size_t n);

/* Memory for what ranks share, zeroed and aligned to 64, or NULL; without windows nobody else sees
 * it.  gam_memory_free takes NULL, too. */
void *gam_memory_alloc(struct gam *g, size_t n);
void gam_memory_free(struct gam *g, void *at);

/* ---- progress ----------------------------------------------------------- */

/* Run the handlers of what has arrived and move bulk transfers on.  Returns the
 * number of messages handled.  Inside a handler: does nothing, returns 0. */
int gam_poll(struct gam *g);

/* Poll; if nothing was there, sleep until something arrives, at most `timeout_ms`
 * (-1 = no limit), and poll again.  Returns as gam_poll, 0 on time-out.  Transfers of ours
 * are moved on meanwhile.  On a polled endpoint it yields instead of sleeping.
 * Inside a handler: does nothing, returns 0.
 * Errors: -EPIPE nothing is there and a peer is dead, -EINTR. */
int gam_wait(struct gam *g, int timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
