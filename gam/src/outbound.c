/* SPDX-License-Identifier: BSD-3-Clause
 *
 * outbound.c - what goes: messages into packets, windows, losses, congestion.
 *
 * A packet is taken for lost when LATER transmissions after its last one are known to
 * have arrived.  When the timer of its link runs out, the peer may as well be computing: the first
 * packet goes again and asks for an answer, and what that does not tell of is lost.
 *
 * How many packets may be in flight is the least of
 *   share   what the receiver allows: an equal part, for each active sender, of what can wait
 *           for it;
 *   window  what the network bears: doubles per round trip up to `threshold`, then grows by one,
 *           and is cut, once per window, when packets are lost: by half where the round trip
 *           has grown, too, which means that a queue was full; by one and a 64th where it has not,
 *           as on a line that is merely bad; and to SMALLEST by losses that only a timeout showed.
 */
#include "link.h"
#include <string.h>

enum {
    LATER = 3,
    SMALLEST = 2, /* packets, whatever was lost */
    START = 8,    /* packets, before anything is known */
    START_SHARE = 8,
    NO_ROOM = 64, /* a packet with less room than that waits for no other message */
    REPEATS = 3,  /* of one acknowledgement mean a loss, go-back-N only */

    TIMEOUT_START_US = 20000,
    TIMEOUT_LEAST_US = 500,
    TIMEOUT_MOST_US = 500000,
    BACKOFF_MOST = 16,
    TIMEOUTS_BEFORE_DEATH = 16, /* about that many fit into the peer timeout, at the least */
};

void gam_link_outbound_open(struct gam_link *link)
{
    link->first = link->next = link->end = 1;
    link->share = START_SHARE;
    link->window = START;
    link->threshold = GAM_NET_WINDOW;
    link->least = GAM_NET_NEVER;
    link->timeout_at = GAM_NET_NEVER;
    link->denied = GAM_NET_NEVER;
}

/* ---- messages into packets -------------------------------------------------------- */

static uint32_t frame_data_max(const struct gam_link *link)
{
    return link->longest - (uint32_t)(sizeof(struct gam_packet) + sizeof(struct gam_frame));
}

/* The packet that has not gone and can take more, or NULL. */
static struct gam_parcel *open_parcel(const struct gam_link *link)
{
    return link->end > link->next ? link->out[gam_link_at(link->end - 1)] : NULL;
}

static uint32_t room_in(const struct gam_link *link, const struct gam_parcel *parcel)
{
    return parcel ? link->longest - parcel->length : 0;
}

static struct gam_parcel *next_parcel(struct gam_net *net, struct gam_link *link)
{
    struct gam_parcel *parcel = gam_net_parcel(net);

    parcel->length = sizeof(struct gam_packet);
    parcel->lost = parcel->again = false;
    link->out[gam_link_at(link->end++)] = parcel;
    return parcel;
}

/* Copies the next `length` bytes of a text, which is then what follows them. */
static void take_text(struct gam_text *text, uint8_t *to, size_t length)
{
    const size_t head = gam_min(length, text->head_bytes), body = length - head;

    if (head > 0) {
        memcpy(to, text->head, head);
        text->head = (const uint8_t *)text->head + head;
        text->head_bytes -= head;
    }
    if (body > 0) {
        memcpy(to + head, text->body, body);
        text->body = (const uint8_t *)text->body + body;
        text->body_bytes -= body;
    }
}

static void add_frame(struct gam_parcel *parcel, uint32_t user, struct gam_text *text,
                      size_t length, bool more)
{
    const struct gam_frame frame = {
        .user = user,
        .length = (uint16_t)length,
        .flags = more ? GAM_FRAME_MORE : 0,
    };

    memcpy(parcel->bytes + parcel->length, &frame, sizeof(frame));
    parcel->length += sizeof(frame);
    take_text(text, parcel->bytes + parcel->length, length);
    parcel->length += (uint32_t)length;
}

/* Into new packets, `count` of them. */
static void add_parts(struct gam_net *net, struct gam_link *link, uint32_t user,
                      struct gam_text *text, uint64_t count)
{
    for (; count > 0; count--) {
        const size_t n = gam_min(text->head_bytes + text->body_bytes, frame_data_max(link));

        add_frame(next_parcel(net, link), user, text, n, count > 1);
    }
}

/* So many new packets can be had now. */
static int check_room(struct gam_net *net, const struct gam_link *link, uint64_t count)
{
    if (count > GAM_NET_WINDOW / 2)
        return -EMSGSIZE;
    if (link->end - link->first + count > GAM_NET_WINDOW)
        return -EAGAIN;
    return gam_net_stock(net, (uint32_t)count);
}

/* One that does not fit into the packet that can take more begins there all the same, if it is
 * worth it: streams go in full packets, which networks like best. */
static int add_message(struct gam_net *net, struct gam_link *link, uint64_t now, uint32_t user,
                       struct gam_text text)
{
    const size_t length = text.head_bytes + text.body_bytes;
    struct gam_parcel *last = open_parcel(link);
    const uint32_t room = room_in(link, last), most = frame_data_max(link);
    const size_t first = room >= NO_ROOM ? room - sizeof(struct gam_frame) : 0;
    uint64_t count;
    int rc;

    if (room >= sizeof(struct gam_frame) + length) {
        add_frame(last, user, &text, length, false);
        return 0;
    }
    if (last || length > most)
        gam_path_want(net, link, now);
    count = length > 0 ? (length - first + most - 1) / most : 1;
    rc = check_room(net, link, count);
    if (rc)
        return rc;
    if (first > 0)
        add_frame(last, user, &text, first, true);
    add_parts(net, link, user, &text, count);
    return 0;
}

int gam_net_send_text(struct gam_net *net, uint64_t now, uint32_t rank, uint32_t user,
                      const struct gam_text *text)
{
    struct gam_link *link = gam_net_link(net, now, rank);
    int rc;

    if (!link)
        return -ENOMEM;
    if (link->dead)
        return -EPIPE;
    rc = add_message(net, link, now, user, *text);
    if (rc)
        return rc;
    net->stats.messages_out++;
    gam_net_ready(net, link);
    return 0;
}

int gam_net_send(struct gam_net *net, uint64_t now, uint32_t rank, uint32_t user, const void *data,
                 size_t length)
{
    const struct gam_text text = {.body = data, .body_bytes = length};

    return gam_net_send_text(net, now, rank, user, &text);
}

/* ---- packets on their way ------------------------------------------------------------ */

static uint64_t round_trip_bound(const struct gam_link *link)
{
    const uint64_t bound =
        link->trip ? link->trip / 8 + link->deviation : (uint64_t)TIMEOUT_START_US;

    return bound < TIMEOUT_LEAST_US ? (uint64_t)TIMEOUT_LEAST_US : bound;
}

/* Doubles with each timeout in a row.  Up to an eighth is left to chance, so that links that lost
 * together do not come back together. */
static void start_timer(struct gam_net *net, struct gam_link *link, uint64_t now)
{
    uint64_t wait = gam_min(round_trip_bound(link) << link->backoff, TIMEOUT_MOST_US);

    if (net->config.peer_timeout_us)
        wait = gam_min(wait, 1 + net->config.peer_timeout_us / TIMEOUTS_BEFORE_DEATH);
    link->timeout_at = now + wait + gam_net_random(net, wait / 8 + 1);
    gam_net_due(net, link, link->timeout_at);
}

static void await_sign(struct gam_net *net, struct gam_link *link, uint64_t now)
{
    if (link->waiting == GAM_NET_NEVER)
        link->waiting = now;
    if (net->config.peer_timeout_us)
        gam_net_due(net, link, link->waiting + net->config.peer_timeout_us);
}

static uint8_t flags_of(const struct gam_link *link)
{
    unsigned flags = link->came ? GAM_PACKET_PASSED : 0;

    if (link->ping || link->beat)
        flags |= GAM_PACKET_PING | (unsigned)link->question << GAM_PACKET_ASKED;
    if (link->pinged)
        flags |= GAM_PACKET_ANSWER | (unsigned)link->answer << GAM_PACKET_ANSWERED;
    return (uint8_t)flags;
}

void gam_link_seal(struct gam_net *net, struct gam_link *link, struct gam_packet *packet,
                   size_t length)
{
    packet->source = (uint16_t)net->config.rank;
    packet->dest = (uint16_t)link->rank;
    packet->length = (uint16_t)(length - sizeof(*packet));
    packet->version = GAM_PACKET_VERSION;
    packet->flags |= flags_of(link);
    packet->passed = (uint16_t)link->came;
    link->came = 0;
    gam_link_acknowledge(net, link, packet);
    packet->mac = gam_packet_mac(&net->mac, packet, link->expected, length);
    net->stats.pings += link->ping || link->beat;
    link->pinged = false;
    if (link->beat)
        link->beat = false;
    else
        link->ping = false;
    net->stats.sent++;
}

static const struct gam_packet *send_packet(struct gam_net *net, struct gam_link *link,
                                            uint64_t now, uint64_t number, size_t *length)
{
    struct gam_parcel *parcel = link->out[gam_link_at(number)];

    parcel->sent_at = now;
    link->order++;
    if (!parcel->again || link->backoff == 0) /* else what tells of it may mean the first time */
        parcel->order = link->order;
    link->in_flight++;
    link->spoke = now;
    if (link->timeout_at == GAM_NET_NEVER)
        start_timer(net, link, now);
    await_sign(net, link, now);
    parcel->packet.number = number;
    parcel->packet.flags = 0;
    gam_link_seal(net, link, &parcel->packet, parcel->length);
    *length = parcel->length;
    return &parcel->packet;
}

static const struct gam_packet *send_lost(struct gam_net *net, struct gam_link *link, uint64_t now,
                                          size_t *length)
{
    uint64_t number = link->first;
    struct gam_parcel *parcel;

    while (!(parcel = link->out[gam_link_at(number)]) || !parcel->lost)
        number++;
    link->lost--;
    link->tries += number == link->first;
    link->resent += !parcel->again;
    parcel->lost = false;
    parcel->again = true;
    net->stats.sent_again++;
    return send_packet(net, link, now, number, length);
}

static const struct gam_packet *send_bare(struct gam_net *net, struct gam_link *link, uint64_t now,
                                          size_t *length)
{
    link->spoke = now;
    net->stats.acks++;
    if (link->ping || link->beat)
        await_sign(net, link, now);
    net->bare.number = 0;
    net->bare.flags = 0;
    gam_link_seal(net, link, &net->bare, sizeof(net->bare));
    *length = sizeof(net->bare);
    return &net->bare;
}

static bool has_room(const struct gam_link *link, const struct gam_parcel *parcel)
{
    return room_in(link, parcel) >= NO_ROOM;
}

/* What is sent while few packets are on their way may all go: the end of a message does not wait
 * for its beginning to be acknowledged.  Else a packet with room waits for more messages while
 * another such is on its way (Minshall's form of Nagle's rule), and full ones wait to be so many
 * that it pays to take them to the network; or, when an acknowledgement comes, as many as are still
 * on their way: a train let go by each would be as short as what was acknowledged. */
static bool new_may_go(const struct gam_net *net, struct gam_link *link)
{
    const uint64_t count = link->end - link->next;
    const bool few = link->in_flight < GAM_LINK_EAGER;

    if (count == 0 || link->eager)
        return count > 0;
    if (count == 1 && !few && has_room(link, open_parcel(link)))
        return link->roomy <= link->first;
    link->eager = few || (link->news && count >= link->in_flight) ||
                  count * link->longest >= net->config.batch;
    return link->eager;
}

static const struct gam_packet *send_new(struct gam_net *net, struct gam_link *link, uint64_t now,
                                         size_t *length)
{
    const uint64_t number = link->next++;

    if (has_room(link, link->out[gam_link_at(number)]))
        link->roomy = number + 1;
    return send_packet(net, link, now, number, length);
}

/* The packet that went again by a timeout goes whatever the window says. */
static bool asks(const struct gam_link *link)
{
    return link->ping && link->backoff > 0;
}

const struct gam_packet *gam_link_transmit(struct gam_net *net, struct gam_link *link, uint64_t now,
                                           size_t *length)
{
    const bool room = link->in_flight < gam_min(link->share, link->window);

    if (link->beat)
        return send_bare(net, link, now, length);
    if (link->lost > 0 && (room || asks(link)))
        return send_lost(net, link, now, length);
    if (room && new_may_go(net, link))
        return send_new(net, link, now, length);
    link->news = false;
    link->eager = false;
    if (link->ack_now || link->ping)
        return send_bare(net, link, now, length);
    return gam_path_probe(net, link, now, length);
}

/* ---- losses ---------------------------------------------------------------------------- */

/* A packet that was sent, neither arrived nor known to be lost; or NULL. */
static struct gam_parcel *flying(const struct gam_link *link, uint64_t number)
{
    struct gam_parcel *parcel = link->out[gam_link_at(number)];

    return parcel && !parcel->lost ? parcel : NULL;
}

static void lose(struct gam_link *link, struct gam_parcel *parcel)
{
    parcel->lost = true;
    link->lost++;
    link->in_flight--;
}

static bool queue_has_grown(const struct gam_link *link)
{
    return link->latest > link->least + link->least / 2;
}

static void cut_window(struct gam_net *net, struct gam_link *link, uint32_t to)
{
    link->window = to < SMALLEST ? (uint32_t)SMALLEST : to;
    link->threshold = link->window;
    link->growth = 0;
    link->recovery = link->next;
    net->stats.congestions++;
}

static void lost_one(struct gam_net *net, struct gam_link *link, uint64_t number)
{
    const uint32_t window = link->window;

    lose(link, link->out[gam_link_at(number)]);
    if (number >= link->recovery)
        cut_window(net, link, queue_has_grown(link) ? window / 2 : window - 1 - window / 64);
}

/* Among those of which the receiver can tell. */
static void find_lost(struct gam_net *net, struct gam_link *link)
{
    const uint64_t end = gam_min(link->next, link->first + 1 + GAM_LINK_SELECTED);

    for (uint64_t n = link->first; n < end; n++) {
        const struct gam_parcel *parcel = flying(link, n);

        if (parcel && parcel->order + LATER <= link->confirmed)
            lost_one(net, link, n);
    }
}

static void lose_all(struct gam_link *link)
{
    for (uint64_t n = link->first; n < link->next; n++) {
        struct gam_parcel *parcel = flying(link, n);

        if (parcel)
            lose(link, parcel);
    }
}

/* What comes back to it after the first of several timeouts grows fast up to half of what was. */
static void begin_anew(struct gam_link *link)
{
    if (link->backoff == 0)
        link->threshold = link->window / 2 < SMALLEST ? (uint32_t)SMALLEST : link->window / 2;
    link->window = SMALLEST;
    link->recovery = link->next;
}

/* The first packet that is not acknowledged goes again, and wants to be answered.  What asks later,
 * the next timeouts and heartbeats, repeats the question: its answers tell of all before as well,
 * and where the round trip takes longer than the pauses between them none would ever count. */
static void ask(struct gam_link *link)
{
    struct gam_parcel *first = flying(link, link->first);

    if (first)
        lose(link, first);
    if (link->backoff == 0) {
        link->asked = link->order;
        link->question = (link->question + 1) % GAM_PACKET_QUESTIONS;
    }
    link->ping = true;
}

void gam_link_timeout(struct gam_net *net, struct gam_link *link, uint64_t now)
{
    net->stats.timeouts++;
    if (net->config.go_back_n) {
        lose_all(link);
        begin_anew(link);
    } else {
        ask(link);
    }
    if (link->backoff < BACKOFF_MOST)
        link->backoff++;
    start_timer(net, link, now);
}

/* Who answers is alive, but what goes to it may all get lost: packets of a length that the way
 * takes no more, as a rule.  It was sent often enough, and for long enough, when for a peer timeout
 * in which we were not away ourselves the answers say that it has not come.  Who computes answers
 * nothing, or has got it; and a full window holds back what has not gone yet. */
static void count_denial(struct gam_net *net, struct gam_link *link, uint64_t now)
{
    const uint64_t timeout = net->config.peer_timeout_us;

    if (link->first == link->next)
        return;
    if (link->denied == GAM_NET_NEVER || link->denied < net->grace) {
        link->denied = now;
        link->tries = 0;
    } else if (timeout && now - link->denied >= timeout && link->tries >= TIMEOUTS_BEFORE_DEATH) {
        link->unreached = true;
        gam_net_due(net, link, now);
    }
}

void gam_link_answered(struct gam_net *net, struct gam_link *link, uint64_t now, uint8_t question)
{
    const uint32_t lost = link->lost;

    if (question != link->question)
        return; /* it came late, and knows nothing of what went since */
    count_denial(net, link, now);
    for (uint64_t n = link->first; n < link->next; n++) {
        struct gam_parcel *parcel = flying(link, n);

        if (parcel && parcel->order <= link->asked)
            lose(link, parcel);
    }
    if (link->lost > lost) {
        begin_anew(link);
        net->stats.congestions++;
        gam_net_ready(net, link);
    }
    link->asked = 0;
}

/* ---- acknowledgements --------------------------------------------------------------------- */

/* Jacobson's estimator, in whole microseconds. */
static void measure(struct gam_link *link, uint64_t trip)
{
    int64_t error;

    trip += trip == 0;
    link->latest = trip;
    if (trip < link->least)
        link->least = trip;
    if (link->trip == 0) {
        link->trip = 8 * trip;
        link->deviation = 2 * trip;
        return;
    }
    error = (int64_t)trip - (int64_t)(link->trip / 8);
    link->trip = (uint64_t)((int64_t)link->trip + error);
    link->deviation += (uint64_t)(error < 0 ? -error : error);
    link->deviation -= link->deviation / 4;
}

static void grow_window(struct gam_link *link)
{
    if (link->window >= GAM_NET_WINDOW)
        return;
    if (link->window < link->threshold) {
        link->window++;
    } else if (++link->growth >= link->window) {
        link->growth = 0;
        link->window++;
    }
}

/* False: we knew. */
static bool arrived(struct gam_net *net, struct gam_link *link, uint64_t now, uint64_t number)
{
    struct gam_parcel *parcel = link->out[gam_link_at(number)];

    if (!parcel)
        return false;
    if (parcel->lost)
        link->lost--;
    else
        link->in_flight--;
    if (parcel->again)
        link->resent--;
    else
        measure(link, now - parcel->sent_at);
    if (parcel->order > link->confirmed)
        link->confirmed = parcel->order;
    grow_window(link);
    gam_net_parcel_free(net, parcel);
    link->out[gam_link_at(number)] = NULL;
    return true;
}

static void arrived_below(struct gam_net *net, struct gam_link *link, uint64_t now, uint64_t ack)
{
    for (; link->first < ack; link->first++) {
        if (!arrived(net, link, now, link->first))
            link->beyond--;
    }
}

static void arrived_early(struct gam_net *net, struct gam_link *link, uint64_t now,
                          uint64_t selected)
{
    for (; selected; selected &= selected - 1) {
        const uint64_t number = link->first + 1 + (uint64_t)__builtin_ctzll(selected);

        if (number >= link->next)
            break;
        link->beyond += arrived(net, link, now, number);
    }
}

/* Without selection a loss shows in acknowledgements that stand still. */
static void count_repeats(struct gam_net *net, struct gam_link *link,
                          const struct gam_packet *packet, bool news)
{
    if (news || packet->number != 0 || link->in_flight == 0) {
        link->repeats = 0;
    } else if (++link->repeats == REPEATS && link->first >= link->recovery) {
        cut_window(net, link, link->window / 2);
        lose_all(link);
    }
}

bool gam_link_acked(struct gam_net *net, struct gam_link *link, uint64_t now,
                    const struct gam_packet *packet)
{
    const uint64_t ack = gam_link_ack(link, packet);
    const int64_t news = (int64_t)(ack - link->first);
    const uint32_t beyond = link->beyond;
    const bool disordered = beyond > 0 || link->resent > 0;

    if (news < 0)
        return true; /* overtaken by a later one */
    if (ack > link->next)
        return false;
    arrived_below(net, link, now, ack);
    arrived_early(net, link, now, packet->selected);
    link->share = packet->window > 0 ? packet->window : 1;
    if (news > 0)
        link->denied = GAM_NET_NEVER;
    if (news > 0 || link->beyond != beyond) {
        link->backoff = 0;
        link->news = true;
        if (disordered || link->beyond > 0)
            find_lost(net, link);
        link->timeout_at = GAM_NET_NEVER;
        if (link->first < link->next)
            start_timer(net, link, now);
    }
    if (net->config.go_back_n)
        count_repeats(net, link, packet, news > 0);
    if (link->first < link->end)
        gam_net_ready(net, link);
    return true;
}
