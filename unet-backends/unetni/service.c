/* SPDX-License-Identifier: BSD-3-Clause
 *
 * service.c - the loop: who has its turn, and when to sleep.
 *
 * While something was to be done lately, the service looks at the wire and at the send queues of
 * those endpoints that are awake, again and again, and yields the processor to whoever else wants
 * it when it finds nothing.  When all endpoints sleep it does, too, in epoll_wait, until a frame, a
 * ring, a client or a signal comes.
 */
#include "unetni/unetni.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENTS = 64,
    LOOK_TURNS = 64,  /* between two looks at connections, while there is work */
    LOOK_NS = 200000, /* or that long */
    BLOCKED_MS =
        1, /* the wire takes nothing, or users have had theirs: nobody tells when it goes on */
};

uint64_t unetni_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void unetni_service_init(struct unetni_service *s)
{
    LIST_INIT(&s->endpoints);
    LIST_INIT(&s->users);
    TAILQ_INIT(&s->active);
    s->listener = s->epoll = s->spare = s->signals = s->wire.socket = s->wire.second = -1;
    if (getrandom(&s->next_port, sizeof s->next_port, 0) != sizeof s->next_port)
        s->next_port = 0; /* any is good */
}

/* ---- listening ---------------------------------------------------------------------------- */

static int fail_with(const char *path, const char *what, const char *remedy)
{
    const int error = errno;

    fprintf(stderr, "unetni: %s: %s: %s%s\n", path, what, strerror(error), remedy);
    return -error;
}

static int fail(const char *path, const char *what)
{
    return fail_with(path, what, "");
}

int unetni_service_make_folder(void)
{
    const mode_t mask = umask(022); /* what systemd makes for the unit is open to all, too */
    const int made = mkdir(UNET_SERVICE_FOLDER, 0755);

    umask(mask);
    if (made == 0 || errno == EEXIST)
        return 0;
    return fail_with(UNET_SERVICE_FOLDER, "cannot be made",
                     "; start unetni as root or by systemd, or name another place with --socket");
}

/* What a service has left that was killed is nobody's.  Other files are refused with ECONNREFUSED,
 * too, and stay. */
static int clear_path(int fd, const struct sockaddr_un *at)
{
    struct stat file;

    if (connect(fd, (const struct sockaddr *)at, sizeof *at) == 0) {
        errno = EADDRINUSE;
        return fail(at->sun_path, "another unetni serves there");
    }
    if (errno == ECONNREFUSED && lstat(at->sun_path, &file) == 0 && S_ISSOCK(file.st_mode) &&
        unlink(at->sun_path) < 0)
        return fail(at->sun_path, "cannot be removed");
    return 0;
}

static const char *bind_remedy(int error)
{
    if (error == ENOENT || error == ENOTDIR)
        return "; make its directory, or name another place with --socket";
    if (error == EADDRINUSE)
        return "; what is there is no socket of unetni: name another place with --socket";
    return "";
}

/* Nobody can connect before the permissions are right. */
static int open_listener(const struct sockaddr_un *at, int fd, mode_t mode, gid_t group)
{
    const mode_t mask = umask(0777);
    const int bound = bind(fd, (const struct sockaddr *)at, sizeof *at);

    umask(mask);
    if (bound < 0)
        return fail_with(at->sun_path, "cannot listen there", bind_remedy(errno));
    if (group != (gid_t)-1 && chown(at->sun_path, (uid_t)-1, group) < 0)
        return fail(at->sun_path, "cannot be given to the group");
    if (chmod(at->sun_path, mode) < 0 || listen(fd, SOMAXCONN) < 0)
        return fail(at->sun_path, "cannot listen there");
    return 0;
}

static int watch(struct unetni_service *s, int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

    return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event);
}

int unetni_service_listen(struct unetni_service *s, const char *path, mode_t mode, gid_t group)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int error;

    if ((size_t)snprintf(at.sun_path, sizeof at.sun_path, "%s", path) >= sizeof at.sun_path) {
        errno = ENAMETOOLONG;
        return fail(path, "cannot listen there");
    }
    s->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (s->listener < 0 || s->epoll < 0 || s->spare < 0)
        return fail(path, "cannot listen there");
    error = clear_path(s->listener, &at);
    if (error == 0)
        error = open_listener(&at, s->listener, mode, group);
    if (error)
        return error;
    if (watch(s, s->listener, &s->listener) < 0 || watch(s, s->wire.socket, &s->wire) < 0 ||
        (s->wire.second >= 0 && watch(s, s->wire.second, &s->wire) < 0) ||
        watch(s, s->signals, &s->signals) < 0)
        return fail(path, "cannot wait for events");
    return 0;
}

/* ---- the loop ---------------------------------------------------------------------------- */

/* Frames from the wire need no look: every turn takes them. */
static void handle(struct unetni_service *s, void *what)
{
    if (what == &s->listener)
        unetni_client_accept(s);
    else if (what == &s->signals)
        s->over = true;
    else if (what != &s->wire)
        unetni_client_serve(s, what);
}

static void look(struct unetni_service *s, int timeout_ms)
{
    struct epoll_event event[EVENTS];
    const int n = epoll_wait(s->epoll, event, EVENTS, timeout_ms);

    s->now_ns = unetni_now_ns();
    if (timeout_ms != 0 && n > 0)
        s->busy_ns = s->now_ns;
    for (int i = 0; i < n; i++)
        handle(s, event[i].data.ptr);
    s->looked_ns = s->now_ns;
}

/* Nothing was to be done: yield, or sleep if that has been so for a while. */
static void pause_a_while(struct unetni_service *s)
{
    if (s->batch.count > 0 || s->throttled) {
        look(s, BLOCKED_MS);
    } else if (s->active_count == 0 && s->now_ns - s->busy_ns >= s->spin_ns) {
        look(s, -1);
    } else {
        sched_yield();
    }
}

unsigned unetni_service_turn(struct unetni_service *s)
{
    unsigned work;

    s->now_ns = unetni_now_ns();
    work = s->wire.ops->receive(s);
    work += unetni_schedule_round(s);
    if (s->draining > 0)
        unetni_client_drained(s);
    if (work > 0)
        s->busy_ns = s->now_ns;
    if (s->turns++ % LOOK_TURNS == 0 || s->now_ns - s->looked_ns >= LOOK_NS) {
        look(s, 0);
        unetni_schedule_rest(s);
    }
    return work;
}

void unetni_service_run(struct unetni_service *s)
{
    s->busy_ns = unetni_now_ns();
    while (!s->over)
        if (unetni_service_turn(s) == 0)
            pause_a_while(s);
}

void unetni_service_close(struct unetni_service *s)
{
    while (!LIST_EMPTY(&s->endpoints))
        unetni_client_end(s, LIST_FIRST(&s->endpoints));
    s->wire.ops->close(&s->wire);
    close(s->listener);
    close(s->epoll);
    close(s->spare);
}
