/* SPDX-License-Identifier: BSD-3-Clause
 *
 * train.c - frames of a batch that go as one, for the kernel or the network interface to cut.
 */
#include "datagram/datagram.h"

#include <errno.h>

/* A refusal may pass: an interface gets another MTU or another route is taken.  One in so many
 * frames costs nothing to speak of. */
enum { UNCUT_FRAMES = 8192 };

bool unet_datagram_train_allowed(const struct datagram_batch *b, unsigned first)
{
    struct datagram_link *link = datagram_link_of(b, first);

    if (link->uncut == 0)
        return true;
    link->uncut--;
    return false;
}

void unet_datagram_train_refuse(struct datagram_link *link)
{
    link->uncut = UNCUT_FRAMES;
}

bool unet_datagram_same_peer(const struct datagram_batch *b, unsigned i, unsigned j)
{
    return b->message[i].msg_hdr.msg_name == b->message[j].msg_hdr.msg_name;
}

unsigned unet_datagram_train_frames(const struct datagram_batch *b, unsigned first,
                                    uint32_t bytes_most)
{
    const uint32_t segment = b->bytes[first];
    uint32_t sum = segment;
    unsigned end = first + 1;

    for (; end < b->count && end - first < DATAGRAM_TRAIN_MOST &&
           unet_datagram_same_peer(b, first, end);
         end++) {
        sum += b->bytes[end];
        if (b->bytes[end] > segment || sum > bytes_most)
            break;
        if (b->bytes[end] < segment)
            return end + 1 - first;
    }
    return end - first;
}

static bool follows(const struct iovec *last, const struct iovec *next)
{
    return (const uint8_t *)last->iov_base + last->iov_len == next->iov_base;
}

size_t unet_datagram_train_gather(const struct datagram_batch *b, unsigned first, unsigned frames,
                                  struct iovec *piece)
{
    const struct iovec *from = b->message[first].msg_hdr.msg_iov, *end = from;
    struct iovec *last = piece;

    for (unsigned i = first; i < first + frames; i++)
        end += b->message[i].msg_hdr.msg_iovlen;
    *last = *from;
    while (++from < end) {
        if (follows(last, from))
            last->iov_len += from->iov_len;
        else
            *++last = *from;
    }
    return (size_t)(last - piece) + 1;
}

bool unet_datagram_train_refused(int error)
{
    return error == EMSGSIZE || error == EINVAL || error == EIO || error == EOPNOTSUPP;
}

int unet_datagram_train_arrived(struct datagram_endpoint *de, const uint8_t *bytes, size_t length,
                                const struct datagram_place *from)
{
    size_t at = 0;
    int count = 0;

    do {
        at += unet_datagram_arrived(de, bytes + at, length - at, from);
        count++;
    } while (at < length);
    return count;
}
