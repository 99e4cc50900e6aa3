/* SPDX-License-Identifier: BSD-3-Clause
 *
 * atm_cost ITF NODE: what it costs to send and to receive one message, by AAL5 and by UDP, where
 * both come back to the sender: the VC to one's own node and the loopback interface.  On a machine
 * whose clock counts instructions, nanoseconds are instructions.  Ends with 1 if 40 bytes by AAL5
 * take more than 1.1 times those by UDP.
 */
#include <arpa/inet.h>
#include <linux/atm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { VCI = 100, MESSAGES = 300, WARMING = 50, SIZE_MOST = 1400 };

struct cost {
    uint64_t send, receive;
};

static void check(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(2);
}

static int open_aal5(int itf, int node)
{
    const int fd = socket(PF_ATMPVC, SOCK_DGRAM, ATM_AAL5);
    struct sockaddr_atmpvc place;
    struct atm_qos qos;

    check(fd >= 0, "socket of PF_ATMPVC");
    memset(&qos, 0, sizeof qos);
    qos.aal = ATM_AAL5;
    qos.txtp.traffic_class = qos.rxtp.traffic_class = ATM_UBR;
    qos.txtp.max_sdu = qos.rxtp.max_sdu = 9188;
    check(setsockopt(fd, SOL_ATM, SO_ATMQOS, &qos, sizeof qos) == 0, "SO_ATMQOS");
    memset(&place, 0, sizeof place);
    place.sap_family = AF_ATMPVC;
    place.sap_addr.itf = (short)itf;
    place.sap_addr.vpi = (short)node;
    place.sap_addr.vci = VCI;
    check(connect(fd, (struct sockaddr *)&place, sizeof place) == 0, "connect by PF_ATMPVC");
    return fd;
}

static int open_udp(void)
{
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof place;

    check(fd >= 0, "socket");
    check(bind(fd, (struct sockaddr *)&place, sizeof place) == 0, "bind");
    check(getsockname(fd, (struct sockaddr *)&place, &length) == 0, "getsockname");
    check(connect(fd, (struct sockaddr *)&place, sizeof place) == 0, "connect");
    return fd;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t median(uint64_t *samples)
{
    qsort(samples, MESSAGES, sizeof *samples, compare);
    return samples[MESSAGES / 2];
}

static struct cost measure(int fd, size_t size)
{
    static uint64_t sends[MESSAGES], receives[MESSAGES];
    static char out[SIZE_MOST], in[SIZE_MOST];

    for (int i = -WARMING; i < MESSAGES; i++) {
        const uint64_t begin = now_ns();
        uint64_t sent;

        memset(out, i, 1);
        check(send(fd, out, size, 0) == (ssize_t)size, "send");
        sent = now_ns();
        check(recv(fd, in, sizeof in, 0) == (ssize_t)size, "recv");
        if (i >= 0) {
            sends[i] = sent - begin;
            receives[i] = now_ns() - sent;
        }
        check(memcmp(in, out, size) == 0, "what came back");
    }
    return (struct cost){median(sends), median(receives)};
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {40, 41, 400, SIZE_MOST};
    int aal5, udp, failed = 0;

    if (argc != 3) {
        fputs("usage: atm_cost ITF NODE\n", stderr);
        return 2;
    }
    aal5 = open_aal5(atoi(argv[1]), atoi(argv[2]));
    udp = open_udp();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct cost a = measure(aal5, sizes[i]), u = measure(udp, sizes[i]);
        const double ratio = (double)(a.send + a.receive) / (double)(u.send + u.receive);

        printf("atm: %zu bytes: send %lu and receive %lu by AAL5, %lu and %lu by UDP, %.2fx\n",
               sizes[i], (unsigned long)a.send, (unsigned long)a.receive, (unsigned long)u.send,
               (unsigned long)u.receive, ratio);
        failed |= sizes[i] == 40 && ratio > 1.1;
    }
    return failed;
}
