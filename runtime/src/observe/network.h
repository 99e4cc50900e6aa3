/* SPDX-License-Identifier: BSD-3-Clause
 *
 * network.h - the counters of the reliable endpoint to other nodes.
 */
#ifndef SPLITC_NETWORK_H
#define SPLITC_NETWORK_H

#include "runtime.h"

#include <reliable/reliable.h>

/* All are 0 where there is no network, or one that needs no protocol. */
static inline void splitc_network_stats(struct reliable_stats *stats)
{
    *stats = (struct reliable_stats){0};
    if (splitc_runtime.protocol)
        reliable_stats(splitc_runtime.protocol, stats);
}

#endif
