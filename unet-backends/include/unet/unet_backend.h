/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet_backend.h - for those who implement endpoints: backends, and endpoints in front of others.
 */
#ifndef UNET_BACKEND_H
#define UNET_BACKEND_H

#include <unet/unet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the pieces of a descriptor are consistent: their number is 1..UNET_PIECES_MAX, they lie
 * within `segment_bytes` and sum up to `length`, 1..UNET_MESSAGE_MAX.  0, or the errno
 * values of unet_send, negative. */
int unet_check_pieces(const struct unet_desc *desc, uint32_t segment_bytes);

/* Count a descriptor that cannot be sent, and tell its sender by a message of kind UNET_ERROR in
 * `errors`, the producer side of its ring rx[0].  `error` is negative. */
void unet_refuse(struct unet_endpoint *ep, struct unet_ring *errors, const struct unet_desc *desc,
                 int error);

#ifdef __cplusplus
}
#endif
#endif
