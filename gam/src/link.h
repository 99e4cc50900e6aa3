/* SPDX-License-Identifier: BSD-3-Clause
 *
 * link.h - the state of one link, and what the sources of the protocol share.
 *
 *   net.c       instances, links, buffers, timers
 *   outbound.c  what goes: windows, losses, round trips, congestion
 *   path.c      how long what goes may be
 *   inbound.c   what comes: checking, order, acknowledging
 *
 * Packets are numbered from 1 in 64 bits and never wrap.  What is kept per packet stands in
 * arrays at `number % GAM_NET_WINDOW`.
 *
 *   first            next              end
 *     |  on their way  |  not yet sent  |        all within a window
 */
#ifndef GAM_LINK_H
#define GAM_LINK_H

#include "mac.h"
#include "net.h"
#include <errno.h>

/* A packet in memory: waiting to go or to be acknowledged; or come early. */
struct gam_parcel {
    struct gam_parcel *next; /* of the free ones */
    uint64_t sent_at;        /* of what goes: when it last went */
    uint64_t order;          /* and which of the link's transmissions that was */
    uint32_t length;         /* bytes used, header included */
    bool lost;               /* has to go again */
    bool again;              /* went more than once, so tells nothing about round trips */
    union {
        struct gam_packet packet;
        uint8_t bytes[1]; /* as many as a packet can have */
    };
};

struct gam_link {
    uint32_t rank;
    bool dead;
    bool ready; /* on the list of those that may have something to send */
    bool ack_now;
    bool ping;
    bool beat;        /* the same by a packet of its own: what has frames may be what gets lost */
    bool pinged;      /* the peer's is to be answered, */
    bool news;        /* an acknowledgement came, and what it lets go has not all gone */
    bool eager;       /* all that was sent may go, and has not yet */
    uint8_t answer;   /* of that number; */
    uint8_t question; /* ours had this one */
    struct gam_link *next_ready;

    /* outbound */
    uint64_t first, next, end;
    uint64_t roomy;     /* 1 + the last packet that went with room for more; 0: none */
    uint32_t beyond;    /* packets that have arrived, though not all before them */
    uint32_t lost;      /* packets that have to go again */
    uint32_t resent;    /* packets that went again and have not arrived */
    uint64_t order;     /* transmissions so far */
    uint64_t confirmed; /* the latest of them that is known to have arrived */
    uint64_t recovery;  /* losses below this packet have cut the window already */
    uint64_t asked;     /* of transmissions up to this one we wait to be told; 0: of none */
    uint32_t in_flight; /* sent, and neither acknowledged nor taken for lost */
    uint32_t share;     /* packets in flight that the peer lets us have */
    uint32_t window;    /* and that the network seems to bear */
    uint32_t threshold; /* up to which the window grows fast */
    uint32_t growth;    /* acknowledged since it last grew */
    uint32_t repeats;   /* of one acknowledgement, go-back-N only */

    /* round trips, in us */
    uint64_t trip;       /* smoothed, times 8 */
    uint64_t deviation;  /* times 4 */
    uint64_t latest;     /* the last one */
    uint64_t least;      /* the shortest one */
    uint32_t backoff;    /* timeouts in a row */
    uint64_t timeout_at; /* all times: GAM_NET_NEVER when there is nothing to wait for */

    /* lengths of packets */
    uint32_t longest;  /* that we send */
    uint32_t rung;     /* which of the longer ones is tried */
    uint32_t probes;   /* 1 + how many of it have gone; 0: none is wanted yet */
    uint64_t probe_at; /* when the next goes */
    uint32_t came;     /* a probe of the peer's, of that length, to be answered; 0: none */

    /* inbound */
    uint64_t expected; /* the first that has not arrived */
    uint32_t held;     /* packets that arrived early */
    uint32_t owed;     /* packets to be acknowledged */
    uint64_t ack_at;
    uint64_t epoch; /* when it last counted as an active sender */

    /* life */
    uint64_t heard;   /* when the last packet came */
    bool answers;     /* one ever came */
    uint64_t spoke;   /* when the last one went */
    uint64_t waiting; /* since when we wait for a sign of life */
    uint64_t denied;  /* since when the peer answers that it has not got `first` */
    uint32_t tries;   /* how often that has gone again since */
    bool unreached;   /* it never got there: we give up */
    uint64_t due;     /* in the heap: not later than the first of its times */
    uint32_t heap_at; /* where in the heap */

    struct gam_parcel **early;              /* a window of those, or NULL; none held: NULL */
    struct gam_parcel *out[GAM_NET_WINDOW]; /* from `first` to `end`; NULL: has arrived */
};

struct gam_net {
    struct gam_net_config config;
    struct gam_mac mac;
    struct gam_link **link; /* hashed by rank, at most half of the places taken, or NULL */
    uint32_t link_bits;     /* there are 2 to the power of that many */
    struct gam_link **heap; /* of all living links, the first due on top */
    uint32_t heap_count;
    uint32_t heap_room;
    struct gam_link *ready_first, *ready_last;
    uint32_t burst;           /* packets that the first ready link has sent in a row */
    struct gam_parcel *spare; /* free parcels, */
    uint32_t spares;          /* so many */
    uint64_t random;
    uint64_t ticked;      /* when the timers last ran */
    uint64_t grace;       /* nobody is dead by what was not heard before */
    uint64_t epoch_start; /* counting active senders */
    uint32_t active, active_before;
    struct gam_net_stats stats;
    struct gam_packet bare;   /* a packet without frames, on its way out */
    struct gam_parcel *probe; /* the same of a probe; NULL: there was none yet */
};

enum {
    GAM_NET_SPARES = 2 * GAM_NET_WINDOW, /* free parcels that are kept: as many as one link needs */
    GAM_LINK_EAGER = 2, /* with fewer packets than that in flight, all that is sent goes */
    GAM_LINK_ACK_EVERY = 2,
    GAM_LINK_SELECTED =
        64, /* packets behind the first missing one that an acknowledgement tells of */
    GAM_LINK_ACK_US = 100, /* an acknowledgement waits no longer for something to ride on */
};

static inline uint32_t gam_link_at(uint64_t number)
{
    return number % GAM_NET_WINDOW;
}

static inline uint64_t gam_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What a packet acknowledges: the number of which it has the low half that is next to what we wait
 * for.  No link: there is nothing yet. */
static inline uint64_t gam_link_ack(const struct gam_link *link, const struct gam_packet *packet)
{
    const uint64_t first = link ? link->first : 1;

    return first + (uint64_t)(int64_t)(int32_t)(packet->ack - (uint32_t)first);
}

/* ---- net.c ------------------------------------------------------------------ */

/* The link to a rank, or NULL. */
struct gam_link *gam_net_find(const struct gam_net *net, uint32_t rank);

/* The link to a rank, made if need be; NULL: no memory. */
struct gam_link *gam_net_link(struct gam_net *net, uint64_t now, uint32_t rank);

/* It may have something to send. */
void gam_net_ready(struct gam_net *net, struct gam_link *link);

/* It has to be looked at by then. */
void gam_net_due(struct gam_net *net, struct gam_link *link, uint64_t at);

/* Parcels for `count` packets are at hand.  -ENOMEM. */
int gam_net_stock(struct gam_net *net, uint32_t count);
struct gam_parcel *gam_net_parcel(struct gam_net *net);
void gam_net_parcel_free(struct gam_net *net, struct gam_parcel *parcel);

/* A number in 0 .. below - 1. */
uint64_t gam_net_random(struct gam_net *net, uint64_t below);

/* ---- outbound.c -------------------------------------------------------------- */

void gam_link_outbound_open(struct gam_link *link);

/* The next packet of this link to go now, or NULL. */
const struct gam_packet *gam_link_transmit(struct gam_net *net, struct gam_link *link, uint64_t now,
                                           size_t *length);

/* A packet told what arrived.  False: more than was sent. */
bool gam_link_acked(struct gam_net *net, struct gam_link *link, uint64_t now,
                    const struct gam_packet *packet);

/* Its timer ran out. */
void gam_link_timeout(struct gam_net *net, struct gam_link *link, uint64_t now);

/* The peer has told of all that came before that question of ours. */
void gam_link_answered(struct gam_net *net, struct gam_link *link, uint64_t now, uint8_t question);

/* Fill in the header of a packet to the peer but for its number and what is asked by `flags`. */
void gam_link_seal(struct gam_net *net, struct gam_link *link, struct gam_packet *packet,
                   size_t length);

/* ---- path.c ------------------------------------------------------------------ */

void gam_path_open(const struct gam_net *net, struct gam_link *link);

/* Longer packets would be of use. */
void gam_path_want(struct gam_net *net, struct gam_link *link, uint64_t now);

/* The probe to go now, or NULL. */
const struct gam_packet *gam_path_probe(struct gam_net *net, struct gam_link *link, uint64_t now,
                                        size_t *length);

/* One of that many bytes has arrived. */
void gam_path_passed(const struct gam_net *net, struct gam_link *link, uint32_t bytes);

/* ---- inbound.c ---------------------------------------------------------------- */

void gam_link_inbound_open(struct gam_link *link);

/* Fill in what every packet says about what has arrived. */
void gam_link_acknowledge(struct gam_net *net, struct gam_link *link, struct gam_packet *packet);

#endif
