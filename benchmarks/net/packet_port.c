/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet_port.h"

#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

enum { RING_SLOTS = 256, SLOT_BYTES = 2048, ETHERTYPE = 0x88b6 };

static const char *open_ring(struct packet_port *p)
{
    const struct tpacket_req request = {.tp_block_size = 1 << 16,
                                        .tp_block_nr = RING_SLOTS * SLOT_BYTES >> 16,
                                        .tp_frame_size = SLOT_BYTES,
                                        .tp_frame_nr = RING_SLOTS};
    const int version = TPACKET_V2, on = 1;

    setsockopt(p->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    if (setsockopt(p->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 ||
        setsockopt(p->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) < 0)
        return "ring";
    p->ring = mmap(NULL, RING_SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
    return p->ring == MAP_FAILED ? "ring" : NULL;
}

const char *packet_port_open(struct packet_port *p, const char *interface, uint8_t own[ETH_ALEN])
{
    struct ifreq request = {0};

    *p = (struct packet_port){.fd = socket(AF_PACKET, SOCK_DGRAM, 0)};
    if (p->fd < 0)
        return "packet socket (it needs CAP_NET_RAW)";
    strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
    if (ioctl(p->fd, SIOCGIFHWADDR, &request) < 0)
        return interface;
    memcpy(own, request.ifr_hwaddr.sa_data, ETH_ALEN);
    p->far_end = (struct sockaddr_ll){.sll_family = AF_PACKET,
                                      .sll_protocol = htons(ETHERTYPE),
                                      .sll_ifindex = (int)if_nametoindex(interface),
                                      .sll_halen = ETH_ALEN};
    return open_ring(p);
}

const char *packet_port_connect(struct packet_port *p, const uint8_t theirs[ETH_ALEN])
{
    memcpy(p->far_end.sll_addr, theirs, ETH_ALEN);
    return bind(p->fd, (struct sockaddr *)&p->far_end, sizeof p->far_end) < 0 ? "packet socket"
                                                                              : NULL;
}

ssize_t packet_port_send(const struct packet_port *p, const void *data, uint32_t length, int flags)
{
    return sendto(p->fd, data, length, flags, (const struct sockaddr *)&p->far_end,
                  sizeof p->far_end);
}

bool packet_port_take(struct packet_port *p, void *to, uint32_t length)
{
    struct tpacket2_hdr *slot = (struct tpacket2_hdr *)(p->ring + p->next_slot * SLOT_BYTES);

    if (!(__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
        return false;
    memcpy(to, (uint8_t *)slot + slot->tp_net, length);
    __atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    p->next_slot = (p->next_slot + 1) % RING_SLOTS;
    return true;
}
