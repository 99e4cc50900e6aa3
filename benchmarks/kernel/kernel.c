/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kernel.c - messages between two machines, by the kernel module and by sockets.
 *
 *   kernel_bench SIDE ADDRESS INTERFACE ROUNDS [BYTES]
 *
 * Side 0 listens at the address, side 1 connects to it; that connection is for meeting only.  In
 * each round all methods have their turn, so what the machine does otherwise meets all of
 * them.  Prints a line for each turn: what, the method, bytes, nanoseconds of one message.  With
 * BYTES, there are only round trips of so many over the module.
 */
#include "kernel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PORT = 7001,
    TRIPS = 50,    /* round trips of a turn; their median counts */
    MESSAGES = 96, /* of a stream's turn */
    WINDOW = 32,   /* messages on their way; less than any card's ring has room for */
    ACK = 16,      /* messages between two acknowledgements */
    SMALL = 40,    /* bytes */
    PATIENCE_S = 30,
};

int side;
const char *interface;
uint8_t payload[LONGEST], landing[LONGEST];

static int other; /* the connection */

void die(const char *what)
{
    fprintf(stderr, "kernel_bench: side %d: %s: %s\n", side, what, strerror(errno));
    exit(1);
}

/* ---- meeting ----------------------------------------------------------------------------- */

static void tell(const void *bytes, size_t n)
{
    if (write(other, bytes, n) != (ssize_t)n)
        die("the other side");
}

static void hear(void *bytes, size_t n)
{
    if (recv(other, bytes, n, MSG_WAITALL) != (ssize_t)n)
        die("the other side");
}

void exchange(const void *mine, void *theirs)
{
    tell(mine, BLOB);
    hear(theirs, BLOB);
}

void arrive(void)
{
    tell("", 1);
}

bool other_is_here(void)
{
    char byte;
    const ssize_t got = recv(other, &byte, 1, MSG_DONTWAIT);

    if (got == 0 || (got < 0 && errno != EAGAIN))
        die("the other side");
    return got == 1;
}

void meet(void)
{
    char byte;

    arrive();
    hear(&byte, 1);
}

static int wait_for_other(const struct sockaddr_in *address)
{
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    const int on = 1;
    int fd;

    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listener < 0 || bind(listener, (const struct sockaddr *)address, sizeof *address) < 0 ||
        listen(listener, 1) < 0)
        die("listen");
    fd = accept(listener, NULL, NULL);
    close(listener);
    return fd;
}

static int look_for_other(const struct sockaddr_in *address)
{
    const struct timespec pause = {.tv_nsec = 100000000};

    for (int tries = 0; tries < 600; tries++) {
        const int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0)
            return fd;
        close(fd);
        nanosleep(&pause, NULL);
    }
    return -1;
}

static void find_other(const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    const int on = 1;

    if (inet_pton(AF_INET, text, &address.sin_addr) != 1)
        die(text);
    other = side == 0 ? wait_for_other(&address) : look_for_other(&address);
    if (other < 0 || setsockopt(other, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        die("no connection");
}

/* ---- turns ---------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Nothing comes back that gets lost. */
static void check_patience(uint64_t *since)
{
    if (*since == 0)
        *since = now_ns();
    if (now_ns() - *since > PATIENCE_S * 1000000000ull) {
        errno = ETIMEDOUT;
        die("a message is lost");
    }
}

static void put(const struct method *m, uint32_t length)
{
    uint64_t since = 0;

    while (!m->put(length))
        check_patience(&since);
}

/* Looks at the clock now and then only: that is not what is measured. */
static void take(const struct method *m, uint32_t length)
{
    uint64_t since = 0;

    for (uint32_t looks = 1; !m->take(length); looks++)
        if (looks % 4096 == 0)
            check_patience(&since);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void tell_median(const char *what, const struct method *m, uint32_t length, uint64_t *ns)
{
    qsort(ns, TRIPS, sizeof ns[0], compare);
    printf("%s %s %u %llu\n", what, m->name, length, (unsigned long long)ns[TRIPS / 2]);
}

static void answer(const struct method *m, uint32_t length)
{
    for (int i = 0; i < TRIPS; i++) {
        take(m, length);
        put(m, length);
    }
}

/* And what of it the sending takes. */
static void round_trips(const struct method *m, uint32_t length)
{
    uint64_t sending[TRIPS], all[TRIPS];

    meet();
    if (side == 1) {
        answer(m, length);
        return;
    }
    for (int i = 0; i < TRIPS; i++) {
        const uint64_t start = now_ns();

        put(m, length);
        sending[i] = now_ns() - start;
        take(m, length);
        all[i] = now_ns() - start;
    }
    tell_median("send", m, length, sending);
    tell_median("round_trip", m, length, all);
}

/* The receiver acknowledges with a message of one byte, so that nothing overflows. */
static void stream(const struct method *m, uint32_t length)
{
    const uint64_t start = (meet(), now_ns());
    int taken = 0;

    if (side == 1) {
        for (int i = 1; i <= MESSAGES; i++) {
            take(m, length);
            if (i % ACK == 0)
                put(m, 1);
        }
        return;
    }
    for (int i = 0; i < MESSAGES; i++) {
        for (; i - taken >= WINDOW; taken += ACK)
            take(m, 1);
        put(m, length);
    }
    for (; taken < MESSAGES; taken += ACK)
        take(m, 1);
    printf("stream %s %u %llu\n", m->name, length,
           (unsigned long long)(now_ns() - start) / MESSAGES);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static const struct method *const methods[] = {&fe_method,     &fe_pieces_method, &gam_method,
                                               &packet_method, &udp_method,       &tcp_method};
enum { METHODS = sizeof methods / sizeof *methods };

static void run_round(void)
{
    static const uint32_t sizes[] = {1, SMALL, 128, 256, 512, 1024, LONGEST};

    for (int i = 0; i < METHODS; i++)
        round_trips(methods[i], SMALL);
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int i = 0; i < METHODS; i++)
            if (methods[i]->streams)
                stream(methods[i], sizes[s]);
}

static void compare_methods(int rounds)
{
    for (int i = 0; i < METHODS; i++)
        methods[i]->open();
    pins_open();
    for (; rounds > 0; rounds--) {
        run_round();
        pins_round();
    }
}

static void repeat_round_trips(int rounds, uint32_t length)
{
    if (length > LONGEST) {
        errno = EMSGSIZE;
        die("BYTES");
    }
    fe_method.open();
    for (; rounds > 0; rounds--)
        round_trips(&fe_method, length);
}

int main(int argc, char **argv)
{
    if (argc != 5 && argc != 6) {
        fprintf(stderr, "usage: kernel_bench SIDE ADDRESS INTERFACE ROUNDS [BYTES]\n");
        return 2;
    }
    side = atoi(argv[1]);
    interface = argv[3];
    find_other(argv[2]);
    if (argc == 5)
        compare_methods(atoi(argv[4]));
    else
        repeat_round_trips(atoi(argv[4]), (uint32_t)strtoul(argv[5], NULL, 10));
    meet();
    return 0;
}
