/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mac.h - the keyed hash of a packet, or of memory.
 *
 * The text of a packet, its frames, is compressed by a universal hash.  A short text is one block
 * for NH on 64-bit words, which costs a multiplication for 16 bytes; of a longer one each 4 KiB is
 * a block for NH on 32-bit words, in two passes, by the processor's vectors (nh.h).  Either makes
 * 16 bytes of a block.  SipHash-2-4 of the header and of these is the result.  docs/protocol.md has
 * it in words, docs/adr/0008 and 0016 the reasons.
 */
#ifndef RELIABLE_MAC_H
#define RELIABLE_MAC_H

#include "nh.h"
#include "packet.h"
#include <reliable/reliable.h>
#include <unet/unet_siphash.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RELIABLE_MAC_BLOCK = 4096, /* bytes that NH takes at a time */
    RELIABLE_MAC_KEY = RELIABLE_MAC_BLOCK + (int)RELIABLE_NH_UNIT, /* bytes of NH's key */
    RELIABLE_MAC_SHORT = 128, /* bytes of the longest text that counts as short; also, with
                                 RELIABLE_AUTH_HEADER, what is covered of any text */
};

struct reliable_mac {
    uint64_t nh[RELIABLE_MAC_KEY / 8] __attribute__((aligned(16)));
    uint64_t key[2]; /* nh is made of it */
    uint64_t pass;   /* with RELIABLE_AUTH_OFF, in the place of a hash */
    const struct reliable_nh *variant;
    enum reliable_auth auth;
};

void reliable_mac_open(struct reliable_mac *mac, const uint64_t key[2], enum reliable_auth auth);

/* Of all but the field `mac`; `length` is the whole packet's.  `ack` is what the field of that name
 * has the low half of. */
uint64_t reliable_mac_packet(const struct reliable_mac *mac, const struct reliable_packet *packet,
                             uint64_t ack, size_t length);

/* Of memory that somebody was granted to write in; no packet has it.  What was lost on the way
 * there shows in nothing else, so it covers all bytes whatever packets do. */
uint64_t reliable_mac_memory(const struct reliable_mac *mac, uint64_t grant, const void *data,
                             size_t n);

/* Of a record of a stream, whose header has so many bytes of text behind it: `header` is what it
 * says besides its code, `number` how many came before.  It covers of the text what packets do. */
uint64_t reliable_mac_record(const struct reliable_mac *mac, uint32_t ranks, uint64_t number,
                             uint64_t header, const void *text, size_t n);

#ifdef __cplusplus
}
#endif
#endif
