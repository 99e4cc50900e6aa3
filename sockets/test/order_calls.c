/* SPDX-License-Identifier: BSD-3-Clause
 *
 * order_calls: which of several files a set of epoll tells of first.  Whatever was done first is
 * told of first: data of a connection, its end, another connection that wants to be accepted, an
 * eventfd.  It prints what it sees, which has to be the same over plain TCP and over unetsock.
 *
 * "far": between hosts, which have no common order, everything is told of once all the same.
 *
 * There is one file at most each round that is no connection with rings, as docs/sockets.md says.
 *
 * Each round begins when the set has found nothing ready, so that the kernel has nothing left in
 * its list of what is; and everything happens once a round, by one thread on one processor, whose
 * packets the kernel keeps in their order.
 */
#include "calls.h"
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

enum {
    PAIRS = 6,
    FILES = PAIRS + 1, /* the connections, and one of: */
    BELL = PAIRS,      /* an eventfd */
    DOOR = PAIRS + 1,  /* a listening socket */
    LONGEST = 40000,
    ROUNDS = 150,
};

struct scene {
    int set, bell, door;
    struct sockaddr_in door_address;
    uint32_t kind;       /* of the events */
    int pair[PAIRS][2];  /* the client's end, and the server's */
    int visitor;         /* who knocked at the door */
    int step[FILES + 1]; /* of this round, in which something happened to it; 0: none yet */
    size_t length[PAIRS];
    bool ends[PAIRS];
    int steps;
    uint32_t random;
};

static bool far;

static uint32_t random_below(struct scene *s, uint32_t limit)
{
    s->random = s->random * 1664525 + 1013904223;
    return (s->random >> 12) % limit;
}

static void watch(const struct scene *s, int op, int fd, uint32_t name)
{
    struct epoll_event event = {.events = EPOLLIN | s->kind, .data.u32 = name};

    if (epoll_ctl(s->set, op, fd, &event) < 0)
        die("epoll_ctl");
}

static void open_pair(struct scene *s, uint32_t name)
{
    make_pair(s->pair[name]);
    fcntl(s->pair[name][1], F_SETFL, O_NONBLOCK);
    watch(s, EPOLL_CTL_ADD, s->pair[name][1], name);
}

static void open_scene(struct scene *s, uint32_t kind)
{
    *s = (struct scene){.set = epoll_create1(0), .kind = kind, .random = kind + 1, .visitor = -1};
    s->bell = eventfd(0, EFD_NONBLOCK);
    s->door = listen_anywhere(SOCK_NONBLOCK, 8, &s->door_address);
    if (s->door < 0)
        die("listen");
    for (uint32_t name = 0; name < PAIRS; name++)
        open_pair(s, name);
    watch(s, EPOLL_CTL_ADD, s->bell, BELL);
    watch(s, EPOLL_CTL_ADD, s->door, DOOR);
}

static void close_scene(struct scene *s)
{
    for (int i = 0; i < PAIRS; i++)
        close_pair(s->pair[i]);
    close(s->bell);
    close(s->door);
    close(s->set);
}

/* ---- the client: one thing after another --------------------------------------------------- */

static void send_all(int fd, size_t length)
{
    static const char data[LONGEST];

    while (length > 0) {
        const ssize_t n = write(fd, data, length);

        if (n < 0)
            die("write");
        length -= (size_t)n;
    }
}

static void act(struct scene *s, uint32_t name)
{
    const uint64_t one = 1;

    s->step[name] = ++s->steps;
    if (name == BELL) {
        if (write(s->bell, &one, sizeof(one)) != sizeof(one))
            die("eventfd");
    } else if (name == DOOR) {
        s->visitor = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(s->visitor, (void *)&s->door_address, sizeof(s->door_address)) < 0)
            die("connect");
    } else if ((s->ends[name] = random_below(s, 16) == 0)) {
        shutdown(s->pair[name][0], SHUT_WR);
    } else {
        s->length[name] = 1 + random_below(s, random_below(s, 8) == 0 ? LONGEST : 100);
        send_all(s->pair[name][0], s->length[name]);
    }
}

/* Something happens to some of the files, in an order by chance. */
static void act_all(struct scene *s)
{
    uint32_t name[FILES];

    for (uint32_t i = 0; i < FILES; i++) {
        const uint32_t j = random_below(s, i + 1);

        name[i] = name[j];
        name[j] = i;
    }
    for (uint32_t i = 0, count = 2 + random_below(s, FILES - 1); i < count; i++)
        act(s, name[i] == BELL ? BELL + random_below(s, 2) : name[i]);
}

/* ---- the server ------------------------------------------------------------------------- */

/* Take all that happened to a file.  False: it was told of for nothing, as edges may be. */
static bool take(struct scene *s, uint32_t name)
{
    char data[4096];
    uint64_t count;
    size_t got = 0;
    ssize_t n;

    if (name == BELL)
        return read(s->bell, &count, sizeof(count)) == sizeof(count);
    if (name == DOOR) {
        const int fd = accept(s->door, NULL, NULL);

        if (fd >= 0)
            close(fd);
        return fd >= 0;
    }
    while ((n = read(s->pair[name][1], data, sizeof(data))) > 0 || got > 0) {
        got += n > 0 ? (size_t)n : 0;
        if (n == 0 || (n < 0 && errno != EAGAIN))
            die("the end among data");
        if (__atomic_load_n(&s->length[name], __ATOMIC_ACQUIRE) == got)
            return true;
    }
    if (n < 0 && errno != EAGAIN)
        die("read");
    if (n == 0) /* which it would be told of for ever */
        watch(s, EPOLL_CTL_DEL, s->pair[name][1], name);
    return n == 0;
}

static void watch_again(const struct scene *s, uint32_t name)
{
    if ((s->kind & EPOLLONESHOT) && (name >= PAIRS || !s->ends[name]))
        watch(s, EPOLL_CTL_MOD,
              name == BELL   ? s->bell
              : name == DOOR ? s->door
                             : s->pair[name][1],
              name);
}

/* Wait once, and take what is told of.  *count is how much was told of in this round, which is the
 * number of its step as long as all is in order. */
static void take_in_order(struct scene *s, int most, int timeout, int *count)
{
    struct epoll_event events[FILES];
    const int n = epoll_wait(s->set, events, most, timeout);

    if (n < 0)
        die("epoll_wait");
    for (int i = 0; i < n; i++) {
        const uint32_t name = events[i].data.u32;
        const bool taken = take(s, name);

        watch_again(s, name);
        if (taken && s->step[name] != ++*count && !far) {
            printf("what was done as number %d is told of as number %d\n", s->step[name], *count);
            exit(1);
        }
    }
}

/* For how many events to ask: those by level come in order even to who asks for few, if nothing
 * comes meanwhile. */
static int events_of(const struct scene *s, int round)
{
    return s->kind == 0 && round % 2 ? 2 : FILES;
}

/* Nothing is ready, and the kernel knows: the next round may begin. */
static void end_round(struct scene *s)
{
    struct epoll_event events[FILES];
    int n;

    for (uint32_t name = 0; name < PAIRS; name++)
        if (s->ends[name]) {
            close_pair(s->pair[name]);
            open_pair(s, name);
        }
    if (s->visitor >= 0)
        close(s->visitor);
    s->visitor = -1;
    memset(s->step, 0, sizeof(s->step));
    memset(s->length, 0, sizeof(s->length));
    memset(s->ends, 0, sizeof(s->ends));
    s->steps = 0;
    while ((n = epoll_wait(s->set, events, FILES, 0)) > 0)
        for (int i = 0; i < n; i++)
            watch_again(s, events[i].data.u32);
}

/* ---- one thread that does all; and two, of which one sleeps ------------------------------- */

static void keep_to_one_processor(void)
{
    cpu_set_t all, one;

    sched_getaffinity(0, sizeof(all), &all);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

static void alone(struct scene *s)
{
    for (int round = 0; round < ROUNDS; round++) {
        int count = 0;

        end_round(s);
        act_all(s);
        while (count < s->steps)
            take_in_order(s, events_of(s, round), -1, &count);
    }
}

static sem_t begun, done;

static void *run_client(void *scene)
{
    keep_to_one_processor();
    for (int round = 0; round < ROUNDS; round++) {
        sem_wait(&begun);
        act_all(scene);
        sem_post(&done);
    }
    return NULL;
}

/* How many steps a round has is not known before they are over. */
static void together(struct scene *s)
{
    pthread_t client;

    sem_init(&begun, 0, 0);
    sem_init(&done, 0, 0);
    if (pthread_create(&client, NULL, run_client, s) != 0)
        die("pthread_create");
    for (int round = 0; round < ROUNDS; round++) {
        bool over = false;
        int count = 0;

        end_round(s);
        sem_post(&begun);
        while (!over || count < s->steps) {
            take_in_order(s, FILES, over ? -1 : 1, &count);
            over = over || sem_trywait(&done) == 0;
        }
    }
    pthread_join(client, NULL);
}

/* ---- what the kernel lists ------------------------------------------------------------------ */

/* Print which connections the set tells of, and take what they have. */
static void tell_and_take(struct scene *s)
{
    struct epoll_event events[PAIRS];
    char data[8];
    const int n = epoll_wait(s->set, events, PAIRS, 2000);

    for (int i = 0; i < n; i++) {
        const uint32_t name = events[i].data.u32;

        printf("%u", name);
        if (read(s->pair[name][1], data, sizeof(data)) != 1)
            die("read");
    }
}

/* Files 1 and 2 are new, 0 is long in use.  The set tells of 2, then of 0, and is not asked again
 * before something comes from 1 and from 2: in this order, of which the second is listed no longer
 * from when it was told of. */
static void take_listed(struct scene *s)
{
    for (uint32_t name = 1; name < PAIRS; name++) {
        close_pair(s->pair[name]);
        s->pair[name][0] = socket(AF_INET, SOCK_STREAM, 0);
        connect_quietly(s->pair[name]);
        watch(s, EPOLL_CTL_ADD, s->pair[name][1], name);
    }
    for (int i = 0; i < 20; i++) {
        send_all(s->pair[0][0], 1);
        tell_and_take(s);
    }
    for (uint32_t first = 1; first + 1 < PAIRS; first += 2) {
        send_all(s->pair[first + 1][0], 1);
        tell_and_take(s);
        send_all(s->pair[0][0], 1);
        tell_and_take(s);
        send_all(s->pair[first][0], 1);
        send_all(s->pair[first + 1][0], 1);
        tell_and_take(s);
        printf(" ");
    }
}

static void run(const char *name, uint32_t kind, void (*rounds)(struct scene *))
{
    struct scene s;

    open_scene(&s, kind);
    printf("%s: ", name);
    rounds(&s);
    puts("in order");
    close_scene(&s);
}

int main(int argc, char **argv)
{
    far = argc > 1 && strcmp(argv[1], "far") == 0;
    alarm(50);
    begin_listening();
    /* Sets by edges ask the kernel but once, as docs/sockets.md says: theirs come without haste. */
    run("two threads, level", 0, together);
    keep_to_one_processor();
    run("one thread, level", 0, alone);
    run("one thread, edges", EPOLLET, alone);
    run("one thread, once", EPOLLONESHOT, alone);
    if (!far)
        run("listed", 0, take_listed);
    return 0;
}
