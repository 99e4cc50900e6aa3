/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pvc_out.c - frames into PDUs, or into cells.
 *
 * Cells that the socket does not take are kept: a PDU of which some cells are missing would be
 * lost. Nothing else is sent before they have gone.
 */
#include "datagram/atm/pvc.h"

#include <errno.h>

enum { OUT_CALL_CELLS = 64 }; /* cells that one system call sends */

/* Of a frame's header, what a PDU does not have. */
enum { HEADER_LEFT_OUT = offsetof(struct unet_frame, user) };

/* What became of a call that sends. */
enum sent { SENT, NO_ROOM_NOW, SENT_OR_LOST };

/* ENOBUFS is of a busy adapter; an error that is neither is of the VC, which is no more. */
static enum sent sent_error(struct pvc_endpoint *pe, struct pvc_vc *vc)
{
    if (errno == EINTR)
        return NO_ROOM_NOW;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        unet_pvc_await_room(pe, vc, true);
        pe->de.unsent = true;
        return NO_ROOM_NOW;
    }
    if (errno == ENOBUFS || errno == ENOMEM)
        return unet_datagram_no_room(&pe->de) == 0 ? NO_ROOM_NOW : SENT_OR_LOST;
    if (errno != EMSGSIZE)
        unet_pvc_end(pe, vc);
    return SENT_OR_LOST;
}

static void sent_well(struct pvc_endpoint *pe, struct pvc_vc *vc)
{
    pe->de.no_room = 0;
    pe->de.unsent = false;
    unet_pvc_await_room(pe, vc, false);
}

/* ---- raw cells ------------------------------------------------------------------------------ */

/* The socket's cell begins with the header in the machine's own order, and has no HEC: it is the
 * last PVC_CELL bytes of ours. */
static void cell_for_socket(uint8_t *cell)
{
    uint32_t header;

    memcpy(&header, cell, sizeof header);
    header = __builtin_bswap32(header);
    memcpy(cell + ATM_CELL - PVC_CELL, &header, sizeof header);
}

/* As many of the kept cells as one call takes.  Returns their number, or -1 and errno. */
static int cells_submit(const struct pvc_endpoint *pe)
{
    const uint32_t left = pe->out_end - pe->out_first;
    const unsigned count = left < OUT_CALL_CELLS ? left : OUT_CALL_CELLS;
    const uint8_t *cell = pe->out + (size_t)pe->out_first * ATM_CELL + ATM_CELL - PVC_CELL;
    struct mmsghdr message[OUT_CALL_CELLS];
    struct iovec iov[OUT_CALL_CELLS];

    if (count == 1)
        return send(pe->out_to->fd, cell, PVC_CELL, 0) < 0 ? -1 : 1;
    for (unsigned i = 0; i < count; i++) {
        iov[i] = (struct iovec){(void *)(cell + (size_t)i * ATM_CELL), PVC_CELL};
        message[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &iov[i], .msg_iovlen = 1}};
    }
    return sendmmsg(pe->out_to->fd, message, count, 0);
}

bool unet_pvc_flush(struct pvc_endpoint *pe)
{
    while (pe->out_first < pe->out_end) {
        const int sent = pe->out_to->fd < 0 ? -1 : cells_submit(pe);

        if (sent > 0) {
            pe->out_first += (uint32_t)sent;
            sent_well(pe, pe->out_to);
        } else if (pe->out_to->fd < 0 || sent_error(pe, pe->out_to) == SENT_OR_LOST) {
            pe->out_first = pe->out_end; /* the rest is of no use */
        } else {
            return false;
        }
    }
    return true;
}

/* True: the PDU's cells are the endpoint's care now. */
static bool pdu_send_cells(struct pvc_endpoint *pe, struct pvc_vc *vc, uint8_t tag,
                           const struct iovec *iov, size_t pieces, size_t length)
{
    const uint32_t node = vc->place.number >> 8, port = vc->place.number & 255;
    const uint32_t vci = unet_pvc_vci(pe->settings.node, pe->de.port, node, port);

    if (!unet_pvc_flush(pe))
        return false;
    pe->out_to = vc;
    pe->out_first = 0;
    pe->out_end = (uint32_t)unet_aal5_cut(pe->out, atm_header(node, vci), tag, iov, pieces, length);
    for (uint32_t i = 0; i < pe->out_end; i++)
        cell_for_socket(pe->out + (size_t)i * ATM_CELL);
    unet_pvc_flush(pe);
    return true;
}

/* ---- PDUs --------------------------------------------------------------------------------- */

/* The pieces stand behind a free one, for the tag. */
static bool pdu_send_whole(struct pvc_endpoint *pe, struct pvc_vc *vc, uint8_t tag,
                           struct iovec *iov, size_t pieces)
{
    const struct msghdr message = {.msg_iov = iov, .msg_iovlen = pieces};

    iov[0] = (struct iovec){&tag, sizeof tag};
    if (sendmsg(vc->fd, &message, 0) < 0)
        return sent_error(pe, vc) == SENT_OR_LOST;
    sent_well(pe, vc);
    return true;
}

/* False: the socket takes nothing now. */
static bool pdu_send(struct pvc_endpoint *pe, const struct datagram_place *to, uint8_t tag,
                     struct iovec *iov, size_t pieces, size_t length)
{
    struct pvc_vc *vc = unet_pvc_find(pe, to);

    if (!vc || vc->fd < 0)
        return true; /* lost */
    if (pe->settings.raw)
        return pdu_send_cells(pe, vc, tag, iov + 1, pieces - 1, length);
    return pdu_send_whole(pe, vc, tag, iov, pieces);
}

static bool frame_send(struct pvc_endpoint *pe, const struct msghdr *message, uint32_t frame_bytes)
{
    const size_t length = frame_bytes - HEADER_LEFT_OUT;
    struct iovec iov[2 + UNET_PIECES_MAX];
    struct unet_frame frame;
    uint8_t tag;

    memcpy(iov + 1, message->msg_iov, message->msg_iovlen * sizeof *iov);
    memcpy(&frame, iov[1].iov_base, sizeof frame);
    iov[1].iov_base = (uint8_t *)iov[1].iov_base + HEADER_LEFT_OUT;
    iov[1].iov_len -= HEADER_LEFT_OUT;
    tag = (uint8_t)(frame.life % PVC_NUMBERS + (frame.kind == UNET_FRAME_INLINE ? PVC_INLINE : 0));
    return pdu_send(pe, message->msg_name, tag, iov, 1 + message->msg_iovlen, length);
}

unsigned unet_pvc_send(struct datagram_endpoint *de, struct datagram_batch *batch)
{
    struct pvc_endpoint *pe = pvc_of(de);
    unsigned i = 0;

    while (i < batch->count && frame_send(pe, &batch->message[i].msg_hdr, batch->bytes[i]))
        i++;
    return i;
}

/* It may be lost. */
void unet_pvc_say(struct datagram_endpoint *de, const struct datagram_place *to,
                  const struct unet_frame *frame)
{
    struct iovec iov[2] = {{NULL, 0}, {(void *)frame, sizeof *frame}};

    pdu_send(pvc_of(de), to, 0, iov, 2, sizeof *frame);
}
