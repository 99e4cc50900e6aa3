/* SPDX-License-Identifier: BSD-3-Clause
 *
 * packet_socket.h - raw Ethernet by packet sockets, as the backend eth and the service unetni use
 * it: the names of ports, which frames come in, and arrivals in memory.
 */
#ifndef UNET_PACKET_SOCKET_H
#define UNET_PACKET_SOCKET_H

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* ---- ports --------------------------------------------------------------------------------- */

/* The abstract name of a port at the interface with that address.  A port belongs to whoever has
 * bound a Unix socket to it, which the kernel takes back however a process ends; connecting a
 * datagram socket to it tells whether that one lives.  Such names live in the network namespace, as
 * interfaces do.  Returns the length of `name`. */
socklen_t unet_packet_port_name(const uint8_t mac[ETH_ALEN], uint16_t port,
                                struct sockaddr_un *name);

/* ---- the filter ---------------------------------------------------------------------------- */

/* An interface, and the loopback interface, by which those at our own address are reached: an
 * Ethernet does not hand an interface the frames that it sends to itself. */
struct unet_packet_interface {
    int index;
    int loopback;
    uint8_t mac[ETH_ALEN];
};

/* Lets in what the instructions accept of that which came to our address from outside or by the
 * loopback interface, and of no VLAN: those have interfaces of their own.  It is locked, so the
 * socket is bound afterwards.  Errors: -EINVAL more than 19 instructions, those of setsockopt. */
int unet_packet_set_filter(int socket, const struct unet_packet_interface *interface,
                           const struct sock_filter *code, unsigned count);

/* Frames go straight to the device, from a buffer of that many bytes if the kernel grants them.
 * Neither is needed to work. */
void unet_packet_set_options(int socket, int send_bytes);

/* ---- arrivals ------------------------------------------------------------------------------ */

/* The kernel puts them into slots of a ring that it shares with us (TPACKET_V2), so looking for
 * them is a load.  A slot belongs to who its status says:
 *
 *   kernel                                      we
 *   ------                                      --
 *   status == TP_STATUS_KERNEL: fill
 *   STORE.release(status, TP_STATUS_USER) (A)   LOAD.acquire(status) & TP_STATUS_USER (B)
 *                                               read
 *                                               STORE.release(status, TP_STATUS_KERNEL)
 */
struct unet_packet_ring {
    uint8_t *slot;       /* NULL: there is none */
    uint32_t bytes;      /* of all slots */
    uint32_t slots;      /* a power of two */
    uint32_t slot_bytes; /* of each */
    uint32_t next;       /* the slot that the kernel fills next */
};

/* Slots for packets of up to `packet_most` bytes, in `bytes`, a power of two; longer ones are cut.
 * Errors: those of setsockopt and mmap. */
int unet_packet_ring_open(struct unet_packet_ring *ring, int socket, uint32_t bytes,
                          uint32_t packet_most);
void unet_packet_ring_close(struct unet_packet_ring *ring);

/* The next packet that arrived, or NULL; it is to be given back. */
static inline struct tpacket2_hdr *unet_packet_ring_peek(const struct unet_packet_ring *ring)
{
    struct tpacket2_hdr *slot =
        (struct tpacket2_hdr *)(ring->slot +
                                (size_t)(ring->next & (ring->slots - 1)) * ring->slot_bytes);

    return __atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER ? slot
                                                                                : NULL; /* B */
}

static inline void unet_packet_ring_release(struct unet_packet_ring *ring,
                                            struct tpacket2_hdr *slot)
{
    __atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    ring->next++;
}

#endif
