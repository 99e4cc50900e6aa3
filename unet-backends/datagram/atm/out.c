/* SPDX-License-Identifier: BSD-3-Clause
 *
 * out.c - frames into cells.
 *
 * Cells that the socket does not take are kept: a PDU of which some cells are missing would be
 * lost. Nothing is cut before they have gone.
 */
#include "datagram/atm/atm.h"

#include <errno.h>

/* Of a frame's header, what a PDU begins with. */
enum { HEADER_LEFT_OUT = offsetof(struct unet_frame, user) };
_Static_assert(sizeof(struct unet_frame) == HEADER_LEFT_OUT + ATM_USER_BYTES,
               "the message follows the word");

static void out_drop(struct atm_endpoint *ae)
{
    ae->out_first = ae->out_end = 0;
    ae->de.unsent = false;
    ae->de.no_room = 0;
}

/* ENOBUFS is of a busy device; every other error is of the network, and the cells are lost. */
static bool out_is_to_wait(struct atm_endpoint *ae, int error)
{
    if (error == EAGAIN || error == EWOULDBLOCK)
        return true;
    return error == ENOBUFS && unet_datagram_no_room(&ae->de) == 0;
}

/* What the network has reported earlier is returned once, before the socket sends again. */
bool unet_atm_flush(struct atm_endpoint *ae)
{
    for (int tries = 0; tries < 2 && ae->out_first < ae->out_end; tries++) {
        ae->out_first += unet_atm_line_send(&ae->line, NULL, ae->out + ae->out_first,
                                            ae->out_end - ae->out_first);
        if (ae->out_first == ae->out_end)
            break;
        if (errno == ECONNREFUSED)
            unet_atm_refused(ae);
        else if (out_is_to_wait(ae, errno)) {
            ae->de.unsent = true;
            return false;
        }
    }
    out_drop(ae);
    return true;
}

/* Cut one frame.  False: its cells find no room. */
static bool out_cut(struct atm_endpoint *ae, const struct msghdr *message, uint32_t frame_bytes)
{
    const struct datagram_place *to = message->msg_name;
    const size_t length = frame_bytes - HEADER_LEFT_OUT;
    struct iovec iov[1 + UNET_PIECES_MAX];
    struct unet_frame frame;

    if (ae->out_end + unet_aal5_cells(length) * ATM_CELL > ATM_OUT_BYTES)
        return false;
    memcpy(iov, message->msg_iov, message->msg_iovlen * sizeof *iov);
    memcpy(&frame, iov[0].iov_base, sizeof frame);
    iov[0].iov_base = (uint8_t *)iov[0].iov_base + HEADER_LEFT_OUT;
    iov[0].iov_len -= HEADER_LEFT_OUT;
    ae->out_end += ATM_CELL * unet_aal5_cut(ae->out + ae->out_end,
                                            atm_header(to->number, atm_life_vci(frame.life)),
                                            atm_uu(frame.kind), iov, message->msg_iovlen, length);
    return true;
}

unsigned unet_atm_send(struct datagram_endpoint *de, struct datagram_batch *batch)
{
    struct atm_endpoint *ae = atm_of(de);
    unsigned i = 0;

    if (!unet_atm_flush(ae))
        return 0;
    while (i < batch->count && out_cut(ae, &batch->message[i].msg_hdr, batch->bytes[i]))
        i++;
    unet_atm_flush(ae);
    return i;
}

/* Behind what is kept, so that a channel's end does not overtake its messages. */
void unet_atm_say(struct datagram_endpoint *de, const struct datagram_place *to,
                  const struct unet_frame *frame)
{
    struct atm_endpoint *ae = atm_of(de);

    if (ae->out_end + ATM_CELL > ATM_OUT_BYTES)
        return;
    unet_atm_write_lone(ae->out + ae->out_end, to->number, ATM_VCI_SIGNALLING, atm_uu(frame->kind),
                        frame, sizeof *frame);
    ae->out_end += ATM_CELL;
    unet_atm_flush(ae);
}
