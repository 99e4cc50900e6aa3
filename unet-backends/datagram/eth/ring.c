/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ring.c - what arrives at a packet socket, in memory.
 *
 * The kernel puts it into slots of a ring that it shares with us (TPACKET_V2), so looking for
 * arrivals is a load.  A slot belongs to who its status says:
 *
 *   kernel                                  we
 *   ------                                  --
 *   status == TP_STATUS_KERNEL: fill
 *   STORE.release(status, TP_STATUS_USER) (A)   LOAD.acquire(status) & TP_STATUS_USER (B)
 *                                               read
 *                                               STORE.release(status, TP_STATUS_KERNEL)
 */
#include "datagram/eth/eth.h"

#include <errno.h>
#include <sys/mman.h>

enum {
    RING_BYTES = 4 << 20,
    BLOCK_LEAST = 64 << 10,
    SLOT_OVERHEAD = 128, /* of the kernel's headers in a slot, at least what it needs */
    SLOT_LEAST = 2048,
};

static uint32_t power_of_two(uint32_t least, uint32_t n)
{
    while (least < n)
        least *= 2;
    return least;
}

int unet_eth_ring_open(struct eth_ring *ring, int socket, uint32_t bytes_most)
{
    const uint32_t slot = power_of_two(SLOT_LEAST, bytes_most + SLOT_OVERHEAD);
    const uint32_t block = power_of_two(BLOCK_LEAST, slot);
    const struct tpacket_req request = {
        .tp_block_size = block,
        .tp_block_nr = RING_BYTES / block,
        .tp_frame_size = slot,
        .tp_frame_nr = RING_BYTES / slot,
    };
    const int version = TPACKET_V2;
    void *memory;

    if (setsockopt(socket, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 ||
        setsockopt(socket, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) < 0)
        return -errno;
    memory = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, socket, 0);
    if (memory == MAP_FAILED)
        return -errno;
    *ring = (struct eth_ring){.slot = memory, .slots = RING_BYTES / slot, .slot_bytes = slot};
    return 0;
}

void unet_eth_ring_close(struct eth_ring *ring)
{
    if (ring->slot)
        munmap(ring->slot, RING_BYTES);
    ring->slot = NULL;
}
