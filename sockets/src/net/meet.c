/* SPDX-License-Identifier: BSD-3-Clause
 *
 * meet.c - how the two ends of a connection find each other across hosts.
 *
 *   connecting side                          accepting side
 *   magic, nonce, proof             -->
 *                                   <--      nonce, address, proof
 *   address, proof                  -->
 *
 * A proof is a keyed hash of the connection's name and all that was said so far; the nonces make
 * the key of the endpoints.
 */
#include "net/meet.h"
#include "net/agent.h"
#include "net/key.h"
#include "net/link.h"
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
    CHOICES = 4,      /* any of which somebody else may use */
    MEET_MS = 1500,   /* for how long the accepting side listens */
    ANSWER_MS = 1000, /* a step of the other side */
    TRIES = 5,        /* of the connecting side, with longer and longer pauses */
    PAUSE_MS = 20,
};

#define MEET_MAGIC 0x316b636f7374656eull

enum { RUNNING, READY, FAILED };

struct sockets_meeting {
    _Atomic uint32_t refs; /* the stream's and the thread's */
    _Atomic uint32_t state;
    bool is_server;
    struct sockaddr_storage ours, theirs;
    struct sockets_link *link;
    /* What is proven: all of it. */
    struct {
        uint8_t end[2][SOCKETS_END];
        uint32_t step;
        uint64_t nonce[2][2]; /* of the connecting and the accepting side */
        struct unet_address address[2];
    } said;
};

struct hello {
    uint64_t magic, nonce[2], proof;
};

struct answer {
    uint64_t nonce[2];
    struct unet_address address;
    uint64_t proof;
};

struct closing {
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

/* ---- the control connection ---------------------------------------------------------- */

static bool await(int fd, short events, int ms)
{
    struct pollfd p = {.fd = fd, .events = events};

    return sockets_real.poll(&p, 1, ms) == 1;
}

static bool say(int fd, const void *what, size_t bytes)
{
    return sockets_real.send(fd, what, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

static bool hear(int fd, void *what, size_t bytes)
{
    const uint64_t until = sockets_now_ns() + ANSWER_MS * 1000000ull;
    size_t done = 0;

    while (done < bytes) {
        ssize_t n;

        if (sockets_now_ns() >= until || !await(fd, POLLIN, ANSWER_MS))
            return false;
        n = sockets_real.recv(fd, (char *)what + done, bytes - done, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void set_port(struct sockaddr_storage *address, uint16_t port)
{
    if (address->ss_family == AF_INET)
        ((struct sockaddr_in *)address)->sin_port = htons(port);
    else
        ((struct sockaddr_in6 *)address)->sin6_port = htons(port);
}

/* Nobody without the key knows at which ports two ends meet. */
static uint16_t hashed_port(const struct sockets_meeting *m, unsigned choice)
{
    const uint64_t port_key[2] = {key[0], ~key[1]};
    const uint64_t hash = unet_siphash(port_key, m->said.end, sizeof(m->said.end));

    return (uint16_t)(FIRST_PORT + (hash >> 16 * choice) % PORTS);
}

static int make_socket(const struct sockaddr_storage *address)
{
    return sockets_hidden_made(
        sockets_real.socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

static socklen_t length_of(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

/* At the first port that is free. */
static bool bind_any(const struct sockets_meeting *m, int fd)
{
    struct sockaddr_storage at = m->ours;

    for (unsigned choice = 0; choice < CHOICES; choice++) {
        set_port(&at, hashed_port(m, choice));
        if (bind(fd, (void *)&at, length_of(&at)) == 0)
            return true;
    }
    return false;
}

/* The other end's socket, or -1; strangers' are closed by who finds that they have no proof. */
static int accept_peer(struct sockets_meeting *m)
{
    const int listener = make_socket(&m->ours), one = 1;
    int fd = -1;

    if (listener < 0)
        return -1;
    sockets_real.setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind_any(m, listener) && listen(listener, 4) == 0 && await(listener, POLLIN, MEET_MS))
        fd = sockets_hidden_made(
            sockets_real.accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
    sockets_hidden_close_made(listener);
    return fd;
}

static int connect_once(const struct sockets_meeting *m, unsigned choice)
{
    struct sockaddr_storage to = m->theirs;
    const int fd = make_socket(&to);
    socklen_t length = sizeof(int);
    int error = 0;

    if (fd < 0)
        return -1;
    set_port(&to, hashed_port(m, choice));
    if (sockets_real.connect(fd, (void *)&to, length_of(&to)) == 0)
        return fd;
    if (errno == EINPROGRESS && await(fd, POLLOUT, ANSWER_MS) &&
        sockets_real.getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0)
        return fd;
    sockets_hidden_close_made(fd);
    return -1;
}

static int connect_peer(const struct sockets_meeting *m)
{
    for (int i = 0; i < TRIES; i++) {
        const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000l << i};

        for (unsigned choice = 0; choice < CHOICES; choice++) {
            const int fd = connect_once(m, choice);

            if (fd >= 0)
                return fd;
        }
        nanosleep(&pause, NULL);
    }
    return -1;
}

/* ---- endpoints ------------------------------------------------------------------------- */

static void put_buffers(struct unet_endpoint *ep)
{
    for (uint32_t i = 0; i < SOCKETS_LINK_BUFFERS; i++)
        unet_free_put(ep, i * SOCKETS_LINK_BUFFER, SOCKETS_LINK_BUFFER);
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
    const struct unet_config sizes = {.segment_bytes = 1 << 20,
                                      .recv_slots = SOCKETS_LINK_BUFFERS,
                                      .free_slots = 2 * SOCKETS_LINK_BUFFERS,
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

static bool call(struct sockets_meeting *m, int fd, struct unet_endpoint **ep)
{
    struct hello hello = {.magic = MEET_MAGIC};
    struct answer answer;
    struct closing closing = {0};

    if (!make_nonce(m->said.nonce[0]))
        return false;
    memcpy(hello.nonce, m->said.nonce[0], sizeof(hello.nonce));
    hello.proof = proof_of(m, 1);
    if (!say(fd, &hello, sizeof(hello)) || !hear(fd, &answer, sizeof(answer)))
        return false;
    memcpy(m->said.nonce[1], answer.nonce, sizeof(answer.nonce));
    m->said.address[1] = answer.address;
    if (!is_address(&answer.address) || proof_of(m, 2) != answer.proof || open_endpoint(m, ep) < 0)
        return false;
    closing.address = m->said.address[0];
    closing.proof = proof_of(m, 3);
    return say(fd, &closing, sizeof(closing));
}

static bool answer(struct sockets_meeting *m, int fd, struct unet_endpoint **ep)
{
    struct hello hello;
    struct answer answer = {0};
    struct closing closing;

    if (!hear(fd, &hello, sizeof(hello)) || hello.magic != MEET_MAGIC)
        return false;
    memcpy(m->said.nonce[0], hello.nonce, sizeof(hello.nonce));
    if (proof_of(m, 1) != hello.proof || !make_nonce(m->said.nonce[1]) || open_endpoint(m, ep) < 0)
        return false;
    memcpy(answer.nonce, m->said.nonce[1], sizeof(answer.nonce));
    answer.address = m->said.address[1];
    answer.proof = proof_of(m, 2);
    if (!say(fd, &answer, sizeof(answer)) || !hear(fd, &closing, sizeof(closing)))
        return false;
    m->said.address[0] = closing.address;
    return is_address(&closing.address) && proof_of(m, 3) == closing.proof;
}

static bool open_channel(struct sockets_meeting *m, struct unet_endpoint *ep, uint16_t *channel)
{
    const uint64_t until = sockets_now_ns() + ANSWER_MS * 1000000ull;
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

/* All is said: the control connection is the link's. */
static void make_link(struct sockets_meeting *m, struct unet_endpoint *ep, uint16_t channel, int fd)
{
    const int one = 1;

    sockets_real.setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    m->link = sockets_link_new(ep, channel, fd);
}

static void meet(struct sockets_meeting *m)
{
    const int fd = m->is_server ? accept_peer(m) : connect_peer(m);
    struct unet_endpoint *ep = NULL;
    uint16_t channel;

    if (fd < 0)
        return;
    if ((m->is_server ? answer(m, fd, &ep) : call(m, fd, &ep)) && open_channel(m, ep, &channel)) {
        make_link(m, ep, channel, fd);
        return;
    }
    unet_close(ep);
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
        m->is_server = is_server;
        m->ours = ends->ours;
        m->theirs = ends->theirs;
        memcpy(m->said.end, ends->end, sizeof(m->said.end));
        if (sockets_agent_thread(run, m))
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

void sockets_meet_end(struct sockets_meeting *m)
{
    drop(m);
}
