/* SPDX-License-Identifier: BSD-3-Clause
 *
 * send.c - from the send queue to the fabric.
 *
 * Descriptors of one channel go in order.  One whose channel takes no more now is passed by those
 * of other channels; slots are released in order.
 */
#include "ofi/ofi.h"

#include <errno.h>
#include <string.h>

enum { INJECT_MOST = 256 }; /* bytes of a packet that are composed on the stack */

/* What has been done of a descriptor in the send queue. */
enum {
    SLOT_DONE = 1,
    SLOT_WRITTEN = 2,   /* a write has begun, */
    SLOT_NOTED = 4,     /* its note has gone, */
    SLOT_COMPLETED = 8, /* and the provider no longer reads its memory */
};

/* ---- packets ------------------------------------------------------------------------------ */

static size_t iov_bytes(const struct iovec *iov, unsigned count)
{
    size_t sum = 0;

    for (unsigned i = 0; i < count; i++)
        sum += iov[i].iov_len;
    return sum;
}

static void packet_compose(uint8_t *packet, const struct ofi_header *header,
                           const struct iovec *iov, unsigned count)
{
    memcpy(packet, header, sizeof *header);
    packet += sizeof *header;
    for (unsigned i = 0; i < count; packet += iov[i++].iov_len)
        if (iov[i].iov_len > 0)
            memcpy(packet, iov[i].iov_base, iov[i].iov_len);
}

static int packet_inject(struct ofi_endpoint *oe, uint16_t n, const struct ofi_header *header,
                         const struct iovec *iov, unsigned count)
{
    uint8_t packet[INJECT_MOST];

    packet_compose(packet, header, iov, count);
    return (int)fi_inject(oe->fabric.ep, packet, sizeof *header + iov_bytes(iov, count),
                          oe->link[n].address);
}

static int packet_post(struct ofi_endpoint *oe, uint16_t n, const struct ofi_header *header,
                       const struct iovec *iov, unsigned count)
{
    struct ofi_op *op = ofi_list_take(&oe->free_sends);
    int error;

    if (!op)
        return -EAGAIN;
    packet_compose(op->bytes, header, iov, count);
    op->what = OFI_IS_SEND;
    op->channel = n;
    op->token = oe->link[n].token[0];
    error = (int)fi_send(oe->fabric.ep, op->bytes, sizeof *header + iov_bytes(iov, count),
                         op->descriptor, oe->link[n].address, &op->context);
    if (error)
        ofi_list_add(&oe->free_sends, op);
    else
        oe->under_way++;
    return error;
}

/* The provider has refused to reach the peer, unless it is only busy. */
static int send_failed(struct ofi_endpoint *oe, uint16_t n, int error)
{
    if (error == -EAGAIN || error == -ENOMEM)
        return -EAGAIN;
    unet_ofi_gone(oe, n);
    return -EPIPE;
}

/* Whatever is sent tells how many packets of the peer have been done with. */
static int packet_send(struct ofi_endpoint *oe, uint16_t n, const struct ofi_header *header,
                       const struct iovec *iov, unsigned count, bool tracked)
{
    struct ofi_link *link = &oe->link[n];
    const size_t bytes = sizeof *header + iov_bytes(iov, count);
    const int error = bytes <= oe->inject_most && bytes <= INJECT_MOST && !tracked
                          ? packet_inject(oe, n, header, iov, count)
                          : packet_post(oe, n, header, iov, count);

    if (error)
        return send_failed(oe, n, error);
    link->told = header->ack;
    return 0;
}

static inline struct ofi_header header_to(const struct ofi_link *link, enum ofi_kind kind,
                                          uint32_t user, uint32_t length)
{
    return (struct ofi_header){
        .token = {link->peer_token[0], link->peer_token[1]},
        .version = OFI_VERSION,
        .kind = (uint8_t)kind,
        .channel = link->peer_channel,
        .seq = link->sent,
        .ack = link->done,
        .writes = link->writes,
        .length = length,
        .user = user,
    };
}

static bool has_credit(const struct ofi_link *link)
{
    return (uint16_t)(link->sent - link->acked) < link->peer_window;
}

static int sequenced_send(struct ofi_endpoint *oe, uint16_t n, const struct ofi_header *header,
                          const struct iovec *iov, unsigned count)
{
    const int error =
        has_credit(&oe->link[n]) ? packet_send(oe, n, header, iov, count, false) : -EAGAIN;

    if (error == 0)
        oe->link[n].sent++;
    return error;
}

int unet_ofi_send_note(struct ofi_endpoint *oe, uint16_t n, enum ofi_kind kind, const void *data,
                       size_t bytes)
{
    const struct ofi_header header = header_to(&oe->link[n], kind, 0, 0);

    return sequenced_send(oe, n, &header, &(struct iovec){(void *)data, bytes}, 1);
}

/* What precedes a CLOSE has left once that has completed. */
int unet_ofi_send_control(struct ofi_endpoint *oe, uint16_t n, enum ofi_kind kind, const void *data,
                          size_t bytes)
{
    const struct ofi_header header = header_to(&oe->link[n], kind, 0, 0);

    return packet_send(oe, n, &header, &(struct iovec){(void *)data, bytes}, 1, kind == OFI_CLOSE);
}

int unet_ofi_send_refused(struct ofi_endpoint *oe, uint16_t n, uint32_t user, uint32_t length)
{
    const struct ofi_header header = header_to(&oe->link[n], OFI_REFUSED, user, length);

    return packet_send(oe, n, &header, NULL, 0, false);
}

/* ---- descriptors ---------------------------------------------------------------------------- */

static int inline_send(struct ofi_endpoint *oe, const struct unet_desc *desc)
{
    const struct ofi_header header =
        header_to(&oe->link[desc->channel], OFI_INLINE, desc->user, desc->length);

    if (desc->length > UNET_INLINE_MAX)
        return -EMSGSIZE;
    return sequenced_send(oe, desc->channel, &header,
                          &(struct iovec){(void *)desc->data, desc->length}, 1);
}

/* The pieces' bytes from `at` on, at most a fragment of them.  Returns the number of parts. */
static unsigned fragment_gather(const struct unet_endpoint *ep, const struct unet_desc *desc,
                                uint32_t at, struct iovec iov[UNET_PIECES_MAX])
{
    uint32_t left = OFI_FRAGMENT;
    unsigned count = 0;

    for (unsigned i = 0; i < desc->pieces; i++) {
        const struct unet_piece *piece = &desc->piece[i];
        const uint32_t skip = at < piece->length ? at : piece->length;
        const uint32_t rest = piece->length - skip, n = rest < left ? rest : left;

        at -= skip;
        if (n > 0)
            iov[count++] = (struct iovec){ep->segment + piece->offset + skip, n};
        left -= n;
    }
    return count;
}

/* A message that the channel takes in part goes on with the next fragment. */
static int pieces_send(struct ofi_endpoint *oe, const struct unet_desc *desc)
{
    struct ofi_link *link = &oe->link[desc->channel];
    const uint32_t fragments = (desc->length + OFI_FRAGMENT - 1) / OFI_FRAGMENT;
    int error = unet_check_pieces(desc, oe->ni.ep.config.segment_bytes);

    while (error == 0 && link->fragment < fragments) {
        struct ofi_header header = header_to(link, OFI_PIECES, desc->user, desc->length);
        struct iovec iov[UNET_PIECES_MAX];
        const unsigned count =
            fragment_gather(&oe->ni.ep, desc, (uint32_t)link->fragment * OFI_FRAGMENT, iov);

        header.fragment = link->fragment;
        error = sequenced_send(oe, desc->channel, &header, iov, count);
        link->fragment += error == 0;
    }
    if (error != -EAGAIN)
        link->fragment = 0;
    return error;
}

static int put_note(struct ofi_endpoint *oe, const struct unet_desc *desc)
{
    const struct ofi_header header =
        header_to(&oe->link[desc->channel], OFI_PUT, desc->user, desc->length);
    struct ofi_put put = {.place = desc->remote};

    return sequenced_send(oe, desc->channel, &header, &(struct iovec){&put, sizeof put}, 1);
}

/* The note comes after the write, and the receiver holds it back until that has landed. */
static int put_send(struct ofi_endpoint *oe, const struct unet_desc *desc, uint32_t position)
{
    uint8_t *slot = &oe->progress_of[position & oe->ni.tx.mask];
    int error;

    if (!has_credit(&oe->link[desc->channel]))
        return -EAGAIN;
    if (!(*slot & SLOT_WRITTEN)) {
        error = unet_ofi_write(oe, desc, position);
        if (error)
            return error;
        *slot |= SLOT_WRITTEN;
    }
    error = put_note(oe, desc);
    if (error == 0)
        *slot |= SLOT_NOTED;
    return error;
}

static int descriptor_send(struct ofi_endpoint *oe, const struct unet_desc *desc, uint32_t position)
{
    const int error = unet_not_open(&oe->ni.ep, desc->channel);

    if (error)
        return error;
    if (desc->kind == UNET_INLINE)
        return inline_send(oe, desc);
    if (desc->kind == UNET_PIECES)
        return pieces_send(oe, desc);
    if (desc->kind == UNET_DIRECT && desc->pieces == 0 && oe->fabric.writes)
        return put_send(oe, desc, position);
    return -EINVAL;
}

/* ---- the send queue ----------------------------------------------------------------------- */

static void slot_settle(struct ofi_endpoint *oe, uint32_t position)
{
    uint8_t *slot = &oe->progress_of[position & oe->ni.tx.mask];

    if (!(*slot & SLOT_WRITTEN) || (*slot & SLOT_NOTED && *slot & SLOT_COMPLETED))
        *slot |= SLOT_DONE;
}

/* A write whose note cannot be sent any more still has to complete. */
static void slot_refuse(struct ofi_endpoint *oe, const struct unet_desc *desc, uint32_t position,
                        int error)
{
    uint8_t *slot = &oe->progress_of[position & oe->ni.tx.mask];

    unet_refuse(&oe->ni.ep, &oe->ni.errors, desc, error);
    *slot |= *slot & SLOT_WRITTEN ? SLOT_NOTED : 0;
    if (unet_is_channel(&oe->ni.ep, desc->channel))
        oe->link[desc->channel].fragment = 0;
}

static bool is_blocked(const struct ofi_endpoint *oe, const struct unet_desc *desc)
{
    return unet_is_channel(&oe->ni.ep, desc->channel) &&
           oe->link[desc->channel].blocked == oe->round;
}

static void slot_serve(struct ofi_endpoint *oe, const struct unet_desc *desc, uint32_t position)
{
    const int error = descriptor_send(oe, desc, position);

    if (error == -EAGAIN) {
        oe->link[desc->channel].blocked = oe->round;
        return;
    }
    if (error)
        slot_refuse(oe, desc, position, error);
    slot_settle(oe, position);
}

static int tx_release(struct ofi_endpoint *oe, uint32_t end)
{
    int count = 0;

    for (; oe->ni.tx.position != end; count++) {
        uint8_t *slot = &oe->progress_of[oe->ni.tx.position & oe->ni.tx.mask];

        if (!(*slot & SLOT_DONE))
            break;
        *slot = 0;
        unet_ring_release(&oe->ni.tx);
    }
    unet_ring_publish(&oe->ni.tx);
    return count;
}

static const struct unet_desc *tx_slot(const struct ofi_endpoint *oe, uint32_t position)
{
    const struct unet_desc *desc = &oe->ni.tx.shared->slot[position & oe->ni.tx.mask];

    return __atomic_load_n(&desc->turn, __ATOMIC_ACQUIRE) == position + 1 ? desc : NULL;
}

int unet_ofi_service(struct ofi_endpoint *oe)
{
    const uint32_t slots = oe->ni.tx.mask + 1;
    uint32_t at = oe->ni.tx.position;
    const struct unet_desc *desc;

    oe->round++;
    for (; at - oe->ni.tx.position < slots && (desc = tx_slot(oe, at)); at++)
        if (!(oe->progress_of[at & oe->ni.tx.mask] & (SLOT_DONE | SLOT_NOTED)) &&
            !is_blocked(oe, desc))
            slot_serve(oe, desc, at);
    return tx_release(oe, at);
}

void unet_ofi_written(struct ofi_endpoint *oe, uint32_t position)
{
    oe->progress_of[position & oe->ni.tx.mask] |= SLOT_COMPLETED;
    slot_settle(oe, position);
}

/* ---- past the queue ----------------------------------------------------------------------- */

static bool is_queued(const struct ofi_endpoint *oe, uint16_t n)
{
    const struct unet_desc *desc;

    for (uint32_t at = oe->ni.tx.position; at != oe->ni.ep.tx.position; at++)
        if ((desc = tx_slot(oe, at)) && desc->channel == n &&
            !(oe->progress_of[at & oe->ni.tx.mask] & (SLOT_DONE | SLOT_NOTED)))
            return true;
    return false;
}

int unet_ofi_sendv(struct unet_endpoint *ep, uint16_t channel, uint32_t user,
                   const struct iovec *iov, uint32_t count)
{
    struct ofi_endpoint *oe = ofi_of(ep);
    const size_t bytes = iov_bytes(iov, count);
    struct ofi_header header;

    if (bytes > OFI_FRAGMENT)
        return -EMSGSIZE;
    if (!has_credit(&oe->link[channel]))
        unet_ofi_receive(oe);
    if (unet_not_open(ep, channel))
        return unet_not_open(ep, channel);
    if (is_queued(oe, channel))
        return -EAGAIN;
    header = header_to(&oe->link[channel], bytes > UNET_INLINE_MAX ? OFI_PIECES : OFI_INLINE, user,
                       (uint32_t)bytes);
    return sequenced_send(oe, channel, &header, iov, count);
}
