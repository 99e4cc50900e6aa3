/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mac.h - the keyed hash of a packet, or of memory.
 *
 * Each KiB of frames is compressed by NH, the universal hash of UMAC (Black, Halevi, Krawczyk,
 * Krovetz and Rogaway, 1999) on 64-bit words, to 16 bytes.  SipHash-2-4 of the header and of these
 * is the result.  docs/protocol.md has it in words, docs/adr/0008 the reasons.
 */
#ifndef RELIABLE_MAC_H
#define RELIABLE_MAC_H

#include "packet.h"
#include <unet/unet_siphash.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RELIABLE_MAC_BLOCK = 1024 }; /* bytes that NH takes at a time */

struct reliable_mac {
    uint64_t key[2];
    uint64_t nh[RELIABLE_MAC_BLOCK / 8]; /* made of the key */
};

void reliable_mac_open(struct reliable_mac *mac, const uint64_t key[2]);

/* Of all but the field `mac`; `length` is the whole packet's.  `ack` is what the field of that name
 * has the low half of. */
uint64_t reliable_mac_packet(const struct reliable_mac *mac, const struct reliable_packet *packet,
                             uint64_t ack, size_t length);

/* Of memory that somebody was granted to write in; no packet has it. */
uint64_t reliable_mac_memory(const struct reliable_mac *mac, uint64_t grant, const void *data,
                             size_t n);

#ifdef __cplusplus
}
#endif
#endif
