/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hostile.c - streams whose peer is another thread, or an enemy.
 */
#include "test/hostile.h"
#include "real/real.h"
#include "stream/internal.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST = 100000, GUARD = 64 };

struct ends {
    int fd[2];
    struct sockets_stream *s[2]; /* the second is NULL for an enemy */
    struct sockets_segment *theirs;
};

static unsigned draw(uint64_t *state, unsigned below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % below;
}

static bool connect_pair(int fd[2])
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(a);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    bool fine;

    fd[1] = socket(AF_INET, SOCK_STREAM, 0);
    fine = bind(listener, (void *)&a, sizeof(a)) == 0 && listen(listener, 1) == 0 &&
           getsockname(listener, (void *)&a, &length) == 0 &&
           connect(fd[1], (void *)&a, sizeof(a)) == 0 &&
           (fd[0] = accept(listener, NULL, NULL)) >= 0;
    close(listener);
    return fine;
}

static bool begin(struct ends *e, bool enemy)
{
    struct sockets_segment *segment[2];
    int memory;

    sockets_real_init();
    if (!connect_pair(e->fd) || (memory = sockets_segment_make(&segment[1])) < 0 ||
        sockets_segment_map(memory, &segment[0]) < 0)
        return false;
    close(memory);
    e->theirs = enemy ? segment[1] : NULL;
    e->s[1] = NULL;
    for (int i = 0; i < (enemy ? 1 : 2); i++) {
        if (!(e->s[i] = sockets_stream_new(i == 0, enemy)))
            return false;
        e->s[i]->segment = segment[i];
        sockets_stream_attach(e->s[i], 0, 0);
    }
    return true;
}

static void end(struct ends *e)
{
    for (int i = 0; i < 2; i++) {
        if (e->s[i]) {
            sockets_stream_closing(e->s[i], e->fd[i]);
            sockets_stream_free(e->s[i]);
        }
        close(e->fd[i]);
    }
    if (e->theirs)
        munmap(e->theirs, sizeof(*e->theirs));
}

/* ---- an enemy ------------------------------------------------------------------------- */

/* A value that means something to somebody, or nothing. */
static uint64_t nasty(uint64_t *state, const struct sockets_direction *dir)
{
    switch (draw(state, 8)) {
    case 0:
        return draw(state, 8);
    case 1:
        return atomic_load(&dir->tail) + draw(state, 3) - 1;
    case 2:
        return atomic_load(&dir->head) + draw(state, 1 << 21);
    case 3:
        return UINT64_MAX - draw(state, 3);
    case 4:
        return (uint64_t)1 << draw(state, 64);
    case 5:
        return SOCKETS_RING_LOG_MIN + draw(state, 6);
    default:
        return ((uint64_t)draw(state, 1u << 31) << 33) ^ draw(state, 1u << 31);
    }
}

static void spoil(const struct ends *e, uint64_t *state)
{
    struct sockets_direction *dir = draw(state, 2) ? &e->theirs->to_server : &e->theirs->to_client;
    const uint64_t value = nasty(state, dir);
    _Atomic uint64_t *const indices[] = {&dir->tail, &dir->base,  &dir->sent,
                                         &dir->head, &dir->taken, &dir->tail};
    _Atomic uint32_t *const words[] = {&dir->log,    &dir->phase,  &dir->bells, &dir->fin,
                                       &dir->armed,  &dir->belled, &dir->gone,  &dir->want_tcp,
                                       &dir->recall, &dir->gate};
    char bytes[64] = "garbage";

    switch (draw(state, 8)) {
    case 0 ... 2:
        atomic_store(indices[draw(state, 6)], value);
        break;
    case 3 ... 5: /* what ends the ring for good is rare */
        atomic_store(words[draw(state, draw(state, 8) ? 7 : 10)], (uint32_t)value);
        break;
    case 6:
        (void)!send(e->fd[1], bytes, 1 + draw(state, sizeof(bytes) - 1),
                    MSG_DONTWAIT | MSG_NOSIGNAL);
        break;
    default:
        (void)!recv(e->fd[1], bytes, sizeof(bytes), MSG_DONTWAIT);
    }
}

struct meanwhile {
    const struct ends *e;
    uint64_t state;
    _Atomic bool stop;
};

static void *spoil_meanwhile(void *argument)
{
    struct meanwhile *m = argument;

    while (!atomic_load(&m->stop))
        spoil(m->e, &m->state);
    return NULL;
}

static char *guarded(size_t bytes)
{
    char *buffer = malloc(bytes + 2 * GUARD);

    memset(buffer, 0x5a, bytes + 2 * GUARD);
    return buffer;
}

static bool guards_hold(const char *buffer, size_t bytes)
{
    for (size_t i = 0; i < GUARD; i++)
        if (buffer[i] != 0x5a || buffer[GUARD + bytes + i] != 0x5a)
            return false;
    return true;
}

/* Returns 0, -ECONNRESET if the connection was ended, or 1 if something is wrong with us. */
static int transfer(const struct ends *e, uint64_t *state, bool receive)
{
    static const int kinds[] = {0, MSG_PEEK, MSG_TRUNC, MSG_WAITALL};
    const size_t bytes = draw(state, 2) ? draw(state, 200) : draw(state, MOST);
    char *buffer = guarded(bytes);
    struct iovec iov[2] = {{buffer + GUARD, bytes / 2},
                           {buffer + GUARD + bytes / 2, bytes - bytes / 2}};
    const struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
    const ssize_t n =
        receive ? sockets_stream_receive(e->s[0], e->fd[0], iov, 2,
                                         MSG_DONTWAIT | kinds[draw(state, 4)])
                : sockets_stream_send(e->s[0], e->fd[0], &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
    const bool fine = n <= (ssize_t)bytes && guards_hold(buffer, bytes);

    free(buffer);
    return !fine ? 1 : n == -ECONNRESET || n == -EPIPE ? -ECONNRESET : 0;
}

static int call(const struct ends *e, uint64_t *state)
{
    struct sockets_stream *s = e->s[0];
    const int fd = e->fd[0];
    int n;

    switch (draw(state, 16)) {
    case 0 ... 5:
        return transfer(e, state, true);
    case 6 ... 10:
        return transfer(e, state, false);
    case 11:
        n = sockets_stream_unread(s, 0);
        return n < 0 || n > 1 << SOCKETS_RING_LOG_MAX;
    case 12:
        sockets_stream_arm(s);
        sockets_stream_readable(s, fd);
        sockets_stream_expect_bell(s, fd);
        sockets_stream_disarm(s);
        return 0;
    case 13:
        sockets_stream_has_space(s);
        sockets_stream_hint(s);
        return 0;
    case 14:
        sockets_stream_answer(s, fd);
        return 0;
    default:
        if (draw(state, 16) == 0)
            sockets_stream_recall(s, fd);
        return 0;
    }
}

/* One connection.  Returns 1 if it was spoilt, 0 if it lasted, -1 if something is wrong. */
static int suffer(unsigned seed, unsigned calls, bool meanwhile)
{
    uint64_t state = seed * 2654435761u + 1;
    struct meanwhile m = {.state = ~state};
    pthread_t thread;
    struct ends e;
    int error = 0;

    if (!begin(&e, true))
        return -1;
    m.e = &e;
    if (meanwhile && pthread_create(&thread, NULL, spoil_meanwhile, &m) != 0)
        return -1;
    for (unsigned i = 0; i < calls && error == 0; i++) {
        for (unsigned n = draw(&state, 3); n > 0; n--)
            spoil(&e, &state);
        error = call(&e, &state);
    }
    atomic_store(&m.stop, true);
    if (meanwhile)
        pthread_join(thread, NULL);
    end(&e);
    return error > 0 ? -1 : error < 0;
}

int hostile_run(unsigned seed, unsigned calls, int meanwhile)
{
    int spoilt = 0, one;

    for (unsigned done = 0; done < calls; done += 64) {
        if ((one = suffer(seed++, 64, meanwhile)) < 0)
            return -1;
        spoilt += one;
    }
    return spoilt;
}

/* ---- a friend --------------------------------------------------------------------------- */

struct side {
    struct ends *e;
    int end;
    uint64_t state;
    size_t bytes;
    long wrong;
};

static char byte_at(size_t at)
{
    return (char)(at * 2654435761u >> 13);
}

static void *send_all(void *argument)
{
    struct side *side = argument;
    char *data = malloc(MOST);

    for (size_t done = 0; done < side->bytes;) {
        size_t piece =
            draw(&side->state, 4) ? 1 + draw(&side->state, 300) : 1 + draw(&side->state, MOST);
        struct iovec iov = {data, 0};
        const struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
        ssize_t n;

        if (piece > side->bytes - done)
            piece = side->bytes - done;
        for (size_t i = 0; i < piece; i++)
            data[i] = byte_at(done + i);
        iov.iov_len = piece;
        n = sockets_stream_send(side->e->s[side->end], side->e->fd[side->end], &msg, 0);
        if (n <= 0) {
            side->wrong = -1;
            break;
        }
        done += (size_t)n;
    }
    free(data);
    return NULL;
}

static void *receive_all(void *argument)
{
    struct side *side = argument;
    char *data = malloc(MOST);

    for (size_t done = 0; done < side->bytes;) {
        const size_t piece = 1 + draw(&side->state, draw(&side->state, 3) ? 300 : MOST);
        const struct iovec iov = {data, piece};
        const ssize_t n =
            sockets_stream_receive(side->e->s[side->end], side->e->fd[side->end], &iov, 1, 0);

        if (n <= 0) {
            side->wrong = -1;
            break;
        }
        for (size_t i = 0; i < (size_t)n; i++)
            side->wrong += data[i] != byte_at(done + i);
        done += (size_t)n;
    }
    free(data);
    return NULL;
}

long hostile_stream(unsigned seed, size_t bytes)
{
    struct ends e;
    struct side side[4];
    pthread_t thread[4];
    long wrong = 0;

    if (!begin(&e, false))
        return -1;
    for (int i = 0; i < 4; i++) {
        side[i] = (struct side){&e, i / 2, seed + (unsigned)i, bytes, 0};
        if (pthread_create(&thread[i], NULL, i % 2 ? receive_all : send_all, &side[i]) != 0)
            return -1;
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        wrong = side[i].wrong < 0 || wrong < 0 ? -1 : wrong + side[i].wrong;
    }
    end(&e);
    return wrong;
}

/* ---- a stream that is never quiet by chance ------------------------------------------------ */

enum { BEFORE = 127, ATTEMPT = 2000 };

static void *receive_until_end(void *argument)
{
    struct ends *e = argument;
    char data[64];
    const struct iovec iov = {data, sizeof(data)};

    while (sockets_stream_receive(e->s[0], e->fd[0], &iov, 1, 0) > 0)
        ;
    return NULL;
}

static void send_byte(const struct ends *e)
{
    struct iovec iov = {"x", 1};
    const struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

    sockets_stream_send(e->s[1], e->fd[1], &msg, 0);
}

int hostile_comes_to_the_ring(void)
{
    const int off = 0;
    struct ends e;
    pthread_t thread;
    int came;

    if (!begin(&e, false))
        return -1;
    setsockopt(e.fd[0], IPPROTO_TCP, TCP_QUICKACK, &off, sizeof(off)); /* Nagle's algorithm waits */
    atomic_store(&e.s[1]->tx->gate, SOCKETS_GATE_RECEIVER);
    send_byte(&e);
    atomic_store(&e.s[1]->tx->gate, SOCKETS_GATE_OPEN);
    for (int i = 1; i < BEFORE; i++)
        send_byte(&e);
    if (pthread_create(&thread, NULL, receive_until_end, &e) != 0)
        return -1;
    for (int i = 0; i < ATTEMPT && atomic_load(&e.s[1]->tx->phase) == 0; i++)
        send_byte(&e);
    came = atomic_load(&e.s[1]->tx->phase) != 0;
    sockets_stream_finish(e.s[1], e.fd[1]);
    shutdown(e.fd[1], SHUT_WR);
    pthread_join(thread, NULL);
    end(&e);
    return came;
}
