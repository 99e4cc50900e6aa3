/* SPDX-License-Identifier: BSD-3-Clause
 *
 * core.h - what the parts of the library share about endpoints of any backend.
 */
#ifndef UNET_CORE_H
#define UNET_CORE_H

#include <unet/unet.h>
#include <unet/unet_ni.h>

/* Every backend, in the order of unet_backend_at. */
extern const struct unet_ops unet_loopback_ops;
extern const struct unet_ops unet_shm_ops;
extern const struct unet_ops unet_udp_ops;
extern const struct unet_ops unet_eth_ops;
extern const struct unet_ops unet_atm_ops;
extern const struct unet_ops unet_fe_ops;
extern const struct unet_ops unet_mux_ops;
extern const struct unet_ops unet_ofi_ops;
extern const struct unet_ops unet_ni_ops;

/* ---- upcall.c -------------------------------------------------------------- */

/* Progress has taken in arrivals of a wired endpoint.  Unless the upcall itself made that progress,
 * it has to be told: the socket is no longer readable. */
void unet_upcall_arrived(struct unet_endpoint *ep);

/* ---- doorbell.c: how a sleeping receiver is woken ------------------------ */

/* The owner's side.  `armed` is 0, or the conditions it sleeps for in the low bits
 * and above them a count that makes every arming distinct. */
#define UNET_ARMED_SHIFT 2u

int unet_bell_open(int bell[2]);
void unet_bell_close(int bell[2]);
void unet_bell_drain(int bell_read);

/* Contains the fence F, which pairs with the senders' fence E (unet_inline_end). */
void unet_bell_arm(struct unet_endpoint *ep, uint32_t conditions);

/* True if membarrier(2) works here.  Then an endpoint that arms executes the fences of its senders,
 * too, and they make none of their own. */
bool unet_fences_for_others(void);
void unet_bell_disarm(struct unet_endpoint *ep);

static inline bool unet_is_channel(const struct unet_endpoint *ep, uint32_t n)
{
    return n >= 1 && n <= ep->config.channels;
}

/* For the sender: the same, but -EAGAIN while the channel is connecting. */
int unet_may_send(const struct unet_endpoint *ep, uint16_t channel);

/* As unet_push, but the NI is not told. */
int unet_enqueue(struct unet_endpoint *ep, const struct unet_desc *desc, uint32_t *ticket);

/* The sender's side: write to the bell, then disarm it.  In this order a sender that
 * is killed in between costs a superfluous ring, never a lost one; `seen` being
 * distinct keeps a late sender from undoing the next arming. */
void unet_bell_ring(int bell_write, uint32_t *armed, uint32_t seen);

/* ---- network.c: what backends share between whose endpoints there is a network ---- */

/* The finalizer of splitmix64.  It is a bijection that spreads every bit; it is no encryption. */
static inline uint64_t unet_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The name of a channel's direction from one endpoint to another, each known by its nonce.  The
 * tag is the conversation's secret. */
uint64_t unet_direction_key(uint64_t tag, uint64_t from, uint64_t to);

/* ---- ethernet.c --------------------------------------------------------------- */

/* The interface by which raw Ethernet goes unless told otherwise, IFNAMSIZ bytes: where the default
 * route goes out, or else the first Ethernet that runs; false: there is none. */
bool unet_default_ethernet(char name[]);

/* Whether a line of /proc/self/net/route is the default route; if so, its interface. */
bool unet_is_default_route(const char *line, char name[]);

/* ---- receive.c ------------------------------------------------------------- */

/* True when some receive ring is three quarters full. */
bool unet_rx_almost_full(const struct unet_endpoint *ep);

/* How long to sleep of `timeout_ms`.  While messages wait in the send queue the sleep is short,
 * because nobody rings when their receiver has room again. */
int unet_timeout_while_queued(const struct unet_endpoint *ep, int timeout_ms);

/* The fill from which a ring of that mask counts as almost full. */
static inline uint32_t unet_ring_brim(uint32_t mask)
{
    return (mask + 1) / 4 * 3;
}

#endif
