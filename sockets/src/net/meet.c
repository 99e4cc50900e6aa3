/* SPDX-License-Identifier: BSD-3-Clause
 *
 * meet.c - how the two ends of a connection find each other across hosts.
 *
 *   connecting side                          accepting side
 *                                   <--      greeting
 *   magic, nonce, process, proof    -->
 *                                   <--      nonce, process, road, lane, address, proof
 *   lane, address, proof            -->
 *
 * A proof is a keyed hash of the connection's name and all that was said so far, and the greeting
 * is the first of them, so that nothing is written to another server that has the port; where the
 * two processes have no road yet the nonces make the key of its endpoints.
 */
#include "net/meet.h"
#include "net/agent.h"
#include "net/control.h"
#include "net/key.h"
#include "net/link.h"
#include "net/road.h"
#include "net/thread.h"
#include "real/hidden.h"
#include "real/real.h"
#include "record/pause.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <reliable/reliable.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unet/unet_chaos.h>
#include <unet/unet_siphash.h>

enum {
    PORTS = 16384, /* the hashed ports are of the dynamic ones, */
    FIRST_PORT = 49152,
};

#define MEET_MAGIC 0x346b636f7374656eull

enum { RUNNING, READY, FAILED };

struct sockets_meeting {
    _Atomic uint32_t refs; /* the stream's and the thread's */
    _Atomic uint32_t state;
    enum sockets_reason why; /* if it fails; of the thread's, until then */
    bool is_server;
    struct sockaddr_storage ours, theirs;
    struct sockets_link *link;
    /* What is proven: all of it. */
    struct {
        uint8_t end[2][SOCKETS_END];
        uint32_t step;
        uint64_t nonce[2][2]; /* of the connecting and the accepting side */
        uint64_t process[2];
        uint64_t road;
        uint32_t is_old; /* whether the road is there already, */
        uint32_t side;   /* and at which side of it the accepting process is */
        uint32_t lane[2], zero[2];
        struct unet_address address[2]; /* of the endpoints of a new one */
    } said;
    struct sockets_lane *lane;
};

struct hello {
    uint64_t magic, nonce[2], process, proof;
};

struct answer {
    uint64_t nonce[2], process, road;
    uint32_t is_old, side, lane, zero;
    struct unet_address address;
    uint64_t proof;
};

struct closing {
    uint32_t lane, is_refused;
    struct unet_address address;
    uint64_t proof;
};

static const struct unet_ops *backend;
static struct unet_chaos chaos;
static bool has_chaos;
static uint64_t key[2];

/* False: it is there, and cannot be read. */
static bool read_chaos(void)
{
    const char *text = getenv("UNETSOCK_NET_CHAOS");

    has_chaos = text && *text;
    return !has_chaos || unet_chaos_parse(text, &chaos) == 0;
}

void sockets_meet_init(void)
{
    const char *name = getenv("UNETSOCK_NET");
    const struct unet_ops *named = name && *name ? unet_backend(name) : NULL;
    char path[4096];

    if (!named || !named->network || named->reliable || sockets_key_path(path, sizeof(path)) < 0 ||
        sockets_key_read(path, key) < 0 || !read_chaos())
        return;
    backend = named;
}

bool sockets_meet_is_on(void)
{
    return backend != NULL;
}

static uint16_t port_of(const struct sockaddr_storage *address)
{
    return ntohs(address->ss_family == AF_INET ? ((const struct sockaddr_in *)address)->sin_port
                                               : ((const struct sockaddr_in6 *)address)->sin6_port);
}

/* Nobody without the key knows at which ports two ends meet.  The connection's server listens at
 * its own. */
static void hash_ports(const struct sockets_meeting *m, uint16_t port[SOCKETS_CONTROL_PORTS])
{
    const uint64_t port_key[2] = {key[0], ~key[1]};
    const uint64_t hash = unet_siphash(port_key, m->said.end, sizeof(m->said.end));

    for (unsigned i = 0; i < SOCKETS_CONTROL_PORTS; i++) {
        port[i] = (uint16_t)(FIRST_PORT + (hash >> 16 * i) % PORTS);
        if (port[i] == port_of(m->is_server ? &m->ours : &m->theirs))
            port[i] ^= 1;
    }
}

/* ---- endpoints ------------------------------------------------------------------------- */

static void put_buffers(struct unet_endpoint *ep)
{
    for (uint32_t i = 0; i < SOCKETS_ROAD_BUFFERS; i++)
        unet_free_put(ep, i * SOCKETS_ROAD_BUFFER, SOCKETS_ROAD_BUFFER);
}

static int open_lower(struct unet_endpoint **lower)
{
    struct unet_config below = {.channels = 1};

    reliable_lower_config(2, &below);
    return has_chaos ? unet_chaos_open(backend, &chaos, &below, lower)
                     : unet_open(backend, &below, lower);
}

static int open_endpoint(struct sockets_meeting *m, struct unet_endpoint **ep)
{
    const struct unet_config sizes = {.segment_bytes = SOCKETS_ROAD_BUFFERS * SOCKETS_ROAD_BUFFER,
                                      .recv_slots = SOCKETS_ROAD_SLOTS,
                                      .free_slots = SOCKETS_ROAD_SLOTS,
                                      .channels = 1};
    struct reliable_config config = {
        .ranks = 2, .rank = !m->is_server, .peer_timeout_ms = SOCKETS_LINK_PEER_MS};
    struct unet_endpoint *lower;
    int error;

    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t salt[5] = {i, m->said.nonce[0][0], m->said.nonce[0][1], m->said.nonce[1][0],
                                  m->said.nonce[1][1]};
        config.key[i] = unet_siphash(key, salt, sizeof(salt));
    }
    error = open_lower(&lower);
    if (error)
        return error;
    error = reliable_open(lower, &config, &sizes, ep);
    if (error) {
        unet_close(lower);
        return error;
    }
    unet_address(*ep, &m->said.address[m->is_server]);
    put_buffers(*ep);
    return 0;
}

static bool can_open(struct sockets_meeting *m, struct unet_endpoint **ep)
{
    const bool can = open_endpoint(m, ep) == 0;

    if (!can)
        m->why = SOCKETS_NETWORK;
    return can;
}

static uint64_t proof_of(struct sockets_meeting *m, uint32_t step)
{
    m->said.step = step;
    return unet_siphash(key, &m->said, sizeof(m->said));
}

/* ---- both sides ------------------------------------------------------------------------ */

static bool is_address(const struct unet_address *address)
{
    return address->length > 0 && address->length <= UNET_ADDRESS_MAX;
}

static bool make_nonce(uint64_t nonce[2])
{
    return getrandom(nonce, 16, 0) == 16;
}

/* ---- roads ----------------------------------------------------------------------------- */

static bool open_channel(struct sockets_meeting *m, struct unet_endpoint *ep, uint16_t *channel)
{
    const uint64_t until = sockets_now_ns() + SOCKETS_CONTROL_MS * 1000000ull;
    const uint64_t tag = unet_siphash(key, m->said.nonce, sizeof(m->said.nonce));

    if (unet_connect(ep, &m->said.address[!m->is_server], tag, channel) < 0)
        return false;
    while (sockets_now_ns() < until) {
        const enum unet_channel_state state = unet_channel_state(ep, *channel);

        if (state != UNET_CONNECTING)
            return state == UNET_OPEN;
        unet_wait(ep, 1);
    }
    return false;
}

/* A new road's first lane has number 0 at both ends. */
static bool open_road(struct sockets_meeting *m, struct unet_endpoint *ep)
{
    const struct sockets_road_name name = {
        .peer = m->said.process[!m->is_server], .id = m->said.road, .side = !m->is_server};
    uint16_t channel;

    if (!open_channel(m, ep, &channel)) {
        unet_close(ep);
        return false;
    }
    m->lane = sockets_road_new(ep, channel, &name);
    if (m->lane)
        sockets_road_share(m->lane);
    return m->lane != NULL;
}

/* The accepting side has the road; so has this one, or will have it in a moment. */
static bool find_road(struct sockets_meeting *m)
{
    const uint64_t until = sockets_now_ns() + SOCKETS_CONTROL_MS * 1000000ull / 2;
    const struct timespec pause = {.tv_nsec = 1000000};

    do {
        struct sockets_road_name name = {
            .peer = m->said.process[1], .id = m->said.road, .side = !m->said.side};

        m->lane = sockets_lane_new(&name);
        if (!m->lane)
            nanosleep(&pause, NULL);
    } while (!m->lane && sockets_now_ns() < until);
    return m->lane != NULL;
}

/* ---- both sides ------------------------------------------------------------------------ */

static bool call_by(struct sockets_meeting *m, int fd, struct unet_endpoint **ep)
{
    struct closing closing = {0};

    if (m->said.is_old ? !find_road(m) : !can_open(m, ep)) {
        closing.is_refused = 1;
        sockets_control_say(fd, &closing, sizeof(closing));
        return false;
    }
    if (m->lane)
        m->said.lane[0] = sockets_lane_number(m->lane);
    closing.lane = m->said.lane[0];
    closing.address = m->said.address[0];
    closing.proof = proof_of(m, 3);
    return sockets_control_say(fd, &closing, sizeof(closing));
}

static bool call(struct sockets_meeting *m, int fd, struct unet_endpoint **ep)
{
    struct hello hello = {.magic = MEET_MAGIC};
    struct answer answer;

    if (!make_nonce(m->said.nonce[0]) || (m->said.process[0] = sockets_road_self()) == 0)
        return false;
    memcpy(hello.nonce, m->said.nonce[0], sizeof(hello.nonce));
    hello.process = m->said.process[0];
    hello.proof = proof_of(m, 1);
    if (!sockets_control_say(fd, &hello, sizeof(hello)) ||
        !sockets_control_hear(fd, &answer, sizeof(answer)))
        return false;
    memcpy(m->said.nonce[1], answer.nonce, sizeof(answer.nonce));
    m->said.process[1] = answer.process;
    m->said.road = answer.road;
    m->said.is_old = answer.is_old;
    m->said.side = answer.side;
    m->said.lane[1] = answer.lane;
    m->said.address[1] = answer.address;
    return proof_of(m, 2) == answer.proof && (answer.is_old || is_address(&answer.address)) &&
           answer.side <= 1 && answer.road != 0 && call_by(m, fd, ep);
}

/* On the road that there is, or a new one. */
static bool choose_road(struct sockets_meeting *m, struct unet_endpoint **ep)
{
    struct sockets_road_name name = {.peer = m->said.process[0]};

    m->lane = sockets_lane_new(&name);
    if (!m->lane) {
        m->said.road = m->said.nonce[1][0] | 1;
        return can_open(m, ep);
    }
    m->said.is_old = 1;
    m->said.road = name.id;
    m->said.side = name.side;
    m->said.lane[1] = sockets_lane_number(m->lane);
    return true;
}

static bool hear_closing(struct sockets_meeting *m, int fd)
{
    struct closing closing;

    if (!sockets_control_hear(fd, &closing, sizeof(closing)))
        return false;
    m->said.lane[0] = closing.lane;
    m->said.address[0] = closing.address;
    if (closing.is_refused == 0 && (m->said.is_old || is_address(&closing.address)) &&
        proof_of(m, 3) == closing.proof)
        return true;
    if (closing.is_refused && m->lane)
        sockets_road_retire(m->lane);
    return false;
}

static bool answer(struct sockets_meeting *m, int fd, struct unet_endpoint **ep)
{
    struct answer answer = {0};

    if (!make_nonce(m->said.nonce[1]) || (m->said.process[1] = sockets_road_self()) == 0 ||
        !choose_road(m, ep))
        return false;
    memcpy(answer.nonce, m->said.nonce[1], sizeof(answer.nonce));
    answer.process = m->said.process[1];
    answer.road = m->said.road;
    answer.is_old = m->said.is_old;
    answer.side = m->said.side;
    answer.lane = m->said.lane[1];
    answer.address = m->said.address[1];
    answer.proof = proof_of(m, 2);
    return sockets_control_say(fd, &answer, sizeof(answer)) && hear_closing(m, fd);
}

static bool hear_hello(struct sockets_meeting *m, int fd)
{
    struct hello hello;

    if (!sockets_control_hear(fd, &hello, sizeof(hello)) || hello.magic != MEET_MAGIC)
        return false;
    memcpy(m->said.nonce[0], hello.nonce, sizeof(hello.nonce));
    m->said.process[0] = hello.process;
    return proof_of(m, 1) == hello.proof;
}

/* From the first word to a lane. */
static bool agree(struct sockets_meeting *m, int fd)
{
    struct unet_endpoint *ep = NULL;
    const bool said = m->is_server ? answer(m, fd, &ep) : call(m, fd, &ep);

    if (said && ep)
        return open_road(m, ep);
    if (ep)
        unet_close(ep);
    return said;
}

/* One after the other where roads are made; who calls waits for that, and holds up nobody. */
static bool agree_in_turn(struct sockets_meeting *m, int fd)
{
    bool making, agreed;

    if (m->is_server && !hear_hello(m, fd))
        return false;
    m->why = SOCKETS_NO_PATH; /* it has our key */
    if (!m->is_server)
        return agree(m, fd);
    making = sockets_road_making_begin();
    agreed = agree(m, fd);
    sockets_road_making_end(making);
    return agreed;
}

/* All is said: the control connection is the link's. */
static void make_link(struct sockets_meeting *m, int fd)
{
    const int one = 1;

    sockets_real.setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    sockets_lane_leads_to(m->lane, m->said.lane[!m->is_server]);
    m->link = sockets_link_new(m->lane, fd);
}

static void meet(struct sockets_meeting *m)
{
    const uint64_t greeting = proof_of(m, 0);
    uint16_t port[SOCKETS_CONTROL_PORTS];
    int fd;

    hash_ports(m, port);
    fd = m->is_server ? sockets_control_accept(&m->ours, port, greeting)
                      : sockets_control_connect(&m->theirs, port, greeting);
    if (fd < 0)
        return;
    if (agree_in_turn(m, fd)) {
        make_link(m, fd);
        return;
    }
    if (m->lane)
        sockets_lane_free(m->lane);
    sockets_hidden_close_made(fd);
}

static void drop(struct sockets_meeting *m)
{
    if (atomic_fetch_sub(&m->refs, 1) != 1)
        return;
    if (m->link) {
        sockets_link_free(m->link);
        sockets_agent_give();
    }
    free(m);
}

static void *run(void *argument)
{
    struct sockets_meeting *m = argument;

    sockets_hidden_begin();
    meet(m);
    if (!m->link)
        sockets_agent_give();
    atomic_store(&m->state, m->link ? READY : FAILED);
    drop(m);
    return NULL;
}

struct sockets_meeting *sockets_meet_begin(bool is_server, const struct sockets_ends *ends)
{
    struct sockets_meeting *m;

    if (!sockets_agent_reserve())
        return NULL;
    m = calloc(1, sizeof(*m));
    if (m) {
        m->refs = 2;
        m->why = SOCKETS_SILENT;
        m->is_server = is_server;
        m->ours = ends->ours;
        m->theirs = ends->theirs;
        memcpy(m->said.end, ends->end, sizeof(m->said.end));
        if (sockets_thread_start(run, m))
            return m;
        free(m);
    }
    sockets_agent_give();
    return NULL;
}

int sockets_meet_result(struct sockets_meeting *m, struct sockets_link **link)
{
    switch (atomic_load(&m->state)) {
    case READY:
        *link = m->link;
        m->link = NULL;
        return 1;
    case FAILED:
        return -EHOSTUNREACH;
    default:
        return 0;
    }
}

enum sockets_reason sockets_meet_reason(const struct sockets_meeting *m)
{
    return m->why;
}

void sockets_meet_end(struct sockets_meeting *m)
{
    drop(m);
}
