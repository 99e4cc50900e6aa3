/* SPDX-License-Identifier: BSD-3-Clause
 *
 * link.c - lwIP's network interface over an endpoint.
 *
 * The segment is cut in two: slots from which packets are sent, and buffers in the endpoint's free
 * queue.  A packet that arrives is handed to lwIP where it lies and its buffer returns to the
 * free queue when the last reference to it goes, which is when the program has read it.  When
 * three quarters of the buffers are out, packets are copied instead, so that a program that does
 * not read one connection does not stop the others.
 */
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <lwip/ip4.h>
#include <lwip/ip4_frag.h>
#include <lwip/prot/ip4.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 64,
    TX_SLOTS_MAX = 128, /* more are cold when they come round again */
    TX_SLOTS_MIN = 4,
    RX_BUFFERS_MIN = 8,
    TOGETHER_MOST = 8,
    WINDOW_SHARE = 4, /* of the buffers that one window may take */
    BURST = 64,       /* messages taken in before what they brought about is sent */
};

/* ---- checksums ---------------------------------------------------------- */

/* Both are lwIP's own, which Debian's library calls by name: the dynamic linker finds these first.
 * Where it does not, as in a shared library that has us in it, sums are made twice and slowly, and
 * all else is the same. */
u16_t lwip_standard_chksum(const void *bytes, int length);
u16_t lwip_chksum_copy(void *to, const void *bytes, u16_t length);

u16_t lwip_standard_chksum(const void *bytes, int length)
{
    return ip_checksum_add(bytes, (size_t)length);
}

static err_t link_output(struct netif *netif, struct pbuf *p, const ip4_addr_t *to);

/* Whether what a stream sends can go out by nothing but our link. */
static bool link_is_alone(void)
{
    bool found = false;

    for (const struct netif *netif = netif_list; netif; netif = netif->next) {
        if (netif->output == link_output)
            found = true;
        else if (netif_ip4_addr(netif)->addr != lwip_htonl(INADDR_LOOPBACK))
            return false;
    }
    return found;
}

/* Of what a stream sends.  Our link has no use for the sum: it makes that of each packet, where the
 * bytes are copied once more.  Another interface of this process' lwIP relies on it. */
u16_t lwip_chksum_copy(void *to, const void *bytes, u16_t length)
{
    if (!link_is_alone())
        return ip_checksum_copy(to, bytes, length);
    memcpy(to, bytes, length);
    return 0;
}

/* ---- sending ------------------------------------------------------------ */

static struct ip_tx_slot *tx_slot(const struct ip_stack *stack, uint32_t n)
{
    return &stack->tx[n & (stack->tx_slots - 1)];
}

static uint32_t tx_offset(const struct ip_stack *stack, uint32_t n)
{
    return (n & (stack->tx_slots - 1)) * stack->tx_bytes;
}

static void tx_reclaim(struct ip_stack *stack)
{
    while (stack->tx_tail != stack->tx_unsent) {
        const struct ip_tx_slot *slot = tx_slot(stack, stack->tx_tail);

        if (!slot->inlined && !unet_sent(stack->ep, slot->ticket))
            return;
        stack->tx_tail++;
    }
}

bool ip_link_has_room(const struct ip_stack *stack)
{
    return stack->tx_head - stack->tx_tail < stack->tx_slots;
}

/* One packet into the endpoint.  `more`: another one of pieces follows at once. */
static int tx_submit(struct ip_stack *stack, uint32_t n, bool more)
{
    struct ip_tx_slot *slot = tx_slot(stack, n);
    struct unet_piece piece = {tx_offset(stack, n), slot->length};

    if (slot->inlined)
        return unet_send_inline(stack->ep, slot->channel, 0, stack->ep->segment + piece.offset,
                                slot->length);
    if (more)
        return unet_send_more(stack->ep, slot->channel, 0, &piece, 1, &slot->ticket);
    return unet_send(stack->ep, slot->channel, 0, &piece, 1, &slot->ticket);
}

void ip_link_flush(struct ip_stack *stack)
{
    while (stack->tx_unsent != stack->tx_head) {
        const uint32_t n = stack->tx_unsent;
        const bool more = n + 1 != stack->tx_head && !tx_slot(stack, n + 1)->inlined;
        const int result = tx_submit(stack, n, more);

        if (result == -EAGAIN) { /* the queue is full, or the neighbour is not there yet */
            stack->stats.stalled++;
            unet_progress(stack->ep);
            return;
        }
        if (result < 0) {
            stack->stats.unroutable++;
            tx_slot(stack, n)->inlined = true; /* it has no ticket */
        } else {
            stack->stats.sent++;
        }
        stack->tx_unsent++;
    }
}

static bool tx_make_room(struct ip_stack *stack, unsigned packets)
{
    if (stack->tx_head - stack->tx_tail + packets <= stack->tx_slots)
        return true;
    ip_link_flush(stack);
    tx_reclaim(stack);
    if (stack->tx_head - stack->tx_tail + packets <= stack->tx_slots)
        return true;
    stack->stalled = true;
    return false;
}

/* lwIP takes our packets to be as long as its longest segments. */
static err_t link_fragment(struct ip_stack *stack, struct pbuf *p, const ip4_addr_t *to)
{
    const u16_t mtu = stack->netif.mtu;
    err_t error;

    stack->netif.mtu = (u16_t)stack->mtu;
    error = ip4_frag(p, &stack->netif, to);
    stack->netif.mtu = mtu;
    return error;
}

static err_t link_output(struct netif *netif, struct pbuf *p, const ip4_addr_t *to)
{
    struct ip_stack *stack = netif->state;
    const struct ip_route *route = ip_route_find(stack, ntohl(to->addr));
    const bool is_long = p->tot_len > stack->mtu;
    const unsigned packets = is_long ? ip_segment_packets(p, stack->mtu) : 1;
    struct ip_cut cut;

    if (!route) {
        stack->stats.unroutable++;
        return ERR_RTE;
    }
    if (packets == 0)
        return link_fragment(stack, p, to);
    if (!tx_make_room(stack, packets))
        return ERR_MEM;
    if (is_long)
        ip_cut_begin(&cut, p, stack->mtu);
    for (unsigned n = 0; n < packets; n++) {
        uint8_t *bytes = stack->ep->segment + tx_offset(stack, stack->tx_head);
        const uint32_t length =
            is_long ? ip_cut_next(&cut, bytes) : ip_segment_whole(p, stack->mtu, bytes);

        *tx_slot(stack, stack->tx_head) = (struct ip_tx_slot){
            .length = length, .channel = route->channel, .inlined = length <= UNET_INLINE_MAX};
        stack->tx_head++;
    }
    return ERR_OK;
}

/* ---- receiving ---------------------------------------------------------- */

static void rx_give_back(struct ip_stack *stack, uint32_t offset)
{
    /* There are as many places in the free queue as buffers, and the offset is one of ours. */
    (void)unet_free_put(stack->ep, offset, stack->rx_bytes);
}

static void rx_freed(struct pbuf *p)
{
    struct ip_rx_buffer *buffer = (struct ip_rx_buffer *)p;

    buffer->stack->rx_out--;
    rx_give_back(buffer->stack, buffer->offset);
}

/* The buffer that a piece of a descriptor names, which unet_rx_peek has checked for the segment's
 * bounds alone. */
static struct ip_rx_buffer *rx_buffer(struct ip_stack *stack, const struct unet_piece *piece)
{
    const uint32_t i = (piece->offset - stack->rx_start) / stack->rx_bytes;

    if (piece->offset < stack->rx_start || i >= stack->rx_buffers ||
        piece->offset != stack->rx[i].offset || piece->length > stack->rx_bytes)
        return NULL;
    return &stack->rx[i];
}

/* Whether lwIP or a socket still has it, so that a descriptor that names it is a lie. */
static bool rx_is_out(const struct ip_rx_buffer *buffer)
{
    return buffer->pbuf.pbuf.ref > 0;
}

static struct pbuf *rx_copy(const void *bytes, uint32_t length)
{
    struct pbuf *p = pbuf_alloc(PBUF_RAW, (u16_t)length, PBUF_RAM);

    if (p)
        memcpy(p->payload, bytes, length);
    return p;
}

/* A pbuf of one piece, or NULL; its buffer is out or has been given back. */
static struct pbuf *rx_piece(struct ip_stack *stack, const struct unet_piece *piece)
{
    struct ip_rx_buffer *buffer = rx_buffer(stack, piece);
    struct pbuf *p;

    if (!buffer || rx_is_out(buffer))
        return NULL;
    if (stack->rx_out < stack->rx_buffers / 4 * 3) {
        stack->rx_out++;
        return pbuf_alloced_custom(PBUF_RAW, (u16_t)piece->length, PBUF_REF, &buffer->pbuf,
                                   stack->ep->segment + buffer->offset, (u16_t)piece->length);
    }
    stack->stats.copied++;
    p = rx_copy(stack->ep->segment + buffer->offset, piece->length);
    rx_give_back(stack, buffer->offset);
    return p;
}

static struct pbuf *rx_chain(struct ip_stack *stack, const struct unet_desc *desc)
{
    struct pbuf *chain = NULL;
    bool whole = true;

    for (unsigned i = 0; i < desc->pieces; i++) {
        struct pbuf *p = rx_piece(stack, &desc->piece[i]);

        whole &= p != NULL;
        if (p && chain)
            pbuf_cat(chain, p);
        else if (p)
            chain = p;
    }
    if (whole)
        return chain;
    stack->stats.overruns++;
    if (chain)
        pbuf_free(chain);
    return NULL;
}

/* Whether it may be handed to lwIP, which checks the rest: an IPv4 header in one piece, whose
 * source lies behind the channel it came on. */
static bool rx_admit(struct ip_stack *stack, const struct pbuf *p, uint16_t channel)
{
    const struct ip_hdr *header = p->payload;
    const struct ip_route *route;

    if (p->len < IP_HLEN || IPH_V(header) != 4 || IPH_HL_BYTES(header) > p->len ||
        lwip_ntohs(IPH_LEN(header)) > p->tot_len) {
        stack->stats.malformed++;
        return false;
    }
    if (header->dest.addr != netif_ip4_addr(&stack->netif)->addr) { /* lwIP might forward it */
        stack->stats.misdirected++;
        return false;
    }
    route = ip_route_find(stack, ntohl(header->src.addr));
    if (!route || route->channel != channel) {
        stack->stats.spoofed++;
        return false;
    }
    if (ip_stream_is_beyond(p)) {
        stack->stats.beyond++;
        return false;
    }
    return true;
}

static void rx_message(struct ip_stack *stack, const struct unet_desc *desc)
{
    struct pbuf *p = NULL;

    if (desc->kind == UNET_PIECES)
        p = rx_chain(stack, desc);
    else if (desc->kind == UNET_INLINE && desc->length > 0)
        p = rx_copy(desc->data, desc->length);
    else if (desc->kind != UNET_ERROR) /* that is a send of ours: its neighbour is gone */
        stack->stats.malformed++;
    if (!p)
        return;
    if (!rx_admit(stack, p, desc->channel)) {
        pbuf_free(p);
        return;
    }
    stack->stats.received++;
    if (stack->netif.input(p, &stack->netif) != ERR_OK)
        pbuf_free(p);
}

int ip_link_receive(struct ip_stack *stack)
{
    const struct unet_desc *next;
    int count = 0;

    while (count < BURST && (next = unet_rx_peek(stack->ep))) {
        const struct unet_desc desc = *next;

        unet_rx_release(stack->ep);
        rx_message(stack, &desc);
        count++;
    }
    tx_reclaim(stack);
    return count;
}

/* ---- making ------------------------------------------------------------- */

static err_t link_init(struct netif *netif)
{
    netif->name[0] = 'u';
    netif->name[1] = 'n';
    netif->output = link_output;
    netif->flags = NETIF_FLAG_LINK_UP;
    return ERR_OK;
}

static uint32_t round_up(uint32_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* How many packets may wait in front of the endpoint's buffers. */
static uint32_t link_backlog(struct unet_endpoint *ep, uint32_t mtu)
{
    const struct unet_datagram_ops *datagrams = ep->ops->datagrams;

    return datagrams ? datagrams->backlog(ep, mtu) : ep->config.recv_slots;
}

/* Cut the segment: at most a quarter of it for sending. */
static int link_cut(struct ip_stack *stack, uint32_t mtu)
{
    const struct unet_config *config = &stack->ep->config;
    const uint32_t pieces = mtu <= 2048 ? 1 : UNET_PIECES_MAX;
    uint32_t slots = TX_SLOTS_MAX, left;

    stack->tx_bytes = round_up(mtu);
    while (slots > TX_SLOTS_MIN &&
           (slots > config->send_slots || slots > config->segment_bytes / 4 / stack->tx_bytes))
        slots /= 2;
    stack->mtu = mtu;
    stack->tx_slots = slots;
    stack->together = slots / 2 < TOGETHER_MOST ? slots / 2 : TOGETHER_MOST;
    stack->rx_start = slots * stack->tx_bytes;
    stack->rx_bytes = round_up((mtu + pieces - 1) / pieces);
    left = stack->rx_start < config->segment_bytes ? config->segment_bytes - stack->rx_start : 0;
    stack->rx_buffers = left / stack->rx_bytes;
    if (stack->rx_buffers > config->free_slots)
        stack->rx_buffers = config->free_slots;
    stack->window_packets = least(stack->rx_buffers / WINDOW_SHARE, link_backlog(stack->ep, mtu));
    return stack->rx_buffers < RX_BUFFERS_MIN ? -ENOBUFS : 0;
}

int ip_link_open(struct ip_stack *stack, uint32_t mtu)
{
    const int result = link_cut(stack, mtu);

    if (result < 0)
        return result;
    stack->tx = calloc(stack->tx_slots, sizeof *stack->tx);
    stack->rx = calloc(stack->rx_buffers, sizeof *stack->rx);
    if (!stack->tx || !stack->rx)
        return -ENOMEM;
    for (uint32_t i = 0; i < stack->rx_buffers; i++) {
        stack->rx[i].stack = stack;
        stack->rx[i].offset = stack->rx_start + i * stack->rx_bytes;
        stack->rx[i].pbuf.custom_free_function = rx_freed;
        rx_give_back(stack, stack->rx[i].offset);
    }
    if (!netif_add(&stack->netif, IP4_ADDR_ANY4, IP4_ADDR_ANY4, IP4_ADDR_ANY4, stack, link_init,
                   ip4_input))
        return -ENOMEM;
    stack->netif.mtu = UINT16_MAX;
    netif_set_default(&stack->netif);
    netif_set_up(&stack->netif);
    return 0;
}

/* A link to each neighbour alone: the netmask makes all other addresses those of a gateway, which
 * link_output replaces by a route of ours. */
void ip_link_set_address(struct ip_stack *stack, struct in_addr address)
{
    const ip4_addr_t own = {address.s_addr}, mask = {0xffffffff};

    netif_set_addr(&stack->netif, &own, &mask, IP4_ADDR_ANY4);
}

void ip_link_close(struct ip_stack *stack)
{
    if (stack->netif.state)
        netif_remove(&stack->netif);
    free(stack->tx);
    free(stack->rx);
}
