/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unetni.h - the parts of unetni, a process that is the network interface of others.
 *
 *   main.c      options, starting and ending
 *   service.c   the loop: who has its turn, and when to sleep
 *   client.c    connections: who may, and the messages that stand for the module's ioctls
 *   user.c      what one user may have
 *   area.c      the memory that an endpoint shares with its client
 *   channel.c   opening and closing channels, and noticing that a peer is gone
 *   schedule.c  whose message is next
 *   send.c      send queues into frames
 *   receive.c   frames into receive rings
 *   wire.c      what carries frames, and what wires have in common
 *   packet.c    the wire that is an Ethernet interface
 *   xdp.c       the same by AF_XDP (xdp.h)
 *   udp.c       the wire that is a UDP socket
 *   atm.c       the wire that is a port of an ATM switch
 *
 * One thread does all of it, so nothing here is locked.  Clients write to their areas whenever they
 * like: positions are private, and what is read there is copied first and then checked.
 */
#ifndef UNETNI_H
#define UNETNI_H

#include "core/packet_socket.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unet/unet_frame.h>
#include <unet/unet_ring.h>
#include <unet/unet_service.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    UNETNI_PORTS = 65536,
    UNETNI_MESSAGE_MOST = 16384, /* slots for longer frames would be few */
};

/* ---- endpoints --------------------------------------------------------------------- */

struct unetni_endpoint;
struct unetni_user;

struct unetni_channel {
    struct unet_ring in; /* the receive ring */
    uint64_t key_in, key_out;
    uint32_t life, peer_life;
    uint16_t port;        /* the peer's */
    uint16_t same_bucket; /* the next channel of the list that `bucket` heads; 0: none */
    uint8_t mac[6];       /* the peer's place on the wire */
    uint8_t state;        /* enum unet_channel_state */
};

/* A connection, which becomes an endpoint by UNET_FE_CREATE. */
struct unetni_endpoint {
    LIST_ENTRY(unetni_endpoint) all;
    TAILQ_ENTRY(unetni_endpoint) active; /* of its user's, while `awake` */
    struct unetni_user *user;
    int connection;
    int bell; /* the doorbell's write end */
    int lock; /* keeps the port; see struct unetni_wire_ops */
    bool created;
    bool awake;          /* its send queue is looked at; otherwise the client rings */
    int64_t deficit;     /* bytes that it may send before others of its user have their turn */
    uint64_t heard_ns;   /* when something was last found in its send queue, or put in its rings */
    bool drains;         /* what is in its send queue goes before `closes` is done */
    uint32_t drain_most; /* descriptors of it that may still be taken */
    uint64_t closes;     /* the channel to be closed; 0: all, for the client has gone */
    unsigned in_batch;   /* frames that wait to be sent, and point at its memory */
    struct unet_fe_create layout;
    uint8_t *area;
    struct unet_fe_shared *shared;
    uint32_t *asleep; /* in the area: tells the client to ring */
    struct unet_ring tx, errors, free;
    struct unetni_channel *channel; /* by number, from 1 */
    uint16_t *bucket;               /* channels that are not closed, by key_in */
    uint32_t bucket_mask;
    uint32_t channels; /* that are not closed */
    uint32_t changes;
    uint64_t counter[UNET_FE_COUNTERS];
};

/* What one user has, and his turn. */
struct unetni_user {
    LIST_ENTRY(unetni_user) all;
    TAILQ_ENTRY(unetni_user) active; /* while one of his endpoints is awake */
    TAILQ_HEAD(, unetni_endpoint) awake;
    unsigned awake_count;
    int64_t deficit;   /* bytes that his endpoints may send before other users have their turn */
    int64_t tokens;    /* bytes that they may send at the rate he has; less than 0: owed */
    uint64_t token_ns; /* when tokens were last added */
    uid_t uid;
    unsigned connections;
    unsigned channels;
    uint64_t bytes;
};

struct unetni_limits {
    unsigned endpoints; /* and the next: of one user */
    unsigned channels;
    uint64_t bytes;
    uint64_t rate; /* bytes of the wire in a second; 0: as many as it carries */
};

/* ---- the wire ------------------------------------------------------------------------- */

struct arrivals;
struct ifreq;
struct unetni_xdp;
struct unetni_atm;
struct unetni_service;
struct unetni_wire;

/* A frame without a message, or the header of one with: it says where it came from or goes to. */
struct unetni_frame {
    struct unet_frame header; /* in this machine's byte order, which is the wire's */
    uint8_t mac[6];
};

union unetni_place {
    struct sockaddr any;
    struct sockaddr_ll packet;
    struct sockaddr_in udp;
    uint32_t node; /* atm: a VPI */
};

/* What carries frames.  No entry is NULL.  A place on the wire is six bytes: an Ethernet address,
 * an IPv4 address and a UDP port, or a
 * switch and its node. */
struct unetni_wire_ops {
    const char *name;

    /* Open the socket at the wire's interface; fill in `socket`, `own` and `message_most`, and
     * `second` if there is one.  Returns 0, or prints what is wrong and returns -errno. */
    int (*open)(struct unetni_wire *wire);

    /* Undo `open`, also one that has failed half-way. */
    void (*close)(struct unetni_wire *wire);

    /* Whether the place is one machine's that can be reached, and no group's. */
    bool (*is_place)(const struct unetni_wire *wire, const uint8_t mac[6]);

    /* The socket address of a place; returns its length. */
    socklen_t (*address)(const struct unetni_wire *wire, const uint8_t mac[6],
                         union unetni_place *place);

    /* Reserve a port for an endpoint.  `lock` becomes a file that keeps it until it is closed; -1:
     * none is needed.  0, or -errno: -EADDRINUSE it is somebody else's. */
    int (*take_port)(const struct unetni_wire *wire, uint16_t port, int *lock);

    /* An endpoint has ended that had it; `lock` is closed by others. */
    void (*give_port)(const struct unetni_wire *wire, uint16_t port);

    /* Whether nobody at our place has the port, whether he is a client of ours or not. */
    bool (*nobody_has)(const struct unetni_wire *wire, uint16_t port);

    /* As sendmmsg(2) that does not wait; addresses are those of `address`. */
    int (*send)(struct unetni_wire *wire, struct mmsghdr *message, unsigned count);

    /* Give what has arrived to unetni_receive, up to a bounded number of frames; returns how many.
     */
    unsigned (*receive)(struct unetni_service *service);
};

struct unetni_wire {
    const struct unetni_wire_ops *ops;
    char interface[16];
    const char *carrier; /* atm: the switch; NULL: as UNET_ATM_CARRIER says */
    int socket;
    int second;     /* another file by which frames come; -1: none */
    uint8_t own[6]; /* our place */
    uint32_t message_most;
    struct unet_packet_interface at; /* packet and xdp */
    struct unet_packet_ring ring;    /* packet and xdp: of arrivals */
    struct unetni_xdp *xdp;          /* xdp */
    struct arrivals *arrivals;       /* udp */
    struct unetni_atm *atm;          /* atm */
};

extern const struct unetni_wire_ops unetni_packet_wire, unetni_xdp_wire, unetni_udp_wire,
    unetni_atm_wire;

enum { UNETNI_BATCH = 64 };

/* Frames on their way out.  They point at their endpoints' memory, so these
 * descriptors are not done with yet. */
struct unetni_batch {
    unsigned first, count; /* those from `first` on are not sent yet */
    unsigned no_room;      /* times in a row that the network took not even the first */
    struct mmsghdr message[UNETNI_BATCH];
    socklen_t to_length; /* of each */
    union unetni_place to[UNETNI_BATCH];
    struct unet_frame header[UNETNI_BATCH];
    struct unet_desc desc[UNETNI_BATCH];
    struct iovec iov[UNETNI_BATCH][1 + UNET_PIECES_MAX];
    struct unetni_endpoint *ep[UNETNI_BATCH];
};

/* ---- the service ------------------------------------------------------------------------- */

struct unetni_service {
    struct unetni_wire wire;
    struct unetni_limits limits;
    uint64_t spin_ns; /* how long to look for work without finding any before sleeping */
    int listener;
    int epoll;
    int spare; /* a file to close when no more can be opened */
    LIST_HEAD(, unetni_endpoint) endpoints;
    LIST_HEAD(, unetni_user) users;
    TAILQ_HEAD(, unetni_user) active;
    unsigned active_count;
    bool throttled;    /* all of them have to wait for tokens */
    unsigned draining; /* endpoints that are */
    struct unetni_endpoint *port[UNETNI_PORTS];
    struct unetni_batch batch;
    uint16_t next_port;
    uint64_t now_ns;    /* of this turn */
    uint64_t looked_ns; /* when connections were last looked at */
    unsigned turns;
    uint64_t busy_ns; /* when there was last something to do */
    uint64_t gone_ns; /* when the second began in which `gones` answers were sent */
    unsigned gones;
    uint64_t strange;   /* frames for ports that no client has */
    uint64_t malformed; /* frames that contradict themselves */
    int signals;        /* a signalfd of those that end the service */
    bool over;
    bool failed; /* and not by a signal */
};

/* ---- service.c ----------------------------------------------------------------------------- */

/* What is all zero otherwise becomes a service without clients. */
void unetni_service_init(struct unetni_service *s);

/* Make the folder of the interfaces' own places, as systemd does for the unit, if it is not there.
 * Returns 0, or prints what is wrong and returns -errno. */
int unetni_service_make_folder(void);

/* Listen at the path, with these permissions.  Returns 0, or prints what is wrong and returns
 * -errno. */
int unetni_service_listen(struct unetni_service *s, const char *path, mode_t mode, gid_t group);

/* Serve until a signal ends it. */
void unetni_service_run(struct unetni_service *s);

/* Do once what is to be done, without sleeping.  Returns 0 if there was nothing. */
unsigned unetni_service_turn(struct unetni_service *s);

/* End all endpoints: their clients and peers are told. */
void unetni_service_close(struct unetni_service *s);

uint64_t unetni_now_ns(void);

/* ---- client.c -------------------------------------------------------------------------------- */

/* Somebody has connected. */
void unetni_client_accept(struct unetni_service *s);

/* A message came from a client, or the end of its connection. */
void unetni_client_serve(struct unetni_service *s, struct unetni_endpoint *ep);

/* Do what waited for send queues that are empty by now. */
void unetni_client_drained(struct unetni_service *s);

/* End the endpoint now: its peers are told. */
void unetni_client_end(struct unetni_service *s, struct unetni_endpoint *ep);

/* ---- user.c ------------------------------------------------------------------------------- */

/* The user, with one connection more; NULL: he has too many, or there is no memory. */
struct unetni_user *unetni_user_join(struct unetni_service *s, uid_t uid);
void unetni_user_leave(struct unetni_user *user);

/* One channel, or that much memory, more: 0 or -EDQUOT. */
int unetni_user_add_channel(const struct unetni_service *s, struct unetni_user *user);
int unetni_user_add_bytes(const struct unetni_service *s, struct unetni_user *user, uint64_t bytes);

/* ---- area.c ------------------------------------------------------------------------------ */

/* Make the area that the request wants, and fill in where in it is what.  The descriptor of its
 * memory, or -EINVAL a size is out of its range, -EDQUOT, -ENOMEM. */
int unetni_area_make(struct unetni_service *s, struct unetni_endpoint *ep,
                     struct unet_service_message *request);
void unetni_area_free(struct unetni_endpoint *ep);

static inline bool unetni_in_segment(const struct unetni_endpoint *ep, uint32_t offset,
                                     uint32_t length)
{
    return offset <= ep->layout.segment_bytes && length <= ep->layout.segment_bytes - offset;
}

static inline uint8_t *unetni_segment(const struct unetni_endpoint *ep, uint32_t offset)
{
    return ep->area + ep->layout.segment + offset;
}

/* The client's page shows it, too. */
static inline void unetni_count(struct unetni_endpoint *ep, enum unet_fe_counter which, uint64_t n)
{
    ep->counter[which] += n;
    __atomic_store_n(&ep->shared->counter[which], ep->counter[which], __ATOMIC_RELAXED);
}

/* Ring the client's bell if it sleeps: a message came into the ring, or (NULL) something that every
 * sleeper waits for. */
void unetni_notify(struct unetni_endpoint *ep, const struct unet_ring *ring);

/* ---- channel.c --------------------------------------------------------------------------- */

static inline bool unetni_is_channel(const struct unetni_endpoint *ep, uint64_t n)
{
    return n >= 1 && n <= ep->layout.channels;
}

int unetni_channel_connect(struct unetni_service *s, struct unetni_endpoint *ep,
                           struct unet_fe_connect *request);

/* The channel, which is not closed, is; its peer is told, and the client sees it in that state. */
void unetni_channel_close(struct unetni_service *s, struct unetni_endpoint *ep, uint64_t n,
                          enum unet_channel_state shown);
void unetni_channel_tell(struct unetni_service *s, struct unetni_endpoint *ep, uint64_t n);
void unetni_channels_close(struct unetni_service *s, struct unetni_endpoint *ep);

/* The channels of all clients to that place are dead. */
void unetni_channels_lose(struct unetni_service *s, const uint8_t mac[6]);

/* The channel of these frames, or NULL. */
struct unetni_channel *unetni_channel_find(const struct unetni_endpoint *ep,
                                           const struct unetni_frame *frame);

/* Handle a frame without a message, for an endpoint of ours.  `ch` is what unetni_channel_find
 * says. */
void unetni_channel_control(struct unetni_service *s, struct unetni_endpoint *ep,
                            struct unetni_channel *ch, const struct unetni_frame *frame);

static inline bool unetni_channel_lives(const struct unetni_channel *ch)
{
    return ch && (ch->state == UNET_OPEN || ch->state == UNET_CONNECTING);
}

/* ---- schedule.c -------------------------------------------------------------------------- */

/* Deficit round robin, by bytes: users first, then the endpoints of each.  While both have
 * messages, one has never got more than its quantum and two frames more than another. */
enum { UNETNI_USER_QUANTUM = 32768, UNETNI_ENDPOINT_QUANTUM = 8192 };

/* Bytes that a user with a rate may send at once after a rest, and a quantum more. */
enum { UNETNI_BURST = 65536 };

/* Every endpoint that is awake has had its turn, or as much of it as the wire takes.  Returns how
 * many descriptors were taken. */
unsigned unetni_schedule_round(struct unetni_service *s);

/* The endpoint's send queue is looked at from now on; or no longer, unless there is something. */
void unetni_schedule_wake(struct unetni_service *s, struct unetni_endpoint *ep);
void unetni_schedule_forget(struct unetni_service *s, struct unetni_endpoint *ep);
void unetni_schedule_rest(struct unetni_service *s);

/* It has used that many bytes of the wire. */
static inline void unetni_schedule_charge(struct unetni_endpoint *ep, uint32_t bytes)
{
    ep->deficit -= bytes;
    ep->user->deficit -= bytes;
    ep->user->tokens -= bytes; /* means nothing without a rate */
}

/* ---- send.c ------------------------------------------------------------------------------ */

/* Take the oldest descriptor of the send queue: a frame in the batch, which has room, a message for
 * an endpoint of ours, or a refusal.  False: there is none. */
bool unetni_send_one(struct unetni_service *s, struct unetni_endpoint *ep);

/* Whether the send queue has something. */
bool unetni_send_waits(const struct unetni_endpoint *ep);

/* Tell the client which descriptors are done with. */
void unetni_send_publish(struct unetni_endpoint *ep);

/* Send what is in the batch.  False: some is left, for the wire takes no more now. */
bool unetni_send_flush(struct unetni_service *s);

/* Forget what of the endpoint is in the batch. */
void unetni_send_purge(struct unetni_service *s, struct unetni_endpoint *ep);

/* Send a frame without a message, once.  It may be lost. */
void unetni_send_control(struct unetni_service *s, const struct unetni_frame *frame);

/* ---- receive.c --------------------------------------------------------------------------- */

/* A frame came from the wire, from `mac`; nobody has checked it. */
void unetni_receive(struct unetni_service *s, const uint8_t *bytes, size_t length,
                    const uint8_t mac[6]);

/* Answer a question for a channel that does not exist here, unless that was done too often. */
void unetni_receive_gone(struct unetni_service *s, const struct unetni_frame *question);

/* A frame whose header is sound, from the wire or from an endpoint of ours.  `message` has as many
 * bytes as the header says. */
void unetni_receive_frame(struct unetni_service *s, const struct unetni_frame *frame,
                          const struct iovec *message);

/* ---- wire.c ------------------------------------------------------------------------------ */

/* Entries of wires that have one socket; of those whose ports need nothing but their lock; and of
 * those whose place is the service's alone, and so are all ports there. */
int unetni_wire_send(struct unetni_wire *wire, struct mmsghdr *message, unsigned count);
void unetni_wire_give_port(const struct unetni_wire *wire, uint16_t port);
int unetni_wire_take_port(const struct unetni_wire *wire, uint16_t port, int *lock);
bool unetni_wire_nobody_has(const struct unetni_wire *wire, uint16_t port);

/* Ask the interface by ioctl(2).  0, or prints what is wrong and returns -errno. */
int unetni_wire_interface(const struct unetni_wire *wire, unsigned long what,
                          struct ifreq *request);

/* The longest message in a packet of that length; prints that it is too short and returns 0. */
uint32_t unetni_wire_message_most(const struct unetni_wire *wire, uint32_t mtu);

/* Prints what could not be done at the wire and why; returns -errno. */
int unetni_wire_fail(const struct unetni_wire *wire, const char *what);

#ifdef __cplusplus
}
#endif
#endif
