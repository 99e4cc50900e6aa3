/* SPDX-License-Identifier: BSD-3-Clause
 *
 * window.c - how much of a stream may be on its way, and when that and what has arrived is told.
 *
 * A stream owes its peer an acknowledgement from the first segment on.  It is sent with data that
 * go there, or by ip_windows_settle when nothing more comes, but no later than after so many bytes.
 */
#include "internal.h"

#include <lwip/priv/tcp_priv.h>
#include <lwip/prot/ip4.h>

enum {
    ACK_PART = 2,  /* of the window, taken in, or */
    READ_PART = 4, /* read by the program, are acknowledged; these with a larger window */
    WINDOW_MOST = TCP_WND << IP_WINDOW_SCALE,
    FIRST_PACKETS = 10, /* that may be on their way at first (RFC 6928) */
};

/* Debian's lwIP scales windows by two and then uses the half of it; what bounds them are the
 * buffers that there are.  A queue as long fills such a window of the peer's. */
static tcpwnd_size_t window_bytes(const struct ip_socket *s, const struct tcp_pcb *pcb)
{
    const tcpwnd_size_t room = s->stack->window_packets * s->packet;

    return !(pcb->flags & TF_WND_SCALE) || room < TCP_WND_MAX(pcb) ? TCP_WND_MAX(pcb)
           : room < WINDOW_MOST                                    ? room
                                                                   : WINDOW_MOST;
}

/* The connection is there: begin with longer segments, more of them, and larger windows
 * than lwIP would. */
void ip_window_begin(struct ip_socket *s, struct tcp_pcb *pcb)
{
    const uint32_t most = s->stack->mtu - IP_HLEN - TCP_HLEN;

    s->packet = pcb->mss < most ? pcb->mss : most;
    if (pcb->mss >= most) /* we cut into packets that fill the link, not into shorter ones */
        pcb->mss = (u16_t)(most * s->stack->together);
    if (pcb->cwnd < s->packet * FIRST_PACKETS)
        pcb->cwnd = s->packet * FIRST_PACKETS;
    if (pcb->cwnd < pcb->mss) /* lwIP waits for ever where no segment fits */
        pcb->cwnd = pcb->mss;
    if (pcb->flags & TF_WND_SCALE) {
        pcb->rcv_scale = IP_WINDOW_SCALE;
        pcb->snd_buf += WINDOW_MOST - TCP_SND_BUF;
        pcb->ssthresh = WINDOW_MOST;
    }
    s->window = window_bytes(s, pcb);
    s->read = s->window - TCP_WND_MAX(pcb); /* told with the first acknowledgement */
    s->stack->owing = true;
}

/* lwIP has asked for an acknowledgement of the second segment, as tcp_ack does: not yet, unless it
 * is late, or ends a gap (that comes with more than one segment). */
void ip_window_taken(struct ip_socket *s, struct tcp_pcb *pcb, const struct pbuf *p)
{
    if (!(pcb->flags & TF_ACK_NOW))
        s->unacked = 0;
    s->unacked += p->tot_len;
    s->stack->owing = true;
    if (pcb->flags & TF_ACK_NOW && pcb->state == ESTABLISHED && !pcb->ooseq &&
        p->tot_len <= s->packet && s->unacked < s->window / ACK_PART) {
        tcp_clear_flags(pcb, TF_ACK_NOW);
        tcp_set_flags(pcb, TF_ACK_DELAY);
    }
}

/* As tcp_recved, which knows of no larger window: it opens by what has been read, and that is sent
 * to the peer if it is much. */
static void window_open(struct ip_socket *s)
{
    struct tcp_pcb *pcb = s->tcp;

    if (!pcb || s->read == 0)
        return;
    pcb->rcv_wnd += s->read;
    s->read = 0;
    if (tcp_update_rcv_ann_wnd(pcb) >= TCP_WND_UPDATE_THRESHOLD) {
        tcp_ack_now(pcb);
        tcp_output(pcb);
    }
}

void ip_window_read(struct ip_socket *s, size_t length)
{
    s->read += (uint32_t)length;
    s->stack->owing = true;
    if (s->read < s->window / READ_PART)
        return;
    window_open(s);
    ip_link_flush(s->stack);
}

void ip_windows_settle(void)
{
    struct tcp_pcb *next;

    for (struct tcp_pcb *pcb = tcp_active_pcbs; pcb; pcb = next) {
        next = pcb->next;
        if (pcb->callback_arg)
            window_open(pcb->callback_arg);
        if (pcb->flags & TF_ACK_DELAY) {
            tcp_clear_flags(pcb, TF_ACK_DELAY);
            tcp_ack_now(pcb);
            tcp_output(pcb);
        }
    }
}

/* lwIP takes a window that is not its own for one of which something has not been read, and then
 * resets the connection. */
void ip_window_end(struct ip_socket *s)
{
    if (!s->first)
        s->tcp->rcv_wnd = TCP_WND_MAX(s->tcp);
}
