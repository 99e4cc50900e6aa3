/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet_chaos.h - an endpoint of any backend behind a bad network.
 *
 * What is sent gets lost, comes twice, is overtaken, cut off or altered, by chance, and the same
 * chances for the same seed.  Such an endpoint is neither reliable nor ordered; otherwise it
 * is what its backend makes it, except that it has no direct sends.
 */
#ifndef UNET_CHAOS_H
#define UNET_CHAOS_H

#include <unet/unet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Probabilities per message, 0 to 1. */
struct unet_chaos {
    double loss;
    double duplicate;
    double reorder;
    double truncate;
    double flip; /* of one bit */
    uint64_t seed;
};

/* Read "loss=0.05,dup=0.02,reorder=0.1,truncate=0.01,flip=0.001,seed=7", each part
 * at most once and all of them optional.
 * Errors: -EINVAL something else, or a probability that is none. */
int unet_chaos_parse(const char *text, struct unet_chaos *chaos);

/* As unet_open.  Errors: those of unet_open; -EINVAL a probability is none. */
int unet_chaos_open(const struct unet_ops *backend, const struct unet_chaos *chaos,
                    const struct unet_config *config, struct unet_endpoint **endpoint);

#ifdef __cplusplus
}
#endif
#endif
