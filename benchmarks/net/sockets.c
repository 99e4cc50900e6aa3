/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sockets.c - the limits: UDP, TCP and packet sockets with nobody's software on top.
 *
 * Nobody sleeps: receivers spin.  What UDP and packet sockets lose does not come back, so
 * round trips end the program if an answer does not come.
 */
#include "net.h"
#include "packet_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    DATAGRAM_MAX = 32768, /* longer ones are lost too easily */
    FRAMES = 64,          /* that go with one system call, and get an answer together */
    AHEAD = 3 * FRAMES,   /* of the answers: fewer than the ring holds */
};

static int fd;

static void message_fill(uint64_t words[WORDS])
{
    for (int i = 0; i < WORDS; i++)
        words[i] = (uint64_t)i;
}

static void expect_done(double since)
{
    if (now_ns() - since > PATIENCE_S * 1e9) {
        errno = ETIMEDOUT;
        die("no answer");
    }
}

/* ---- UDP ---------------------------------------------------------------------------------- */

static uint8_t datagram[DATAGRAM_MAX];

static void receive_datagram(void)
{
    double start = 0;

    while (recv(fd, datagram, sizeof datagram, MSG_DONTWAIT) < 0) {
        if (errno != EAGAIN)
            die("recv");
        if (start == 0)
            start = now_ns();
        expect_done(start);
    }
}

static void send_datagram(void)
{
    if (send(fd, landing, message_bytes, 0) < 0)
        die("send");
}

static double udp_round_trips(long n)
{
    return time_round_trips(n, send_datagram, receive_datagram);
}

/* A socket at our address; the other side's address. */
static struct sockaddr_in bind_socket(int kind)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = own_ip()};
    socklen_t length = sizeof own;
    uint8_t mine[BLOB] = {0}, theirs[BLOB];

    fd = socket(AF_INET, kind, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof own) < 0 ||
        getsockname(fd, (struct sockaddr *)&own, &length) < 0)
        die("socket");
    if (kind == SOCK_STREAM && side == 1 && listen(fd, 1) < 0)
        die("listen");
    memcpy(mine, &own, sizeof own);
    exchange(mine, theirs);
    memcpy(&own, theirs, sizeof own);
    return own;
}

static void connect_datagrams(void)
{
    const struct sockaddr_in other = bind_socket(SOCK_DGRAM);

    if (connect(fd, (const struct sockaddr *)&other, sizeof other) < 0)
        die("connect");
}

void measure_udp(const struct team *team, int count, char **sizes)
{
    (void)count;
    (void)sizes;
    connect_datagrams();
    message_bytes = WORDS * 8;
    measure(team, "am_round_trip", 1, udp_round_trips, NULL);
}

void measure_udp_sizes(const struct team *team, int count, char **sizes)
{
    connect_datagrams();
    for (int i = 0; i < count; i++) {
        if (strtoul(sizes[i], NULL, 10) <= DATAGRAM_MAX)
            measure_sizes(team, "udp_round_trip", 1, udp_round_trips, 1, &sizes[i]);
    }
}

/* ---- TCP ---------------------------------------------------------------------------------- */

/* As many as there are, at most n. */
static size_t some_received(size_t n)
{
    static uint8_t bytes[LONGEST];
    const ssize_t got = recv(fd, bytes, n < sizeof bytes ? n : sizeof bytes, MSG_DONTWAIT);

    if (got == 0 || (got < 0 && errno != EAGAIN))
        die("recv");
    return got > 0 ? (size_t)got : 0;
}

static void receive_bytes(size_t n)
{
    while (n > 0)
        n -= some_received(n);
}

static size_t some_sent(size_t n, int flags)
{
    const ssize_t sent = send(fd, landing, n, MSG_NOSIGNAL | flags);

    if (sent < 0 && errno != EAGAIN)
        die("send");
    return sent > 0 ? (size_t)sent : 0;
}

static void send_bytes(size_t n)
{
    while (n > 0)
        n -= some_sent(n, 0);
}

static void send_one(void)
{
    send_bytes(message_bytes);
}

static void receive_one(void)
{
    receive_bytes(message_bytes);
}

static double tcp_round_trips(long n)
{
    return time_round_trips(n, send_one, receive_one);
}

static double tcp_stream(long n)
{
    double start;

    meet();
    start = now_ns();
    for (long i = 0; i < n; i++) {
        if (side == 0)
            send_bytes(message_bytes);
        else
            receive_bytes(message_bytes);
    }
    if (side == 0)
        receive_bytes(1);
    else
        send_bytes(1);
    return now_ns() - start;
}

/* What is sent counts when a byte has come back. */
static double tcp_puts(long n)
{
    double start;

    meet();
    start = now_ns();
    for (long i = 0; i < n; i++) {
        if (side == 0) {
            send_bytes(message_bytes);
            receive_bytes(1);
        } else {
            receive_bytes(message_bytes);
            send_bytes(1);
        }
    }
    return now_ns() - start;
}

/* A side that only sent could wait for the other one, which only sends, too. */
static void send_and_receive(size_t n)
{
    for (size_t to_send = n, to_receive = n; to_send + to_receive > 0;) {
        to_send -= to_send > 0 ? some_sent(to_send, MSG_DONTWAIT) : 0;
        to_receive -= to_receive > 0 ? some_received(to_receive) : 0;
    }
}

/* What the other side sends tells that it has got on as far. */
static double tcp_exchanges(long n)
{
    double start;

    meet();
    start = now_ns();
    for (long i = 0; i < n; i++)
        send_and_receive(message_bytes);
    meet();
    return now_ns() - start;
}

static void connect_both(void)
{
    const struct sockaddr_in other = bind_socket(SOCK_STREAM);
    const int on = 1, listener = fd;

    if (side == 0 && connect(fd, (const struct sockaddr *)&other, sizeof other) < 0)
        die("connect");
    if (side == 1) {
        fd = accept(listener, NULL, NULL);
        close(listener);
    }
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        die("connection");
}

void measure_tcp(const struct team *team, int count, char **sizes)
{
    connect_both();
    message_bytes = WORDS * 8;
    measure(team, "tcp_round_trip", 1, tcp_round_trips, NULL);
    measure_sizes(team, "stream", 1, tcp_stream, count, sizes);
}

void measure_tcp_puts(const struct team *team, int count, char **sizes)
{
    connect_both();
    measure_sizes(team, "put", 1, tcp_puts, count, sizes);
    measure_sizes(team, "exchange", 1, tcp_exchanges, count, sizes);
}

/* There are no empty messages. */
void measure_tcp_sizes(const struct team *team, int count, char **sizes)
{
    connect_both();
    while (count > 0 && strtoul(*sizes, NULL, 10) == 0) {
        count--;
        sizes++;
    }
    measure_sizes(team, "tcp_round_trip", 1, tcp_round_trips, count, sizes);
    measure_sizes(team, "tcp_stream", 1, tcp_stream, count, sizes);
}

/* ---- packet sockets ----------------------------------------------------------------------- */

static struct packet_port port;

static void send_packet(void)
{
    uint64_t words[WORDS];

    message_fill(words);
    if (packet_port_send(&port, words, sizeof words, 0) < 0)
        die("send");
}

static void await_packet(void *to, uint32_t length)
{
    double start = 0;

    while (!packet_port_take(&port, to, length)) {
        if (start == 0)
            start = now_ns();
        expect_done(start);
    }
}

static void receive_packet(void)
{
    uint64_t words[WORDS];

    await_packet(words, sizeof words);
}

static double packet_round_trips(long n)
{
    return time_round_trips(n, send_packet, receive_packet);
}

/* A batch of the longest frames. */
static void send_packets(unsigned count)
{
    struct iovec iov = {landing, ETH_DATA_LEN};
    struct mmsghdr message[FRAMES];

    for (unsigned i = 0; i < count; i++)
        message[i].msg_hdr = (struct msghdr){.msg_name = &port.far_end,
                                             .msg_namelen = sizeof port.far_end,
                                             .msg_iov = &iov,
                                             .msg_iovlen = 1};
    for (unsigned sent = 0; sent < count;) {
        const int n = sendmmsg(port.fd, message + sent, count - sent, 0);

        if (n < 0)
            die("send");
        sent += (unsigned)n;
    }
}

static void send_stream(long frames)
{
    long answered = 0;

    for (long sent = 0; sent < frames; sent += FRAMES) {
        for (; sent + FRAMES - answered > AHEAD; answered += FRAMES)
            receive_packet();
        send_packets(FRAMES);
    }
    for (; answered < frames; answered += FRAMES)
        receive_packet();
}

static void receive_stream(long frames)
{
    static uint8_t to[ETH_DATA_LEN];

    for (long i = 1; i <= frames; i++) {
        await_packet(to, sizeof to);
        if (i % FRAMES == 0)
            send_packet();
    }
}

/* In whole batches of frames, so a message costs its part of them. */
static double packet_stream(long n)
{
    const double frames = (double)n * (double)message_bytes / ETH_DATA_LEN;
    const long whole = ((long)frames / FRAMES + 1) * FRAMES;
    double start;

    meet();
    start = now_ns();
    if (side == 0)
        send_stream(whole);
    else
        receive_stream(whole);
    return (now_ns() - start) * frames / (double)whole;
}

void measure_packets(const struct team *team, int count, char **sizes)
{
    uint8_t mine[BLOB] = {0}, theirs[BLOB];
    const char *failed = packet_port_open(&port, interface, mine);

    if (failed)
        die(failed);
    exchange(mine, theirs);
    failed = packet_port_connect(&port, theirs);
    if (failed)
        die(failed);
    measure(team, "am_round_trip", 1, packet_round_trips, NULL);
    measure_sizes(team, "stream", 1, packet_stream, count, sizes);
}
