/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/packet_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
    FILTER_MOST = 32, /* instructions */
    BLOCK_LEAST = 64 << 10,
    SLOT_OVERHEAD = 128, /* of the kernel's headers in a slot, at least what it needs */
    SLOT_LEAST = 2048,
    MAC_HIGH = 0,
    MAC_LOW = 4, /* of the destination, in an Ethernet header */
};

socklen_t unet_packet_port_name(const uint8_t mac[ETH_ALEN], uint16_t port,
                                struct sockaddr_un *name)
{
    int length;

    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1,
                      "unet-eth/%02x%02x%02x%02x%02x%02x/%u", mac[0], mac[1], mac[2], mac[3],
                      mac[4], mac[5], port);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

int unet_packet_set_filter(int socket, const struct unet_packet_interface *interface,
                           const struct sock_filter *code, unsigned count)
{
    const uint8_t *mac = interface->mac;
    const uint32_t high =
        (uint32_t)mac[0] << 24 | (uint32_t)mac[1] << 16 | (uint32_t)mac[2] << 8 | (uint32_t)mac[3];
    const uint32_t low = (uint32_t)mac[4] << 8 | mac[5];
    struct sock_filter all[FILTER_MOST] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_IFINDEX)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)interface->index, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)interface->loopback, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_LL_OFF + MAC_HIGH)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, (uint32_t)(SKF_LL_OFF + MAC_LOW)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    const unsigned common = 13;
    const struct sock_fprog program = {(unsigned short)(common + count), all};
    const int on = 1;

    if (count > FILTER_MOST - common)
        return -EINVAL;
    memcpy(all + common, code, count * sizeof *code);
    if (setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0 ||
        setsockopt(socket, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof on) < 0)
        return -errno;
    return 0;
}

void unet_packet_set_options(int socket, int send_bytes)
{
    const int on = 1;

    setsockopt(socket, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    if (setsockopt(socket, SOL_SOCKET, SO_SNDBUFFORCE, &send_bytes, sizeof send_bytes) < 0)
        setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes);
}

static uint32_t power_of_two(uint32_t least, uint32_t n)
{
    while (least < n)
        least *= 2;
    return least;
}

int unet_packet_ring_open(struct unet_packet_ring *ring, int socket, uint32_t bytes,
                          uint32_t packet_most)
{
    const uint32_t slot = power_of_two(SLOT_LEAST, packet_most + SLOT_OVERHEAD);
    const uint32_t block = power_of_two(BLOCK_LEAST, slot);
    const struct tpacket_req request = {
        .tp_block_size = block,
        .tp_block_nr = bytes / block,
        .tp_frame_size = slot,
        .tp_frame_nr = bytes / slot,
    };
    const int version = TPACKET_V2;
    void *memory;

    if (setsockopt(socket, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 ||
        setsockopt(socket, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) < 0)
        return -errno;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, socket, 0);
    if (memory == MAP_FAILED)
        return -errno;
    *ring = (struct unet_packet_ring){
        .slot = memory, .bytes = bytes, .slots = bytes / slot, .slot_bytes = slot};
    return 0;
}

void unet_packet_ring_close(struct unet_packet_ring *ring)
{
    if (ring->slot)
        munmap(ring->slot, ring->bytes);
    ring->slot = NULL;
}
