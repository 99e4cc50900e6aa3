/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reliable.h - a reliable, ordered endpoint on top of one that is neither.
 */
#ifndef GAM_RELIABLE_H
#define GAM_RELIABLE_H

#include "net.h"
#include <gam/gam.h>
#include <unet/unet.h>

/* Whether GAM needs one. */
static inline bool gam_is_reliable(const struct unet_endpoint *ep)
{
    const uint32_t both = UNET_CAP_RELIABLE | UNET_CAP_ORDERED;

    return (ep->capabilities & both) == both;
}

/* Open one of gam_front_config's sizes (internal.h).  `lower` stays the caller's, who closes it
 * later. Closing it waits until what was sent is acknowledged, at most a second. Errors: those of
 * gam_open. */
int gam_reliable_open(struct unet_endpoint *lower, const struct gam_config *config,
                      struct unet_endpoint **endpoint);

/* Say which rank is at the other end of a channel, before anything is sent on it. */
void gam_reliable_bind(struct unet_endpoint *ep, uint16_t channel, uint32_t rank);

/* Whether what was sent is acknowledged, or its receiver dead. */
bool gam_reliable_settled(struct unet_endpoint *ep);

/* Add what has gone and come. */
void gam_reliable_add_traffic(struct unet_endpoint *ep, struct gam_traffic *traffic);

/* To how many ranks shorter packets go than the endpoint below takes. */
uint64_t gam_reliable_narrow(struct unet_endpoint *ep);

/* Whether anything has ever come from a rank. */
bool gam_reliable_answers(struct unet_endpoint *ep, uint32_t rank);

/* Whether what is sent to a rank gets there, as far as is known. */
bool gam_reliable_reaches(struct unet_endpoint *ep, uint32_t rank);

/* From another thread: does the interface's work if its owner has not since the last call. */
void gam_reliable_keep(struct unet_endpoint *ep);

/* As unet_arm and unet_disarm, to sleep until unet_fd is readable; makes the time-out shorter, to
 * when something has to be done. */
int gam_reliable_arm(struct unet_endpoint *ep, int *timeout_ms);
void gam_reliable_disarm(struct unet_endpoint *ep);

/* Send a message of two parts, straight from where they lie: they may be reused at once.
 * Errors: -EAGAIN not now, or the channel is not open. */
int gam_reliable_send(struct unet_endpoint *ep, uint16_t channel, uint32_t user,
                      const struct gam_text *text);

/* Messages of the same thread wait for others until gam_reliable_flush sends them together; does
 * not nest.  If it is to acknowledge, too, it sends all that has to go now; it does not look for
 * arrivals. */
void gam_reliable_gather(struct unet_endpoint *ep);
void gam_reliable_flush(struct unet_endpoint *ep, bool acknowledge);

/* Direct access through the endpoint below (gam.h): places are addresses, in one range that is
 * the whole address space. */
int gam_reliable_export(struct unet_endpoint *ep);
size_t gam_reliable_direct_most(const struct unet_endpoint *ep);
int gam_reliable_hold(struct unet_endpoint *ep, uint64_t address, size_t n);
void gam_reliable_release(struct unet_endpoint *ep, uint64_t address, size_t n);
int gam_reliable_grant(struct unet_endpoint *ep, uint16_t channel, uint64_t address, size_t n,
                       uint64_t *grant);
int gam_reliable_revoke(struct unet_endpoint *ep, uint64_t address, size_t n, uint64_t grant);
int gam_reliable_put(struct unet_endpoint *ep, uint16_t channel, uint64_t grant, uint64_t from,
                     uint64_t to, size_t n);
uint64_t gam_reliable_sum(const struct unet_endpoint *ep, uint64_t grant, const void *data,
                          size_t n);

/* Wait until what was sent is acknowledged or its receiver dead, at most a second. */
void gam_reliable_settle(struct unet_endpoint *ep);

#endif
