/* SPDX-License-Identifier: BSD-3-Clause
 *
 * upcall.c - upcalls by signal or by thread (section 3.1 of the paper).
 *
 * Whoever rings the doorbell starts upcall_run, in the signal's handler or in the
 * upcall thread.  Masking is Dekker's handshake, so that it costs a store, a
 * fence and a load:
 *
 *   mask                           upcall_run
 *   ----                           ----------
 *   masked = 1                     running = 1
 *   fence                          fence
 *   while (running) yield          if (masked) { pending = 1; running = 0; }
 *
 * At unmask, who finds `pending` set rings the endpoint's own bell.
 *
 * A wired endpoint's peers ring no bell: what arrives makes its socket readable, and starts
 * upcall_run as well, which takes it in.
 */
#include "core/core.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct unet_upcall {
    struct unet_endpoint *ep;
    enum unet_upcall_mode mode;
    uint32_t conditions;
    unet_upcall_fn *fn;
    void *arg;
    uint32_t masked;
    uint32_t pending; /* one was held back by the mask */
    uint32_t running;
    uint32_t stop; /* the thread has to end */
    uint32_t told; /* the endpoint's `delivered` at the last upcall */
    pthread_t thread;
};

static uint32_t flag_load(const uint32_t *flag)
{
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void flag_store(uint32_t *flag, uint32_t value)
{
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

/* A signal's handler runs on the thread that masks it, so a compiler barrier suffices. */
static void upcall_fence(const struct unet_upcall *u)
{
    if (u->mode == UNET_UPCALL_THREAD)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    else
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void upcall_ring_self(struct unet_endpoint *ep)
{
    uint32_t none = 0;

    unet_bell_ring(ep->bell[1], &none, 0);
}

/* Whoever clears the pending flag rings the bell for the upcall that was held back. */
static void ring_if_pending(struct unet_upcall *u)
{
    if (flag_load(&u->pending) && __atomic_exchange_n(&u->pending, 0, __ATOMIC_ACQ_REL))
        upcall_ring_self(u->ep);
}

/* ---- running --------------------------------------------------------------- */

static bool upcall_enter(struct unet_upcall *u)
{
    flag_store(&u->running, 1);
    upcall_fence(u);
    if (!flag_load(&u->masked))
        return true;
    flag_store(&u->pending, 1);
    flag_store(&u->running, 0);
    upcall_fence(u);
    if (!flag_load(&u->masked))
        ring_if_pending(u);
    return false;
}

/* A wired endpoint is looked at more often than messages come: for the network's own frames, and
 * again when more may be there.  Messages that the last upcall has left are no reason for another.
 */
static bool upcall_has_news(const struct unet_upcall *u)
{
    return !u->ep->wired || u->told != u->ep->delivered;
}

static bool upcall_is_due(const struct unet_upcall *u)
{
    return ((u->conditions & UNET_NONEMPTY) && unet_rx_peek(u->ep)) ||
           ((u->conditions & UNET_ALMOST_FULL) && unet_rx_almost_full(u->ep));
}

/* It arms before it looks, so that what comes after the look rings again.  Returns false if upcalls
 * are masked. */
static bool upcall_run(struct unet_upcall *u)
{
    unet_bell_drain(u->ep->bell[0]);
    if (!upcall_enter(u))
        return false;
    unet_bell_arm(u->ep, u->conditions);
    if (u->ep->wired) {
        u->ep->ops->state(u->ep, 0);  /* errors make a socket readable, too */
        if (unet_progress(u->ep) > 0) /* and more may be there, of which no signal tells again */
            upcall_ring_self(u->ep);
    }
    if (upcall_has_news(u) && upcall_is_due(u)) {
        u->told = u->ep->delivered;
        u->ep->stats.upcalls++;
        u->fn(u->ep, u->arg);
    }
    flag_store(&u->running, 0);
    return true;
}

/* While upcalls are masked the socket stays readable, because nobody empties it; the thread then
 * waits for the bell alone. */
static void *upcall_thread(void *arg)
{
    struct unet_upcall *u = arg;
    struct pollfd fd[] = {{.fd = u->ep->bell[0], .events = POLLIN},
                          {.fd = u->ep->fd, .events = POLLIN}};
    bool held = false;

    while (!flag_load(&u->stop)) {
        if (poll(fd, u->ep->wired && !held ? 2 : 1, -1) > 0 && !flag_load(&u->stop))
            held = !upcall_run(u);
    }
    return NULL;
}

static int upcall_start_thread(struct unet_upcall *u)
{
    sigset_t all, before;
    int error;

    /* The application's signals are for its own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    error = pthread_create(&u->thread, NULL, upcall_thread, u);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -error;
}

static void upcall_stop_thread(struct unet_upcall *u)
{
    flag_store(&u->stop, 1);
    upcall_ring_self(u->ep);
    pthread_join(u->thread, NULL);
}

/* ---- SIGIO ------------------------------------------------------------------ */

static struct unet_upcall *signal_owner;
static struct sigaction signal_previous;

static void sigio_pass_on(int number, siginfo_t *info, void *context)
{
    if (signal_previous.sa_flags & SA_SIGINFO)
        signal_previous.sa_sigaction(number, info, context);
    else if (signal_previous.sa_handler != SIG_DFL && signal_previous.sa_handler != SIG_IGN)
        signal_previous.sa_handler(number);
}

/* The signal names the descriptor, unless the kernel had no memory for a queued signal (SI_KERNEL).
 */
static bool sigio_is_ours(const siginfo_t *info, const struct unet_endpoint *ep)
{
    return info->si_code == SI_KERNEL ||
           (info->si_code > 0 &&
            (info->si_fd == ep->bell[0] || (ep->wired && info->si_fd == ep->fd)));
}

static void on_sigio(int number, siginfo_t *info, void *context)
{
    struct unet_upcall *u = __atomic_load_n(&signal_owner, __ATOMIC_ACQUIRE);
    int saved = errno;

    if (u && sigio_is_ours(info, u->ep))
        upcall_run(u);
    else
        sigio_pass_on(number, info, context);
    errno = saved;
}

/* The handler is never removed: a SIGIO that is still pending when the upcalls end would otherwise
 * end the process. */
static int sigio_install(void)
{
    static bool installed;
    struct sigaction action = {.sa_sigaction = on_sigio, .sa_flags = SA_SIGINFO | SA_RESTART};

    if (installed)
        return 0;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGIO, &action, &signal_previous) < 0)
        return -errno;
    installed = true;
    return 0;
}

static int sigio_from(int fd)
{
    const struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = gettid()};

    if (fcntl(fd, F_SETOWN_EX, &owner) < 0 || fcntl(fd, F_SETSIG, SIGIO) < 0 ||
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC) < 0)
        return -errno;
    return 0;
}

static void sigio_not_from(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_ASYNC);
}

static void upcall_stop_signal(struct unet_upcall *u)
{
    sigio_not_from(u->ep->bell[0]);
    if (u->ep->wired)
        sigio_not_from(u->ep->fd);
    __atomic_store_n(&signal_owner, NULL, __ATOMIC_RELEASE);
    while (flag_load(&u->running))
        sched_yield();
}

static int upcall_start_signal(struct unet_upcall *u)
{
    struct unet_upcall *none = NULL;
    int error;

    if (!__atomic_compare_exchange_n(&signal_owner, &none, u, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return -EBUSY;
    error = sigio_install();
    if (error == 0)
        error = sigio_from(u->ep->bell[0]);
    if (error == 0 && u->ep->wired)
        error = sigio_from(u->ep->fd);
    if (error)
        upcall_stop_signal(u);
    return error;
}

/* ---- the interface ----------------------------------------------------------- */

/* True when the upcall function itself is the caller. */
static bool upcall_is_inside(const struct unet_upcall *u)
{
    return u->mode == UNET_UPCALL_THREAD ? pthread_equal(pthread_self(), u->thread) != 0
                                         : flag_load(&u->running) != 0;
}

static int upcall_end(struct unet_endpoint *ep)
{
    struct unet_upcall *u = ep->upcall;

    if (!u)
        return 0;
    if (upcall_is_inside(u))
        return -EDEADLK;
    unet_bell_disarm(ep);
    if (u->mode == UNET_UPCALL_THREAD)
        upcall_stop_thread(u);
    else
        upcall_stop_signal(u);
    unet_bell_disarm(ep); /* it may have run, and armed, meanwhile */
    unet_bell_drain(ep->bell[0]);
    ep->upcall = NULL;
    free(u);
    return 0;
}

static bool upcall_request_ok(enum unet_upcall_mode mode, uint32_t conditions, unet_upcall_fn *fn)
{
    if (mode == UNET_UPCALL_NONE)
        return true;
    return (mode == UNET_UPCALL_SIGNAL || mode == UNET_UPCALL_THREAD) && fn && conditions != 0 &&
           (conditions & ~(uint32_t)(UNET_NONEMPTY | UNET_ALMOST_FULL)) == 0;
}

static int upcall_begin(struct unet_upcall *u)
{
    struct unet_endpoint *ep = u->ep;
    int error;

    ep->upcall = u;
    error = u->mode == UNET_UPCALL_THREAD ? upcall_start_thread(u) : upcall_start_signal(u);
    if (error) {
        ep->upcall = NULL;
        free(u);
        return error;
    }
    upcall_ring_self(ep); /* arms, and tells of what is there already */
    return 0;
}

int unet_upcall(struct unet_endpoint *ep, enum unet_upcall_mode mode, uint32_t conditions,
                unet_upcall_fn *fn, void *arg)
{
    struct unet_upcall *u;
    int error;

    if (!upcall_request_ok(mode, conditions, fn))
        return -EINVAL;
    if (ep->bell[0] < 0 && !ep->wired && mode != UNET_UPCALL_NONE)
        return -EOPNOTSUPP;
    if (ep->config.trains && mode == UNET_UPCALL_SIGNAL) /* may have two sockets, in an epoll set */
        return -EOPNOTSUPP;
    error = upcall_end(ep);
    if (error || mode == UNET_UPCALL_NONE)
        return error;
    if (ep->bell[0] < 0 && (error = unet_bell_open(ep->bell)) != 0)
        return error;
    u = calloc(1, sizeof *u);
    if (!u)
        return -ENOMEM;
    *u = (struct unet_upcall){.ep = ep,
                              .mode = mode,
                              .conditions = conditions,
                              .fn = fn,
                              .arg = arg,
                              .told = ep->delivered - 1};
    return upcall_begin(u);
}

void unet_upcall_arrived(struct unet_endpoint *ep)
{
    if (!upcall_is_inside(ep->upcall))
        upcall_ring_self(ep);
}

void unet_upcall_mask(struct unet_endpoint *ep)
{
    struct unet_upcall *u = ep->upcall;

    if (!u)
        return;
    flag_store(&u->masked, 1);
    upcall_fence(u);
    if (u->mode != UNET_UPCALL_THREAD) /* its handler runs on this very thread */
        return;
    while (flag_load(&u->running) && !upcall_is_inside(u))
        sched_yield();
}

void unet_upcall_unmask(struct unet_endpoint *ep)
{
    struct unet_upcall *u = ep->upcall;

    if (!u)
        return;
    flag_store(&u->masked, 0);
    upcall_fence(u);
    ring_if_pending(u);
}
