/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unetatm - the switch of the carrier `cells`, by itself or around a command.
 */
#include "datagram/atm/switch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/errqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2,
    LOOK_MS = 10000,     /* between two looks for nodes that have died without a word */
    DATAGRAMS_MOST = 64, /* taken in before what they cause is sent */
    MILLION = 1000000,
};

struct options {
    const char *listen;
    uint32_t loss;
    uint64_t seed;
    bool stats;
    char **command; /* NULL: there is none */
};

static const char usage[] =
    "usage: unetatm [--listen ADDRESS:PORT] [--loss CELLS_PER_MILLION] [--seed N] [--stats] "
    "[COMMAND [ARGUMENT...]]\n"
    "\n"
    "A switch for U-Net endpoints of the backend atm.  With a COMMAND, runs it with\n"
    "UNET_ATM_CARRIER set, and ends with its exit code.  Without, prints that setting, and\n"
    "runs until it is interrupted.\n"
    "\n"
    "  --listen ADDRESS:PORT      default 127.0.0.1:0, which is any port of this machine alone\n"
    "  --loss CELLS_PER_MILLION   lose that many cells between nodes, at random\n"
    "  --seed N                   of the random numbers (default 1)\n"
    "  --stats                    at the end, print to standard error what was switched\n"
    "  --help, --version\n";

static _Noreturn void die(int code, const char *what, const char *where, const char *why)
{
    fprintf(stderr, "unetatm: %s%s%s%s%s\n", what, where ? " " : "", where ? where : "",
            why ? ": " : "", why ? why : "");
    exit(code);
}

/* ---- options ----------------------------------------------------------------------------- */

static uint64_t number(const char *option, const char *text, uint64_t most)
{
    char *end;
    uint64_t value;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value > most) {
        fprintf(stderr, "unetatm: %s takes a number from 0 to %" PRIu64 ", not '%s'\n", option,
                most, text);
        exit(EXIT_USAGE);
    }
    return value;
}

static void take_value(struct options *o, const char *option, const char *value)
{
    if (strcmp(option, "--listen") == 0)
        o->listen = value;
    else if (strcmp(option, "--loss") == 0)
        o->loss = (uint32_t)number(option, value, MILLION);
    else if (strcmp(option, "--seed") == 0)
        o->seed = number(option, value, UINT64_MAX);
    else
        die(EXIT_USAGE, "no option", option, "unetatm --help lists them");
}

static _Noreturn void print(const char *text)
{
    fputs(text, stdout);
    exit(fflush(stdout) == 0 ? 0 : 1);
}

static struct options parse(char **argument)
{
    struct options o = {.listen = "127.0.0.1:0", .seed = 1};

    for (argument++; *argument && (*argument)[0] == '-'; argument++) {
        const char *option = *argument;

        if (strcmp(option, "--help") == 0)
            print(usage);
        if (strcmp(option, "--version") == 0)
            print("unetatm " UNETATM_VERSION "\n");
        if (strcmp(option, "--stats") == 0) {
            o.stats = true;
            continue;
        }
        if (strcmp(option, "--") == 0) {
            argument++;
            break;
        }
        if (!argument[1])
            die(EXIT_USAGE, option, NULL, "no such option, or its value is missing (--help)");
        take_value(&o, option, *++argument);
    }
    o.command = *argument ? argument : NULL;
    return o;
}

/* ---- the socket --------------------------------------------------------------------------- */

/* To a node whose machine does not take it now, cells are lost, as in a switch whose queue is full.
 */
static void send_cells(void *arg, const struct datagram_place *to, const uint8_t *cells,
                       size_t length)
{
    struct pollfd fd = {.fd = ((struct atm_line *)arg)->fd, .events = POLLOUT};
    size_t sent = 0;

    for (int tries = 0; tries < 8 && sent < length; tries++) {
        sent += unet_atm_line_send(arg, to, cells + sent, length - sent);
        if (sent < length && errno == EAGAIN)
            poll(&fd, 1, 1);
    }
}

static bool says_refused(struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        struct sock_extended_err error;

        if ((c->cmsg_level != IPPROTO_IP || c->cmsg_type != IP_RECVERR) &&
            (c->cmsg_level != IPPROTO_IPV6 || c->cmsg_type != IPV6_RECVERR))
            continue;
        memcpy(&error, CMSG_DATA(c), sizeof error);
        return error.ee_errno == ECONNREFUSED;
    }
    return false;
}

static void read_errors(struct atm_switch *sw, int fd)
{
    for (;;) {
        struct datagram_place where;
        uint8_t control[512], byte;
        struct iovec iov = {&byte, sizeof byte};
        struct msghdr message = {.msg_name = &where.any,
                                 .msg_namelen = offsetof(struct datagram_place, length),
                                 .msg_iov = &iov,
                                 .msg_iovlen = 1,
                                 .msg_control = control,
                                 .msg_controllen = sizeof control};

        memset(&where, 0, sizeof where);
        if (recvmsg(fd, &message, MSG_ERRQUEUE) < 0)
            break;
        where.length = message.msg_namelen;
        if (says_refused(&message))
            unet_atm_switch_refused(sw, &where);
    }
}

static void read_cells(struct atm_switch *sw, int fd)
{
    static uint8_t bytes[LINE_ROOM];

    for (int i = 0; i < DATAGRAMS_MOST; i++) {
        struct datagram_place from;
        ssize_t n;

        memset(&from, 0, sizeof from);
        from.length = offsetof(struct datagram_place, length);
        n = recvfrom(fd, bytes, sizeof bytes, 0, &from.any, &from.length);
        if (n < 0)
            break;
        unet_atm_switch_take(sw, &from, bytes, (size_t)n);
    }
    unet_atm_switch_flush(sw);
}

/* Bind, and write what UNET_ATM_CARRIER has to be to `carrier`. */
static void listen_at(const char *where, struct atm_line *line, char *carrier, size_t room)
{
    struct datagram_place place;
    char host[INET6_ADDRSTRLEN];
    int error = unet_atm_line_place(where, &place);
    bool six;

    if (error)
        die(EXIT_USAGE, "--listen", where,
            "takes ADDRESS:PORT, an IPv4 address or an IPv6 one in brackets");
    error = unet_atm_line_open(line, place.any.sa_family);
    if (error)
        die(1, "no socket", NULL, strerror(-error));
    if (bind(line->fd, &place.any, place.length) < 0 ||
        getsockname(line->fd, &place.any, &place.length) < 0)
        die(1, "cannot listen at", where, strerror(errno));
    six = place.any.sa_family == AF_INET6;
    inet_ntop(place.any.sa_family, six ? (void *)&place.ip6.sin6_addr : &place.ip4.sin_addr, host,
              sizeof host);
    snprintf(carrier, room, six ? "cells:[%s]:%u" : "cells:%s:%u", host,
             ntohs(six ? place.ip6.sin6_port : place.ip4.sin_port));
}

/* ---- the command ---------------------------------------------------------------------------- */

/* With the signals that the switch waits for as they were. */
static pid_t start(char **command, const char *carrier, const sigset_t *signals)
{
    const pid_t self = getpid(), child = fork();

    if (child < 0)
        die(1, "cannot start", command[0], strerror(errno));
    if (child > 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != self)
        _exit(1);
    sigprocmask(SIG_SETMASK, signals, NULL);
    setenv("UNET_ATM_CARRIER", carrier, 1);
    execvp(command[0], command);
    fprintf(stderr, "unetatm: cannot run %s: %s\n", command[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* Whether the switch is to end, and with which code. */
static bool is_over(int signals, pid_t child, int *code)
{
    struct signalfd_siginfo info;
    int status;

    if (read(signals, &info, sizeof info) != sizeof info)
        return false;
    if (info.ssi_signo != SIGCHLD) {
        *code = child > 0 ? 128 + (int)info.ssi_signo : 0;
        if (child > 0)
            kill(child, (int)info.ssi_signo);
        return child <= 0;
    }
    if (waitpid(child, &status, WNOHANG) != child)
        return false;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

static int serve(struct atm_switch *sw, int fd, int signals, pid_t child)
{
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
    uint64_t looked = unet_now_us();
    int code = 0;

    for (;;) {
        poll(fds, 2, LOOK_MS);
        if (fds[1].revents && is_over(signals, child, &code))
            return code;
        if (fds[0].revents & POLLERR)
            read_errors(sw, fd);
        read_cells(sw, fd);
        if (unet_now_us() - looked >= LOOK_MS * UINT64_C(1000)) {
            unet_atm_switch_look(sw);
            looked = unet_now_us();
        }
    }
}

static void tell(const struct atm_switch_counts *c)
{
    fprintf(stderr,
            "unetatm: cells: %" PRIu64 " in, %" PRIu64 " switched, %" PRIu64 " lost, %" PRIu64
            " to nodes that do not exist, %" PRIu64 " with VCIs that nodes may not use, %" PRIu64
            " of senders without a port, %" PRIu64 " malformed\n",
            c->in, c->out, c->lost, c->unreachable, c->refused, c->foreign, c->malformed);
}

int main(int argc, char **argv)
{
    const struct options o = parse(argv);
    struct atm_switch_config config = {.loss = o.loss, .seed = o.seed, .send = send_cells};
    struct atm_switch *sw;
    struct atm_line line;
    sigset_t ours, before;
    char carrier[128];
    pid_t child = 0;
    int signals, code;

    (void)argc;
    listen_at(o.listen, &line, carrier, sizeof carrier);
    config.arg = &line;
    if (getrandom(&config.id, sizeof config.id, 0) != sizeof config.id ||
        unet_atm_switch_open(&config, &sw) < 0)
        die(1, "no memory for the switch", NULL, NULL);
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    if (o.command)
        sigaddset(&ours, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ours, &before);
    signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        die(1, "no descriptor for signals", NULL, strerror(errno));
    if (o.command)
        child = start(o.command, carrier, &before);
    else if (printf("UNET_ATM_CARRIER=%s\n", carrier) < 0 || fflush(stdout) != 0)
        die(1, "cannot print", NULL, strerror(errno));
    code = serve(sw, line.fd, signals, child);
    if (o.stats)
        tell(unet_atm_switch_counts(sw));
    unet_atm_switch_close(sw);
    return code;
}
