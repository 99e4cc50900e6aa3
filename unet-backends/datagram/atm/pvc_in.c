/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pvc_in.c - PDUs, or cells, into frames.
 *
 * Nothing that arrives is believed, but that it came by this VC, which the kernel and the switches
 * see to.
 */
#include "datagram/atm/pvc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

enum { READY_MOST = 64, CALLS_MOST = 4 };

/* ---- PDUs --------------------------------------------------------------------------------- */

static void control_arrived(struct pvc_endpoint *pe, const struct pvc_vc *vc, const uint8_t *bytes,
                            size_t length)
{
    struct unet_frame frame = {.version = 0};

    if (length == sizeof frame)
        memcpy(&frame, bytes, sizeof frame);
    if (!unet_datagram_well_formed(&frame, 0) || unet_datagram_is_message(&frame))
        pe->de.ni.ep.stats.malformed++;
    else
        unet_datagram_control(&pe->de, &frame, &vc->place);
}

static void message_arrived(struct pvc_endpoint *pe, const struct pvc_vc *vc, uint8_t tag,
                            const uint8_t *bytes, size_t length)
{
    const uint16_t n = unet_pvc_channel(pe, vc, tag % PVC_NUMBERS);
    struct unet_frame frame = {.version = UNET_FRAME_VERSION,
                               .kind = tag & PVC_INLINE ? UNET_FRAME_INLINE : UNET_FRAME_PIECES};

    if (length < sizeof frame.user || length - sizeof frame.user > PVC_MESSAGE_MOST) {
        pe->de.ni.ep.stats.malformed++;
        return;
    }
    memcpy(&frame.user, bytes, sizeof frame.user);
    frame.length = (uint16_t)(length - sizeof frame.user);
    if (!unet_datagram_well_formed(&frame, frame.length))
        pe->de.ni.ep.stats.malformed++;
    else if (n == 0)
        pe->de.ni.ep.stats.foreign++;
    else
        unet_datagram_take(&pe->de, n, &frame, bytes + sizeof frame.user);
}

static void pdu_arrived(struct pvc_endpoint *pe, const struct pvc_vc *vc, uint8_t tag,
                        const uint8_t *bytes, size_t length)
{
    if (tag == 0)
        control_arrived(pe, vc, bytes, length);
    else if (tag == PVC_INLINE) /* number 0 is no channel's */
        pe->de.ni.ep.stats.malformed++;
    else
        message_arrived(pe, vc, tag, bytes, length);
}

/* ---- raw cells ---------------------------------------------------------------------------- */

static void cell_arrived(struct pvc_endpoint *pe, struct pvc_vc *vc, const uint8_t *cell,
                         size_t length)
{
    struct aal5_pdu pdu;
    uint32_t header;
    int result;

    if (length != PVC_CELL) {
        pe->de.ni.ep.stats.malformed++;
        return;
    }
    memcpy(&header, cell, sizeof header); /* in the machine's own order */
    if (header & ATM_OTHER)
        return;
    if (!(header & ATM_LAST) && !vc->in.buffer)
        vc->in.buffer = malloc(AAL5_ROOM);
    result = unet_aal5_take(&vc->in, cell + sizeof header, header & ATM_LAST, &pdu);
    if (result == 1)
        pdu_arrived(pe, vc, pdu.uu, pdu.bytes, pdu.length);
    else if (result < 0)
        pe->de.ni.ep.stats.malformed++;
}

/* ---- sockets ------------------------------------------------------------------------------ */

static void vc_arrived(struct pvc_endpoint *pe, struct pvc_vc *vc, const uint8_t *bytes,
                       size_t length)
{
    if (pe->settings.raw)
        cell_arrived(pe, vc, bytes, length);
    else if (length == 0)
        pe->de.ni.ep.stats.malformed++;
    else
        pdu_arrived(pe, vc, bytes[0], bytes + 1, length - 1);
}

/* Returns how many have arrived, or -1 and errno. */
static int vc_call(struct pvc_endpoint *pe, struct pvc_vc *vc)
{
    const size_t room = pe->settings.raw ? ATM_CELL : PVC_SDU_MOST;
    struct mmsghdr message[PVC_ARRIVALS];
    struct iovec iov[PVC_ARRIVALS];
    int count;

    for (unsigned i = 0; i < PVC_ARRIVALS; i++) {
        iov[i] = (struct iovec){pe->arrivals + i * room, room};
        message[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &iov[i], .msg_iovlen = 1}};
    }
    count = recvmmsg(vc->fd, message, PVC_ARRIVALS, 0, NULL);
    for (int i = 0; i < count; i++)
        if (message[i].msg_hdr.msg_flags & MSG_TRUNC)
            pe->de.ni.ep.stats.malformed++;
        else
            vc_arrived(pe, vc, iov[i].iov_base, message[i].msg_len);
    return count;
}

/* An error other than that nothing is there means that the adapter has ended the VC. */
static int vc_receive(struct pvc_endpoint *pe, struct pvc_vc *vc)
{
    int sum = 0, count = PVC_ARRIVALS;

    for (int calls = 0; calls < CALLS_MOST && count == PVC_ARRIVALS && vc->fd >= 0; calls++) {
        count = vc_call(pe, vc);
        if (count > 0)
            sum += count;
        else if (count < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
            unet_pvc_end(pe, vc);
    }
    return sum;
}

int unet_pvc_receive(struct datagram_endpoint *de)
{
    struct pvc_endpoint *pe = pvc_of(de);
    struct epoll_event ready[READY_MOST];
    int count, sum = 0;

    if (de->unsent)
        unet_pvc_flush(pe);
    if (pe->only)
        return pe->only->fd < 0 ? 0 : vc_receive(pe, pe->only);
    count = pe->vcs == 0 ? 0 : epoll_wait(de->socket, ready, READY_MOST, 0);
    for (int i = 0; i < count; i++) {
        struct pvc_vc *vc = ready[i].data.ptr;

        if (ready[i].events & EPOLLOUT)
            unet_pvc_await_room(pe, vc, false); /* the engine tries again */
        if (vc->fd >= 0)
            sum += vc_receive(pe, vc);
    }
    return sum;
}
