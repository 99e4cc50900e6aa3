/* SPDX-License-Identifier: BSD-3-Clause
 *
 * segment.c - what a network card that offloads TCP does: lwIP makes segments of several packets,
 * which are cut where they are copied for the endpoint.
 *
 * What lwIP does for each segment costs more than the copy of a packet does.  The packets on the
 * link are those that shorter segments would have been.
 */
#include "internal.h"

#include <lwip/prot/ip4.h>
#include <lwip/prot/tcp.h>
#include <string.h>

enum {
    OPTION_END = 0,
    OPTION_NOTHING = 1,
    OPTION_MSS = 2,
    OPTION_MSS_BYTES = 4,
    OPTION_SCALE = 3, /* of windows */
    OPTION_SCALE_BYTES = 3,
};

static uint16_t fold(uint64_t sum)
{
    sum = (sum >> 32) + (sum & UINT32_MAX);
    sum = (sum >> 16) + (sum & UINT16_MAX);
    sum = (sum >> 16) + (sum & UINT16_MAX);
    sum = (sum >> 16) + (sum & UINT16_MAX);
    return (uint16_t)sum;
}

/* The sum of a header, or of a part of one, which has a multiple of four bytes. */
static uint64_t header_sum(const void *header, uint32_t bytes)
{
    uint64_t sum = 0;

    for (uint32_t at = 0; at < bytes; at += sizeof(uint32_t)) {
        uint32_t word;

        memcpy(&word, (const uint8_t *)header + at, sizeof word);
        sum += word;
    }
    return sum;
}

static struct tcp_hdr *tcp_of(const struct ip_hdr *ip)
{
    return (struct tcp_hdr *)((uint8_t *)ip + IPH_HL_BYTES(ip));
}

/* Both headers' checksums; `data` is the sum of the bytes behind them. */
static void segment_seal(struct ip_hdr *ip, uint32_t length, uint16_t data)
{
    const uint32_t ip_bytes = IPH_HL_BYTES(ip);
    struct tcp_hdr *tcp = tcp_of(ip);
    const uint64_t ends = header_sum(&ip->src, sizeof ip->src + sizeof ip->dest);

    IPH_CHKSUM_SET(ip, 0);
    IPH_CHKSUM_SET(ip, (u16_t)~fold(header_sum(ip, ip_bytes)));
    tcp->chksum = 0;
    tcp->chksum =
        (u16_t)~fold(ends + lwip_htons(IP_PROTO_TCP) + lwip_htons((u16_t)(length - ip_bytes)) +
                     header_sum(tcp, TCPH_HDRLEN_BYTES(tcp)) + data);
}

/* Copy a part of the data, which lwIP mostly has in one piece, and add it up. */
static uint16_t segment_copy(const struct pbuf *p, uint32_t from, uint32_t length, uint8_t *to)
{
    if (p->len == p->tot_len)
        return ip_checksum_copy(to, (const uint8_t *)p->payload + from, length);
    pbuf_copy_partial(p, to, (u16_t)length, (u16_t)from);
    return ip_checksum_add(to, length);
}

/* Bytes of both headers, which lwIP has in one piece; 0: it is no TCP. */
static uint32_t segment_headers(const struct pbuf *p)
{
    const struct ip_hdr *ip = p->payload;

    return IPH_PROTO(ip) == IP_PROTO_TCP ? IPH_HL_BYTES(ip) + TCPH_HDRLEN_BYTES(tcp_of(ip)) : 0;
}

unsigned ip_segment_packets(const struct pbuf *p, uint32_t mtu)
{
    const uint32_t headers = segment_headers(p);

    return headers > 0 ? (p->tot_len - headers + mtu - headers - 1) / (mtu - headers) : 0;
}

/* The headers are those of the packets but for what differs, which is nought. */
void ip_cut_begin(struct ip_cut *cut, const struct pbuf *p, uint32_t mtu)
{
    struct ip_hdr *ip = (struct ip_hdr *)cut->header;
    struct tcp_hdr *tcp;

    *cut = (struct ip_cut){.segment = p, .headers = segment_headers(p)};
    cut->most = mtu - cut->headers;
    memcpy(cut->header, p->payload, cut->headers);
    tcp = tcp_of(ip);
    cut->id = lwip_ntohs(IPH_ID(ip));
    cut->sequence = lwip_ntohl(tcp->seqno);
    cut->flags = TCPH_FLAGS(tcp);
    IPH_LEN_SET(ip, 0);
    IPH_ID_SET(ip, 0);
    IPH_CHKSUM_SET(ip, 0);
    tcp->seqno = 0;
    tcp->chksum = 0;
    TCPH_UNSET_FLAG(tcp, TCP_FIN | TCP_PSH);
    cut->ip_sum = header_sum(ip, IPH_HL_BYTES(ip));
    cut->tcp_sum = header_sum(&ip->src, sizeof ip->src + sizeof ip->dest) +
                   lwip_htons(IP_PROTO_TCP) + header_sum(tcp, TCPH_HDRLEN_BYTES(tcp));
}

uint32_t ip_cut_next(struct ip_cut *cut, uint8_t *packet)
{
    const uint32_t left = cut->segment->tot_len - cut->headers - cut->from;
    const uint32_t part = left < cut->most ? left : cut->most, length = cut->headers + part;
    const uint16_t last = part == left ? cut->flags & (TCP_FIN | TCP_PSH) : 0;
    struct ip_hdr *ip = (struct ip_hdr *)packet;
    struct tcp_hdr *tcp;
    uint16_t data;

    memcpy(packet, cut->header, cut->headers);
    tcp = tcp_of(ip);
    IPH_LEN_SET(ip, lwip_htons((u16_t)length));
    IPH_ID_SET(ip, lwip_htons(cut->id));
    IPH_CHKSUM_SET(ip, (u16_t)~fold(cut->ip_sum + IPH_LEN(ip) + IPH_ID(ip)));
    TCPH_SET_FLAG(tcp, last);
    tcp->seqno = lwip_htonl(cut->sequence + cut->from);
    data = segment_copy(cut->segment, cut->headers + cut->from, part, packet + cut->headers);
    tcp->chksum = (u16_t)~fold(cut->tcp_sum + lwip_htons(last) + tcp->seqno +
                               lwip_htons((u16_t)(length - IPH_HL_BYTES(ip))) + data);
    cut->id++;
    cut->from += part;
    return length;
}

/* Where the value of an option of that kind and length lies, or NULL. */
static uint8_t *option_find(struct tcp_hdr *tcp, uint8_t kind, uint8_t bytes)
{
    uint8_t *option = (uint8_t *)(tcp + 1);
    const uint8_t *end = (uint8_t *)tcp + TCPH_HDRLEN_BYTES(tcp);

    while (option + bytes <= end && *option != OPTION_END) {
        if (*option == kind && option[1] == bytes)
            return option + 2;
        option += *option == OPTION_NOTHING || option[1] == 0 ? 1 : option[1];
    }
    return NULL;
}

/* What lwIP says of itself in a SYN is true of the link, and of larger windows than it has. */
static void segment_announce(struct tcp_hdr *tcp, uint32_t mtu)
{
    const uint32_t most = mtu - IP_HLEN - TCP_HLEN;
    uint8_t *mss = option_find(tcp, OPTION_MSS, OPTION_MSS_BYTES);
    uint8_t *scale = option_find(tcp, OPTION_SCALE, OPTION_SCALE_BYTES);

    if (scale)
        *scale = IP_WINDOW_SCALE;
    if (!mss || (uint32_t)(mss[0] << 8 | mss[1]) <= most)
        return;
    mss[0] = (uint8_t)(most >> 8);
    mss[1] = (uint8_t)most;
}

uint32_t ip_segment_whole(const struct pbuf *p, uint32_t mtu, uint8_t *packet)
{
    const uint32_t headers = segment_headers(p);
    struct ip_hdr *ip = (struct ip_hdr *)packet;

    if (headers == 0) {
        pbuf_copy_partial(p, packet, p->tot_len, 0);
        return p->tot_len;
    }
    memcpy(packet, p->payload, headers);
    if (TCPH_FLAGS(tcp_of(ip)) & TCP_SYN)
        segment_announce(tcp_of(ip), mtu);
    segment_seal(ip, p->tot_len, segment_copy(p, headers, p->tot_len - headers, packet + headers));
    return p->tot_len;
}
