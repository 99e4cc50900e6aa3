/* SPDX-License-Identifier: BSD-3-Clause
 *
 * doze.c - sleeping for data without TCP.
 *
 * A byte by a Unix socket wakes a sleeper sooner than one by TCP does, and what it then reads lies
 * in the ring.  So the connection by which the ends found each other stays: the waker.  A recv from
 * it is restarted after signals as one from TCP is, and ends with the peer's last process.  What
 * else TCP would tell, whoever does it says: an end that gives data to TCP, shuts down, closes,
 * recalls, or hands the connection on wakes the other one, which then sleeps on TCP.
 *
 * Who sleeps for several files has the waker among them, besides the connection.  A waker has one
 * user in a process, who claims it: a byte that is meant for one sleeper is taken by no other.
 */
#include "real/hidden.h"
#include "real/real.h"
#include "record/pause.h"
#include "spin/core.h"
#include "stream/internal.h"
#include <errno.h>

enum {
    MOST = 64, /* wakers of this process: each takes a descriptor */
    TURNS = 3, /* some bytes come too late for who was interrupted, and are met by the next one */
};

static struct sockets_stream *_Atomic keepers[MOST];

/* ---- life ---- */

void sockets_stream_keep_waker(struct sockets_stream *s, int fd)
{
    for (int i = 0; i < MOST; i++) {
        struct sockets_stream *nobody = NULL;

        if (!atomic_compare_exchange_strong(&keepers[i], &nobody, s))
            continue;
        s->keeper = i;
        sockets_real.fcntl(fd, F_SETFL, 0); /* it blocks */
        atomic_store(&s->waker, sockets_hidden_copy(fd));
        return;
    }
}

static void close_spent(struct sockets_stream *s)
{
    sockets_hidden_close(atomic_exchange(&s->spent, -1));
}

void sockets_stream_end_waker(struct sockets_stream *s)
{
    if (s->keeper < 0)
        return;
    atomic_store(&keepers[s->keeper], NULL);
    s->keeper = -1;
    sockets_hidden_close(atomic_exchange(&s->waker, -1));
    close_spent(s);
}

int sockets_stream_begin_use(struct sockets_stream *s)
{
    atomic_fetch_add(&s->waking, 1);
    return sockets_hidden_fd(atomic_load(&s->waker));
}

void sockets_stream_end_use(struct sockets_stream *s)
{
    if (atomic_fetch_sub(&s->waking, 1) == 1 && atomic_load(&s->spent) >= 0)
        close_spent(s);
}

/* The last one who uses the descriptor closes it.  Whether that is done. */
static bool give_up(struct sockets_stream *s)
{
    const int slot = atomic_exchange(&s->waker, -1);

    if (slot < 0)
        return false;
    sockets_real.shutdown(sockets_hidden_fd(slot), SHUT_RDWR); /* for forks of both ends, too */
    atomic_store(&s->spent, slot);
    if (atomic_load(&s->waking) > 0)
        return false;
    close_spent(s);
    return true;
}

void sockets_stream_give_up_waker(struct sockets_stream *s)
{
    give_up(s);
}

bool sockets_stream_give_up_wakers(void)
{
    bool any = false;

    for (int i = 0; i < MOST; i++) {
        struct sockets_stream *s = atomic_load(&keepers[i]);

        any = (s && give_up(s)) || any;
    }
    return any;
}

void sockets_stream_stay_awake(struct sockets_stream *s)
{
    const int fd = sockets_stream_begin_use(s);

    atomic_store(&s->record->rx.wakeful, 1);
    if (fd >= 0)
        sockets_real.shutdown(fd, SHUT_RD);
    sockets_stream_end_use(s);
}

/* ---- sleeping ---- */

/* All that comes next comes by the ring, or with a wake-up. */
static bool may_doze(const struct sockets_stream *s)
{
    return atomic_load(&s->rx->sent) != SOCKETS_UNKNOWN && !atomic_load(&s->rx->sending) &&
           !atomic_load(&s->tx->want_tcp) && !atomic_load(&s->tx->recall) &&
           !atomic_load(&s->record->rx.recalled) && !atomic_load(&s->record->rx.wakeful) &&
           !atomic_load(&s->record->rx.eof) && !sockets_stream_hint(s) &&
           !sockets_stream_bell_is_due(s);
}

/* Of those who may sleep one is to be woken so: false if it is another one, or TCP has something.
 */
static bool begin_to_doze(struct sockets_stream *s, uint32_t who)
{
    uint32_t nobody = 0;

    if (!may_doze(s) || !atomic_compare_exchange_strong(&s->rx->dozing, &nobody, who))
        return false;
    if (may_doze(s)) /* now that others see us */
        return true;
    atomic_compare_exchange_strong(&s->rx->dozing, &who, 0);
    return false;
}

/* Whether the other end has woken us. */
static bool end_to_doze(struct sockets_stream *s, uint32_t who)
{
    return !atomic_compare_exchange_strong(&s->rx->dozing, &who, 0);
}

static void give_up_sleep(struct sockets_stream *s)
{
    end_to_doze(s, SOCKETS_DOZE_ALONE);
    sockets_stream_end_use(s);
    sockets_stream_release_waker(s);
}

struct nap {
    struct sockets_stream *s;
    int fd;
};

static ssize_t wait_for_byte(void *arg)
{
    const struct nap *nap = arg;

    return sockets_stream_sleep_recv(nap->s, give_up_sleep, nap->fd, 0);
}

/* 1: woken, 0: by a byte that was to wake somebody before; -EINTR; -EPIPE: never again; -EAGAIN:
 * did not sleep. */
static int sleep_once(struct sockets_stream *s, int fd)
{
    const uint64_t slept_at = sockets_now_ns();
    ssize_t n;
    bool woken;

    if (!begin_to_doze(s, SOCKETS_DOZE_ALONE))
        return -EAGAIN;
    atomic_fetch_add_explicit(&sockets_counters->sleeps, 1, memory_order_relaxed);
    n = sockets_core_sleep(wait_for_byte, &(struct nap){s, fd});
    if (n < 0 && errno == EINTR) {
        end_to_doze(s, SOCKETS_DOZE_ALONE);
        return -EINTR;
    }
    sockets_stream_learn_wake(s, slept_at);
    woken = end_to_doze(s, SOCKETS_DOZE_ALONE);
    return woken ? 1 : n > 0 ? 0 : -EPIPE;
}

static int sleep_on(struct sockets_stream *s, int fd)
{
    int result = 0;

    for (int turn = 0; result == 0 && turn < TURNS; turn++)
        result = sleep_once(s, fd);
    if (result == -EAGAIN)
        return 0;
    if (result == -EPIPE)
        atomic_store(&s->record->rx.wakeful, 1);
    return sockets_stream_hint(s) ? 1 : result == -EINTR ? result : 0;
}

int sockets_stream_doze(struct sockets_stream *s)
{
    int fd, result;

    if (s->carrier || !sockets_stream_claim_waker(s, SOCKETS_WAKER_READER))
        return 0;
    fd = sockets_stream_begin_use(s);
    result = fd < 0 ? 0 : sleep_on(s, fd);
    sockets_stream_end_use(s);
    sockets_stream_release_waker(s);
    /* Closed by another thread: by now it may be the number of another file. */
    return result == 0 && atomic_load(&s->fds) == 0 ? -EBADF : result;
}

/* ---- sleeping for several files ---- */

bool sockets_stream_claim_waker(struct sockets_stream *s, enum sockets_waker_user user)
{
    uint32_t nobody = SOCKETS_WAKER_FREE;

    return atomic_load(&s->waker) >= 0 && !atomic_load(&s->record->rx.wakeful) &&
           atomic_compare_exchange_strong(&s->waker_user, &nobody, user);
}

void sockets_stream_release_waker(struct sockets_stream *s)
{
    atomic_store(&s->waker_user, SOCKETS_WAKER_FREE);
}

static uint32_t dozer(bool in_set)
{
    return in_set ? SOCKETS_DOZE_SET : SOCKETS_DOZE_ALONE;
}

bool sockets_stream_begin_doze(struct sockets_stream *s, bool in_set)
{
    if (sockets_stream_begin_use(s) >= 0 && begin_to_doze(s, dozer(in_set)))
        return true;
    sockets_stream_end_use(s);
    return false;
}

void sockets_stream_end_doze(struct sockets_stream *s, bool in_set)
{
    end_to_doze(s, dozer(in_set));
    sockets_stream_end_use(s);
}

/* The other end sends one byte for each sleep: whoever sends many wants to keep us awake. */
bool sockets_stream_take_wake_ups(struct sockets_stream *s)
{
    char bytes[64];
    const int error = errno, fd = sockets_stream_begin_use(s);
    const ssize_t n = fd < 0 ? 0 : sockets_real.recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    const bool lives =
        (n > 0 && n < (ssize_t)sizeof(bytes)) || (n < 0 && (errno == EAGAIN || errno == EINTR));

    sockets_stream_end_use(s);
    if (!lives)
        atomic_store(&s->record->rx.wakeful, 1);
    errno = error;
    return lives;
}
