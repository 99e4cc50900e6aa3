/* SPDX-License-Identifier: BSD-3-Clause
 *
 * area.h - the memory that an endpoint shares with its senders.
 *
 *   header | lane entries | lanes | free queue | segment
 *
 * A *lane* is a receive ring with one sender.  Lane n belongs to the owner's channel n.
 * Its entry says whose it is; its word holds a generation and a state:
 *
 *             owner: offer          sender: attach
 *    FREE ------------------> OFFERED ------------> ATTACHED
 *     ^                          |                   |     |
 *     |<-------------------------+    owner: withdraw|     | sender: detach
 *     |         owner: withdraw                      v     v
 *     |                                        CLOSING --> DETACHED
 *     |                                           sender: detach |
 *     +----------------------------------------------------------+
 *                    owner: withdraw
 *
 * From CLOSING the lane comes back only when its sender has detached or died, so
 * that two senders never write into one ring.
 *
 * Peers may write anywhere in the area at any time.  Its owner keeps sizes and
 * positions of its own and a peer copies the sizes once, when it maps the area.
 */
#ifndef UNET_SM_AREA_H
#define UNET_SM_AREA_H

#include <unet/unet.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sm_header {
    uint32_t magic;
    uint32_t abi;
    uint64_t nonce[2];
    uint32_t segment_bytes;
    uint32_t recv_slots;
    uint32_t free_slots;
    uint32_t channels;
    uint32_t polled;
    uint32_t closed; /* set once, by the owner */
    uint32_t fences; /* the owner makes the fences of senders that have registered for it */
    uint32_t offers; /* grows with each offer: senders waiting for one look here first */
    uint32_t armed __attribute__((aligned(128)));
    uint32_t pad[31];
};

struct sm_lane_entry {
    uint32_t word; /* generation and state */
    uint32_t pad;
    uint64_t key; /* made of the tag and both endpoints' nonces */
};

enum sm_lane_state {
    LANE_FREE = 0,
    LANE_OFFERED = 1,
    LANE_ATTACHED = 2,
    LANE_CLOSING = 3,
    LANE_DETACHED = 4,
};

/* One process's view of an area, its own or a peer's. */
struct sm_area {
    struct sm_header *header; /* NULL: no area */
    struct sm_lane_entry *entry;
    uint8_t *lanes;
    struct unet_ring_shared *free;
    uint8_t *segment;
    uint64_t bytes;
    uint64_t nonce[2];
    uint32_t segment_bytes;
    uint32_t recv_slots;
    uint32_t free_slots;
    uint32_t channels;
    bool polled;
    bool fences;
};

/* Bytes of the area of an endpoint with that configuration. */
uint64_t unet_sm_area_bytes(const struct unet_config *config);

/* Owner: lay out zeroed memory of unet_sm_area_bytes. */
void unet_sm_area_format(struct sm_area *area, void *memory, const struct unet_config *config,
                         const uint64_t nonce[2], bool fences);

/* Peer: view memory that claims to be an area.  Errors: -EPROTO it is none, or its sizes are not
 * those of `bytes`. */
int unet_sm_area_view(struct sm_area *area, void *memory, uint64_t bytes);

/* The ring of lane n, 1 <= n <= channels. */
static inline void *sm_lane_ring(const struct sm_area *area, uint32_t n)
{
    return area->lanes + (uint64_t)(n - 1) * unet_ring_bytes(area->recv_slots);
}

/* The name of the direction from one endpoint to another in a conversation. */
uint64_t unet_sm_lane_key(uint64_t tag, const uint64_t from[2], const uint64_t to[2]);

enum sm_lane_state unet_sm_lane_state(const struct sm_area *area, uint32_t n, uint32_t generation);

/* Owner. */
void unet_sm_lane_offer(const struct sm_area *area, uint32_t n, uint32_t generation, uint64_t key);
/* Returns true when the lane is the owner's again, false while its sender may write. */
bool unet_sm_lane_withdraw(const struct sm_area *area, uint32_t n, uint32_t generation);

/* Sender.  Attach finds the lane that was offered under the key: its number, or 0. */
uint32_t unet_sm_lane_attach(const struct sm_area *area, uint64_t key, uint32_t *generation);
void unet_sm_lane_detach(const struct sm_area *area, uint32_t n, uint32_t generation);

/* Sender: a message's worth of buffers from the free queue, all or none, at most
 * UNET_PIECES_MAX.  `piece` is filled with what the message occupies of each, `count` says of how
 * many.  Errors: -EAGAIN not enough there, -EMSGSIZE the next buffers are too small,
 * -EPROTO one of them lies outside the segment. */
int unet_sm_take_buffers(const struct sm_area *area, uint32_t length,
                         struct unet_piece piece[UNET_PIECES_MAX], uint8_t *count);

#ifdef __cplusplus
}
#endif
#endif
