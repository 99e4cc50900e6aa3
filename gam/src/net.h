/* SPDX-License-Identifier: BSD-3-Clause
 *
 * net.h - messages that arrive once and in order, over packets that may not.
 *
 * A pure state machine: there is no clock, no socket and no thread in it.  Time, packets
 * and randomness come in; packets and messages come out.  Whoever drives it
 *
 *   gives it messages to send        gam_net_send
 *   gives it packets that arrived    gam_net_receive -> deliver, for each message
 *   takes packets that have to go    gam_net_transmit, until there is none
 *   comes back in time               gam_net_deadline
 *
 * Each pair of ranks is a *link*; links are made when the first message goes or the first
 * authentic packet comes, so ranks that never talk cost nothing.  Packets of a link are
 * numbered, acknowledged by what flows the other way, and sent again when they got
 * lost.  docs/protocol.md has the protocol and its rules.
 *
 * `now` is in microseconds from any start and never goes back.
 */
#ifndef GAM_NET_H
#define GAM_NET_H

#include "packet.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gam_net;

enum {
    GAM_NET_WINDOW = 256,     /* packets of a link that may be on their way */
    GAM_NET_PACKET_MIN = 256, /* bytes */
    GAM_NET_PACKET_MAX = 65000,
};
#define GAM_NET_NEVER UINT64_MAX

/* A message that arrived, or a part of it: parts come in order and without anything
 * of that source in between.  May send. */
typedef void gam_net_deliver_fn(void *arg, uint32_t source, uint32_t user, const void *data,
                                size_t length, bool more);

/* A rank has not been heard of for the peer timeout, or not got what was sent to it
 * (gam_net_reaches). Told once. */
typedef void gam_net_died_fn(void *arg, uint32_t rank);

struct gam_net_config {
    uint32_t ranks;           /* 1..65536 */
    uint32_t rank;            /* this one's */
    uint64_t key[2];          /* the job's; whoever has it is believed */
    uint64_t seed;            /* of the jitter of timers */
    uint32_t packet_bytes;    /* the longest packet that we send */
    uint32_t packet_sure;     /* what passes everywhere: longer ones are tried first.  0: all do */
    uint32_t batch;           /* so many bytes of packets are worth a call of gam_net_transmit,
                                 when others are on their way */
    uint32_t backlog;         /* packets that can wait for us before some get lost */
    uint64_t peer_timeout_us; /* 0: nobody is ever taken for dead */
    bool go_back_n;           /* keep no packet that comes out of order */
    gam_net_deliver_fn *deliver;
    gam_net_died_fn *died;
    void *arg; /* of both */
};

/* Why an arrival was refused. */
enum gam_net_refusal {
    GAM_NET_SHORT,     /* shorter than a header, or than it says */
    GAM_NET_VERSION,   /* another version, or flags that this one does not know */
    GAM_NET_STRANGER,  /* not for this rank, or from none of the job's */
    GAM_NET_FORGED,    /* the hash is wrong */
    GAM_NET_MALFORMED, /* its frames contradict its length */
    GAM_NET_FUTURE,    /* beyond the window, or acknowledges what was never sent */
    GAM_NET_DEAD,      /* from a rank that was given up */
    GAM_NET_NO_MEMORY, /* no room to keep it: as if it had been lost */
    GAM_NET_REFUSALS,
};

struct gam_net_stats {
    uint64_t sent;         /* packets, all kinds */
    uint64_t sent_again;   /* of those, packets sent before */
    uint64_t acks;         /* of those, packets without frames */
    uint64_t pings;        /* of those, heartbeats */
    uint64_t probes;       /* packets that only ask whether one of their length passes */
    uint64_t narrow;       /* links whose way does not let pass what our interface takes */
    uint64_t timeouts;     /* times a link's timer ran out */
    uint64_t congestions;  /* times a link's window was cut */
    uint64_t received;     /* packets, all kinds, refused ones too */
    uint64_t duplicates;   /* packets that had come before */
    uint64_t early;        /* packets that overtook others */
    uint64_t messages_in;  /* messages delivered */
    uint64_t messages_out; /* messages taken */
    uint64_t refused[GAM_NET_REFUSALS];
    uint64_t links;   /* made so far */
    uint64_t parcels; /* packet buffers that there are, free ones too */
};

/* Errors: -EINVAL a field is out of range, -ENOMEM. */
int gam_net_open(const struct gam_net_config *config, struct gam_net **net);
void gam_net_close(struct gam_net *net);

/* A message in two parts, one behind the other. */
struct gam_text {
    const void *head;
    const void *body;
    size_t head_bytes;
    size_t body_bytes;
};

/* Take a message for a rank.  The bytes may be reused at once.
 * Errors: -EAGAIN the window is full, -EPIPE the rank is dead, -EMSGSIZE it takes more than
 * half a window of packets, -ENOMEM. */
int gam_net_send(struct gam_net *net, uint64_t now, uint32_t rank, uint32_t user, const void *data,
                 size_t length);
int gam_net_send_text(struct gam_net *net, uint64_t now, uint32_t rank, uint32_t user,
                      const struct gam_text *text);

/* A packet arrived: any bytes, aligned to 8. */
void gam_net_receive(struct gam_net *net, uint64_t now, const void *packet, size_t length);

/* The next packet to go now, to which rank; NULL when there is none.  It has to be on
 * its way, or copied, before the next call of any function. */
const void *gam_net_transmit(struct gam_net *net, uint64_t now, uint32_t *rank, size_t *length);

/* Forget what waits for a rank that is known to be dead; `died` is not told. */
void gam_net_give_up(struct gam_net *net, uint32_t rank);

/* The keyed hash of memory that was granted: see gam_direct_sum. */
uint64_t gam_net_sum(const struct gam_net *net, uint64_t grant, const void *data, size_t n);

/* The time at which gam_net_transmit has to be called again, if nothing else happens. */
uint64_t gam_net_deadline(const struct gam_net *net);

/* What was not heard before that time says nothing: we may have been away ourselves. */
uint64_t gam_net_grace(const struct gam_net *net);

/* Whether an authentic packet has ever come from a rank. */
bool gam_net_answers(const struct gam_net *net, uint32_t rank);

/* False: a rank was taken for dead that answered, but for a peer timeout did not get what was sent
 * to it again and again. */
bool gam_net_reaches(const struct gam_net *net, uint32_t rank);

/* Nothing of ours is on its way to, or waits for, any rank that lives. */
bool gam_net_idle(const struct gam_net *net);

void gam_net_stats(const struct gam_net *net, struct gam_net_stats *stats);

/* What it costs: bytes per link, and per link at the worst, buffers included. */
size_t gam_net_link_bytes(void);
size_t gam_net_link_bytes_max(const struct gam_net *net);

#ifdef __cplusplus
}
#endif
#endif
