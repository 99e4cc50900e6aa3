/* SPDX-License-Identifier: BSD-3-Clause
 *
 * channel.c - opening, closing, and noticing that a peer is gone.
 *
 * OPEN tells the peer of this opening: the token and the number that its packets have to carry, and
 * its credits.  It is repeated until the peer has opened its side, too, and answered OPENED, with
 * that token.  A channel is open when anything has come with the token of its opening: whoever
 * knows it has told its own before, and the fabric keeps the order.
 *
 * Providers do not always tell that a peer has died.  tcp;ofi_rxm tries to connect again for ever,
 * and says that it is busy.  So a silent peer is asked; one on this machine is looked at by its
 * pidfd, and where an endpoint listens at a TCP port it is found out whether anybody still does.
 * Whoever computes and makes no progress does not answer: silence alone tells nothing.
 */
#include "ofi/ofi.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ASK_FIRST_US = 20000, /* between two questions; doubles while nothing comes */
    ASK_LAST_US = 1000000,
    KNOCK_US = 80000,   /* from that pause on it is found out whether anybody listens */
    LAST_TRIES = 10000, /* to send the last word on a channel */
    LAST_READS = 1000,  /* what a dead peer has sent is taken in first */
};

/* ---- finding --------------------------------------------------------------------------------- */

static uint16_t *bucket_of(const struct ofi_endpoint *oe, uint64_t key)
{
    return &oe->bucket[key & oe->bucket_mask];
}

/* The channel whose peer's direction has that name, or 0. */
static uint16_t channel_find(const struct ofi_endpoint *oe, uint64_t key)
{
    uint16_t n = *bucket_of(oe, key);

    while (n != 0 && oe->link[n].key_in != key)
        n = oe->link[n].same_bucket;
    return n;
}

static void bucket_insert(struct ofi_endpoint *oe, uint16_t n)
{
    uint16_t *head = bucket_of(oe, oe->link[n].key_in);

    oe->link[n].same_bucket = *head;
    *head = n;
}

static void bucket_remove(struct ofi_endpoint *oe, uint16_t n)
{
    uint16_t *at = bucket_of(oe, oe->link[n].key_in);

    while (*at != n)
        at = &oe->link[*at].same_bucket;
    *at = oe->link[n].same_bucket;
}

/* ---- attention ---------------------------------------------------------------------------- */

void unet_ofi_needs_attention(struct ofi_endpoint *oe, uint16_t n)
{
    struct ofi_link *link = &oe->link[n];

    if (link->attended)
        return;
    link->attended = true;
    link->next = oe->attention;
    oe->attention = n;
}

/* Half a window is told at once, before the sender has to wait for it; what is less goes with
 * whatever is sent next. */
static bool owes_credits(const struct ofi_endpoint *oe, const struct ofi_link *link)
{
    return (uint16_t)(link->done - link->told) >= oe->window / 2;
}

static bool attend_one(struct ofi_endpoint *oe, uint16_t n)
{
    struct ofi_link *link = &oe->link[n];

    if (link->held.first)
        unet_ofi_deliver_held(oe, n);
    if (oe->ni.ep.channel[n].state == UNET_OPEN) {
        if ((link->answer || owes_credits(oe, link)) &&
            unet_ofi_send_control(oe, n, OFI_ACK, NULL, 0) == 0)
            link->answer = false;
        if (link->revokes && unet_ofi_tell_revoked(oe, n))
            link->revokes = false;
        if (link->answer || link->revokes || owes_credits(oe, link))
            return false;
    }
    return !link->held.first;
}

void unet_ofi_attend(struct ofi_endpoint *oe)
{
    uint16_t n = oe->attention;

    oe->attention = 0;
    while (n != 0) {
        const uint16_t next = oe->link[n].next;

        oe->link[n].attended = false;
        if (oe->ni.ep.channel[n].state != UNET_CLOSED && !attend_one(oe, n))
            unet_ofi_needs_attention(oe, n);
        n = next;
    }
}

/* ---- saying ------------------------------------------------------------------------------- */

static int say_hello(struct ofi_endpoint *oe, uint16_t n, enum ofi_kind kind)
{
    const struct ofi_link *link = &oe->link[n];
    const struct ofi_hello hello = {
        .key = link->key_out,
        .token = {link->token[0], link->token[1]},
        .channel = n,
        .window = oe->window,
    };

    return unet_ofi_send_control(oe, n, kind, &hello, sizeof hello);
}

static void say_close(struct ofi_endpoint *oe, uint16_t n)
{
    for (int i = 0; i < LAST_TRIES && oe->ni.ep.channel[n].state < UNET_DEAD; i++) {
        if (say_hello(oe, n, OFI_CLOSE) != -EAGAIN)
            return;
        unet_ofi_receive(oe);
    }
}

void unet_ofi_ask(struct ofi_endpoint *oe, uint16_t n, uint64_t now_us)
{
    struct ofi_link *link = &oe->link[n];

    if (now_us - link->asked_us < link->ask_pause_us)
        return;
    link->asked_us = now_us;
    link->ask_pause_us = link->ask_pause_us == 0 ? ASK_FIRST_US : 2 * link->ask_pause_us;
    if (link->ask_pause_us > ASK_LAST_US)
        link->ask_pause_us = ASK_LAST_US;
    unet_ofi_send_control(oe, n, OFI_ASK, NULL, 0);
}

/* ---- hearing ------------------------------------------------------------------------------ */

static void bury(struct ofi_endpoint *oe, uint16_t n)
{
    unet_ni_set_state(&oe->ni, n, UNET_DEAD);
    unet_ofi_ranges_forget(oe, n);
}

void unet_ofi_gone(struct ofi_endpoint *oe, uint16_t n)
{
    if (oe->ni.ep.channel[n].state == UNET_OPEN)
        bury(oe, n);
}

static void learn(struct ofi_link *link, const struct ofi_hello *hello)
{
    link->peer_token[0] = hello->token[0];
    link->peer_token[1] = hello->token[1];
    link->peer_channel = hello->channel;
    link->peer_window = hello->window;
}

/* What comes may be for an earlier opening of ours.  So this opens nothing: what carries our token
 * does. */
static void peer_opens(struct ofi_endpoint *oe, uint16_t n, const struct ofi_hello *hello)
{
    struct ofi_link *link = &oe->link[n];
    const enum unet_channel_state state = oe->ni.ep.channel[n].state;

    if (state == UNET_OPEN && !ofi_same_token(link->peer_token, hello->token)) {
        unet_ofi_gone(oe, n); /* it has closed the channel, and opens another one */
        return;
    }
    if (state == UNET_CONNECTING)
        learn(link, hello);
    if (state < UNET_DEAD)
        say_hello(oe, n, OFI_OPENED);
}

static void peer_has_opened(struct ofi_endpoint *oe, uint16_t n, const struct ofi_hello *hello)
{
    if (oe->ni.ep.channel[n].state != UNET_CONNECTING)
        return;
    learn(&oe->link[n], hello);
    unet_ni_set_state(&oe->ni, n, UNET_OPEN);
}

/* False: it is for no channel of ours. */
static bool hello_arrived(struct ofi_endpoint *oe, const struct ofi_header *header,
                          const struct ofi_hello *hello)
{
    const uint16_t n = channel_find(oe, hello->key);
    struct ofi_link *link = &oe->link[n];

    if (n == 0)
        return header->kind == OFI_OPEN; /* early, perhaps: it comes again */
    if (header->kind == OFI_OPEN)
        peer_opens(oe, n, hello);
    else if (header->kind == OFI_CLOSE && ofi_same_token(link->peer_token, hello->token))
        unet_ofi_gone(oe, n);
    else if (header->kind == OFI_OPENED && ofi_same_token(link->token, header->token))
        peer_has_opened(oe, n, hello);
    else
        return false;
    return true;
}

static void message_refused(struct ofi_endpoint *oe, uint16_t n, const struct ofi_header *header)
{
    const struct unet_desc desc = {.channel = n, .user = header->user, .length = header->length};

    unet_refuse(&oe->ni.ep, &oe->ni.errors, &desc, -EMSGSIZE);
}

/* An ASK, an ACK or a REFUSED.  False: it is for no channel of ours. */
static bool note_arrived(struct ofi_endpoint *oe, const struct ofi_header *header)
{
    const uint16_t n = header->channel;
    struct ofi_link *link = &oe->link[n];

    if (!unet_is_channel(&oe->ni.ep, n) || oe->ni.ep.channel[n].state != UNET_OPEN ||
        !ofi_same_token(oe->link[n].token, header->token) || !unet_ofi_acked(link, header->ack))
        return false;
    link->common.heard = true;
    link->ask_pause_us = 0;
    if (header->kind == OFI_ASK) {
        link->answer = true;
        unet_ofi_needs_attention(oe, n);
    } else if (header->kind == OFI_REFUSED) {
        message_refused(oe, n, header);
    }
    return true;
}

static bool hello_well_formed(const struct ofi_hello *hello)
{
    return hello->channel != 0 && hello->window >= 1 && hello->window <= OFI_WINDOW_MOST;
}

void unet_ofi_control(struct ofi_endpoint *oe, const struct ofi_header *header, const uint8_t *data,
                      size_t bytes)
{
    const bool is_hello = header->kind >= OFI_OPEN && header->kind <= OFI_CLOSE;
    struct ofi_hello hello = {0};
    bool ours;

    if (is_hello && bytes == sizeof hello)
        memcpy(&hello, data, sizeof hello);
    if (header->version != OFI_VERSION || header->kind < OFI_OPEN || header->kind > OFI_REFUSED ||
        (is_hello ? !hello_well_formed(&hello) : bytes != 0)) {
        oe->ni.ep.stats.malformed++;
        return;
    }
    ours = is_hello ? hello_arrived(oe, header, &hello) : note_arrived(oe, header);
    oe->ni.ep.stats.foreign += !ours;
}

/* ---- looking for the dead ----------------------------------------------------------------- */

static bool is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return fd >= 0 && poll(&p, 1, 0) > 0;
}

static void knock_end(struct ofi_link *link)
{
    if (link->knock >= 0)
        close(link->knock);
    link->knock = -1;
}

/* Connect to where the peer's endpoint listens.  The provider there drops the connection when it
 * ends without a word. */
static void knock_begin(struct ofi_link *link)
{
    const struct sockaddr *at = (const struct sockaddr *)&link->where;

    link->knock = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->knock >= 0 && connect(link->knock, at, link->where_bytes) < 0 &&
        errno != EINPROGRESS && errno != ECONNREFUSED)
        knock_end(link);
}

/* Whether the answer is that nobody listens. */
static bool knock_is_refused(struct ofi_link *link)
{
    struct pollfd p = {.fd = link->knock, .events = POLLOUT};
    socklen_t length = sizeof(int);
    int error = 0;

    if (link->knock < 0 || poll(&p, 1, 0) <= 0)
        return false;
    getsockopt(link->knock, SOL_SOCKET, SO_ERROR, &error, &length);
    knock_end(link);
    return error == ECONNREFUSED;
}

static bool is_dead(struct ofi_endpoint *oe, uint16_t n)
{
    struct ofi_link *link = &oe->link[n];

    if (link->process >= 0)
        return is_readable(link->process);
    if (link->where_bytes == 0 ||
        (link->ask_pause_us < KNOCK_US && link->common.pause_us < KNOCK_US / 2))
        return false;
    if (link->knock < 0)
        knock_begin(link);
    return knock_is_refused(link);
}

/* What a dead peer has sent is taken in first: a provider may drop it when it finds the connection
 * broken.  A peer that dies before the channel is open is dead as well: whoever has its address
 * knows that it was there. */
static void look(struct ofi_endpoint *oe, uint16_t n)
{
    const uint8_t state = oe->ni.ep.channel[n].state;

    if ((state != UNET_OPEN && state != UNET_CONNECTING) || !is_dead(oe, n))
        return;
    for (int i = 0, empty = 0; i < LAST_READS && empty < 2; i++)
        empty = unet_ofi_receive(oe) > 0 ? 0 : empty + 1;
    if (oe->ni.ep.channel[n].state == state || oe->ni.ep.channel[n].state == UNET_OPEN)
        bury(oe, n);
}

void unet_ofi_tell(struct unet_ni *ni, uint16_t n)
{
    struct ofi_endpoint *oe = ofi_of(&ni->ep);

    if (ni->ep.channel[n].state == UNET_CONNECTING)
        say_hello(oe, n, OFI_OPEN);
    else
        look(oe, n);
    if (ni->ep.channel[n].state == UNET_OPEN)
        unet_ofi_ask(oe, n, unet_now_us());
}

void unet_ofi_state(struct unet_endpoint *ep, uint16_t channel)
{
    struct ofi_endpoint *oe = ofi_of(ep);
    uint16_t asked[UNET_NI_ASK_MOST];

    if (channel == 0)
        unet_ni_ask_some(&oe->ni, asked);
    else
        look(oe, channel);
    if (channel != 0)
        unet_ni_ask(&oe->ni, channel);
    if (oe->ni.connecting > 0)
        unet_ni_tell(&oe->ni);
    unet_ofi_receive(oe);
    unet_ofi_service(oe);
}

/* ---- opening and closing ------------------------------------------------------------------ */

static bool address_parse(const struct ofi_endpoint *oe, const struct unet_address *address,
                          struct ofi_address *peer)
{
    if (address->length != sizeof *peer)
        return false;
    memcpy(peer, address->bytes, sizeof *peer);
    return peer->provider == oe->own.provider && peer->length == oe->own.length;
}

/* The process of a peer on this machine, or -1.  Errors: -EHOSTUNREACH it is gone. */
static int process_open(const struct ofi_endpoint *oe, const struct ofi_address *peer, int *process)
{
    *process = -1;
    if (peer->host != oe->own.host || peer->pid == oe->own.pid)
        return 0;
    *process = (int)syscall(SYS_pidfd_open, (pid_t)peer->pid, 0);
    return *process < 0 && errno == ESRCH ? -EHOSTUNREACH : 0;
}

/* Where a peer on another machine listens. */
static void link_set_where(const struct ofi_endpoint *oe, struct ofi_link *link,
                           const struct ofi_address *peer)
{
    if (peer->host == oe->own.host || !unet_ofi_provider(oe->fabric.provider)->listens ||
        peer->length > sizeof link->where)
        return;
    memcpy(&link->where, peer->name, peer->length);
    link->where_bytes = peer->length;
}

/* Addresses stay in the table until the endpoint closes: providers differ in what they do of one
 * that is inserted or removed twice, and inserting it again costs nothing. */
static int link_open(struct ofi_endpoint *oe, struct ofi_link *link, const struct ofi_address *peer,
                     uint64_t tag)
{
    int error;

    *link = (struct ofi_link){
        .process = -1, .knock = -1, .attended = link->attended, .next = link->next};
    link->key_in = unet_direction_key(tag, peer->nonce, oe->own.nonce);
    link->key_out = unet_direction_key(tag, oe->own.nonce, peer->nonce);
    if (channel_find(oe, link->key_in) != 0)
        return -EEXIST;
    if (getrandom(link->token, sizeof link->token, 0) != sizeof link->token)
        return -EIO;
    oe->receives_wanted += oe->window + OFI_CONTROLS;
    error = unet_ofi_receives_make(oe);
    if (error == 0)
        error = process_open(oe, peer, &link->process);
    if (error == 0 && fi_av_insert(oe->fabric.av, peer->name, 1, &link->address, 0, NULL) != 1)
        error = -EADDRNOTAVAIL;
    if (error)
        oe->receives_wanted -= oe->window + OFI_CONTROLS;
    link_set_where(oe, link, peer);
    return error;
}

static void link_close(struct ofi_link *link)
{
    knock_end(link);
    if (link->process >= 0)
        close(link->process);
    link->process = -1;
}

int unet_ofi_connect(struct unet_endpoint *ep, const struct unet_address *address, uint64_t tag,
                     uint16_t *channel)
{
    struct ofi_endpoint *oe = ofi_of(ep);
    const uint16_t n = unet_ni_closed_channel(&oe->ni);
    struct ofi_address peer;
    int error;

    if (!address_parse(oe, address, &peer))
        return -EADDRNOTAVAIL;
    if (n == 0)
        return channel_find(oe, unet_direction_key(tag, peer.nonce, oe->own.nonce)) ? -EEXIST
                                                                                    : -ENOSPC;
    error = link_open(oe, &oe->link[n], &peer, tag);
    if (error) {
        link_close(&oe->link[n]);
        return error;
    }
    bucket_insert(oe, n);
    unet_ni_connecting(&oe->ni, n);
    unet_ni_tell(&oe->ni);
    *channel = n;
    return 0;
}

/* What the peer has written until then is in the rings, and is dropped. */
void unet_ofi_disconnect(struct unet_endpoint *ep, uint16_t channel)
{
    struct ofi_endpoint *oe = ofi_of(ep);

    unet_ofi_service(oe);
    say_close(oe, channel);
    unet_ni_set_state(&oe->ni, channel, UNET_CLOSED);
    bucket_remove(oe, channel);
    unet_ofi_service(oe); /* completes what the provider did not take */
    unet_drop_unread(&ep->rx[channel]);
    unet_ofi_drop_held(oe, channel);
    unet_ofi_ranges_forget(oe, channel);
    link_close(&oe->link[channel]);
    oe->receives_wanted -= oe->window + OFI_CONTROLS;
}

void unet_ofi_close_all(struct ofi_endpoint *oe)
{
    for (uint32_t n = 1; n < oe->ni.ep.rx_rings; n++) {
        if (oe->ni.ep.channel[n].state != UNET_CLOSED)
            say_close(oe, (uint16_t)n);
        link_close(&oe->link[n]);
    }
}
