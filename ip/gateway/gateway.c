/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gateway.c - unet-gateway: programs on U-Net are hosts of a network that the kernel knows.
 *
 * Each guest asks for an address over a Unix socket, and has a channel to the gateway's endpoint.
 * What the kernel sends to that address goes to the channel, and what comes by the channel from
 * that address to the kernel.  No protocol is known here but the addresses of IPv4.
 */
#include "gateway/options.h"
#include "gateway/tun.h"
#include "src/join.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ip/ip.h>
#include <netinet/ip.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    GUESTS_MAX = 62,
    SLOTS = 64, /* packets on their way to guests */
    BURST = 64,
    FIXED = 3, /* descriptors polled besides those of guests: endpoint, interface, listener */
};

struct guest {
    int fd;           /* -1: nobody */
    uint16_t channel; /* 0: it has not asked yet */
};

/* A guest's address is the network's, plus 2 and its place in `guest`: the gateway has the first.
 */
struct gateway {
    struct unet_endpoint *ep;
    uint32_t network; /* host order */
    unsigned prefix, guests;
    uint32_t mtu, slot_bytes, buffer_bytes;
    uint32_t ticket[SLOTS], sent;
    int tun, listener;
    struct guest guest[GUESTS_MAX];
    uint64_t to_guests, to_kernel, unreachable, dropped;
};

static volatile sig_atomic_t ended;

static void gateway_end(int signal)
{
    (void)signal;
    ended = 1;
}

#define die(...) end_with(1, __VA_ARGS__)
#define refuse(...) end_with(2, __VA_ARGS__) /* of the command line */

static void __attribute__((format(printf, 2, 3), noreturn))
end_with(int code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs("unet-gateway: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(code);
}

/* ---- guests ------------------------------------------------------------- */

static uint32_t guest_address(const struct gateway *g, unsigned i)
{
    return g->network + 2 + i;
}

static void guest_leave(struct gateway *g, struct guest *guest)
{
    close(guest->fd);
    guest->fd = -1;
    if (guest->channel)
        unet_disconnect(g->ep, guest->channel);
    guest->channel = 0;
}

/* Somebody of this user's, or root, has come. */
static void guest_come(struct gateway *g)
{
    struct ucred who = {};
    socklen_t length = sizeof who;
    const int fd = accept4(g->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 &&
        (who.uid == geteuid() || who.uid == 0))
        for (unsigned i = 0; i < g->guests; i++)
            if (g->guest[i].fd < 0) {
                g->guest[i].fd = fd;
                return;
            }
    close(fd);
}

static int guest_connect(struct gateway *g, struct guest *guest,
                         const struct ip_join_request *request, uint64_t *tag)
{
    if (getrandom(tag, sizeof *tag, 0) != (ssize_t)sizeof *tag)
        return -EAGAIN;
    return unet_connect(g->ep, &request->endpoint, *tag, &guest->channel);
}

static void guest_speaks(struct gateway *g, unsigned i)
{
    struct guest *guest = &g->guest[i];
    struct ip_join_request request;
    struct ip_join_reply reply = {.magic = IP_JOIN_MAGIC, .mtu = g->mtu};
    const ssize_t length = recv(guest->fd, &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC);

    if (length < 0 && errno == EAGAIN)
        return;
    if (length != (ssize_t)sizeof request || request.magic != IP_JOIN_MAGIC || guest->channel ||
        request.endpoint.length > UNET_ADDRESS_MAX) {
        guest_leave(g, guest); /* it has gone, or talks nonsense */
        return;
    }
    reply.error = -guest_connect(g, guest, &request, &reply.tag);
    reply.address = htonl(guest_address(g, i));
    unet_address(g->ep, &reply.endpoint);
    if (send(guest->fd, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT) !=
            (ssize_t)sizeof reply ||
        reply.error)
        guest_leave(g, guest);
}

/* ---- packets ------------------------------------------------------------ */

/* To the guest that it is for.  Where a slot is still in use, or the guest takes no more, it is
 * lost as on any network.  The kernel also sends what is for no guest: IPv6's announcements of the
 * interface, and answers to a guest that has left. */
static void packet_to_guest(struct gateway *g, uint32_t length)
{
    const uint32_t slot = g->sent % SLOTS;
    const uint32_t offset = slot * g->slot_bytes;
    const struct iphdr *ip = (const struct iphdr *)(g->ep->segment + offset);
    const struct unet_piece piece = {offset, length};
    const uint32_t i = ntohl(ip->daddr) - guest_address(g, 0);
    int error;

    if (length < sizeof *ip || ip->version != 4 || i >= g->guests || !g->guest[i].channel) {
        g->unreachable++;
        return;
    }
    error = unet_send(g->ep, g->guest[i].channel, 0, &piece, 1, &g->ticket[slot]);
    if (error < 0) {
        (*(error == -EAGAIN ? &g->dropped : &g->unreachable))++;
        return;
    }
    g->sent++;
    g->to_guests++;
}

static bool slot_is_free(const struct gateway *g)
{
    return g->sent < SLOTS || unet_sent(g->ep, g->ticket[g->sent % SLOTS]);
}

static void from_kernel(struct gateway *g)
{
    for (unsigned n = 0; n < BURST && slot_is_free(g); n++) {
        uint8_t *to = g->ep->segment + g->sent % SLOTS * g->slot_bytes;
        const ssize_t length = read(g->tun, to, g->mtu);

        if (length <= 0)
            return;
        packet_to_guest(g, (uint32_t)length);
    }
}

/* Whether the guest that the channel leads to may send it. */
static bool packet_is_guests(const struct gateway *g, const void *bytes, size_t length,
                             uint16_t channel)
{
    struct iphdr ip;
    uint32_t i;

    if (length < sizeof ip)
        return false;
    memcpy(&ip, bytes, sizeof ip);
    i = ntohl(ip.saddr) - guest_address(g, 0);
    return ip.version == 4 && i < g->guests && g->guest[i].channel == channel;
}

static void packet_to_kernel(struct gateway *g, const struct unet_desc *desc)
{
    struct iovec part[UNET_PIECES_MAX] = {{(void *)(uintptr_t)desc->data, desc->length}};
    const bool pieces = desc->kind == UNET_PIECES;
    const unsigned count = pieces ? desc->pieces : 1;

    for (unsigned i = 0; pieces && i < count; i++)
        part[i] = (struct iovec){g->ep->segment + desc->piece[i].offset, desc->piece[i].length};
    if ((pieces || desc->kind == UNET_INLINE) &&
        packet_is_guests(g, part[0].iov_base, part[0].iov_len, desc->channel) &&
        writev(g->tun, part, (int)count) == (ssize_t)desc->length)
        g->to_kernel++;
    else
        g->dropped++;
    for (unsigned i = 0; pieces && i < count; i++)
        (void)unet_free_put(g->ep, desc->piece[i].offset, g->buffer_bytes);
}

static int from_guests(struct gateway *g)
{
    const struct unet_desc *desc;
    int count = unet_progress(g->ep);

    for (unsigned n = 0; n < BURST && (desc = unet_rx_peek(g->ep)); n++, count++) {
        packet_to_kernel(g, desc);
        unet_rx_release(g->ep);
    }
    return count;
}

/* ---- the loop ----------------------------------------------------------- */

static void gateway_sleep(struct gateway *g, struct pollfd *polled)
{
    int timeout = 1000;

    polled[0] = (struct pollfd){.fd = unet_fd(g->ep), .events = POLLIN};
    /* While no slot is free, what the kernel has stays with it. */
    polled[1] = (struct pollfd){.fd = slot_is_free(g) ? g->tun : -1, .events = POLLIN};
    polled[2] = (struct pollfd){.fd = g->listener, .events = POLLIN};
    if (!slot_is_free(g))
        timeout = 1;
    for (unsigned i = 0; i < g->guests; i++)
        polled[FIXED + i] = (struct pollfd){.fd = g->guest[i].fd, .events = POLLIN};
    if (unet_arm(g->ep, &timeout) != 0)
        return;
    poll(polled, FIXED + g->guests, timeout);
    unet_disarm(g->ep);
}

static void gateway_run(struct gateway *g)
{
    struct pollfd polled[FIXED + GUESTS_MAX] = {};

    while (!ended) {
        if (from_guests(g) == 0)
            gateway_sleep(g, polled);
        from_kernel(g);
        if (polled[2].revents)
            guest_come(g);
        for (unsigned i = 0; i < g->guests; i++)
            if (polled[FIXED + i].revents && g->guest[i].fd >= 0)
                guest_speaks(g, i);
        memset(polled, 0, sizeof polled);
    }
}

/* ---- opening ------------------------------------------------------------ */

static void open_endpoint(struct gateway *g, const char *name)
{
    const struct unet_ops *backend = unet_backend(name);
    struct unet_config config = {};
    uint32_t offset, buffers;
    int result;

    if (!backend)
        refuse("there is no backend '%s'; shm, udp and eth are some", name);
    ip_endpoint_config(&config);
    result = unet_open(backend, &config, &g->ep);
    if (result < 0)
        die("%s: %s %s", name, strerror(-result), unet_remedy(backend, result));
    if (unet_fd(g->ep) < 0)
        refuse("backend '%s' has no descriptor to wait for; take shm, udp or eth", name);
    g->mtu = g->ep->packet_bytes < IP_MTU_DEFAULT ? g->ep->packet_bytes : IP_MTU_DEFAULT;
    g->slot_bytes = g->buffer_bytes = (g->mtu + 63) / 64 * 64;
    offset = SLOTS * g->slot_bytes;
    buffers = (config.segment_bytes - offset) / g->buffer_bytes;
    if (buffers > config.free_slots)
        buffers = config.free_slots;
    for (uint32_t i = 0; i < buffers; i++)
        (void)unet_free_put(g->ep, offset + i * g->buffer_bytes, g->buffer_bytes);
}

/* What a gateway has left that was killed is nobody's.  Other files are refused with ECONNREFUSED,
 * too, and stay. */
static void clear_path(int fd, const struct sockaddr_un *at)
{
    struct stat file;

    if (connect(fd, (const struct sockaddr *)at, sizeof *at) == 0)
        die("%s: another gateway serves there; name another socket", at->sun_path);
    if (errno == ECONNREFUSED && lstat(at->sun_path, &file) == 0 && S_ISSOCK(file.st_mode) &&
        unlink(at->sun_path) < 0)
        die("%s: what a gateway has left there cannot be removed: %s; name another socket",
            at->sun_path, strerror(errno));
}

static const char *bind_remedy(int error)
{
    if (error == EADDRINUSE)
        return "; what is there is no gateway's socket: name another one";
    if (error == ENOENT || error == ENOTDIR)
        return "; make its directory, or name another socket";
    return "";
}

static void open_listener(struct gateway *g, const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    mode_t mask;

    if (strlen(path) >= sizeof to.sun_path)
        refuse("%s: longer than a Unix socket's name may be (%zu)", path, sizeof to.sun_path - 1);
    strcpy(to.sun_path, path);
    g->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (g->listener >= 0)
        clear_path(g->listener, &to);
    mask = umask(077);
    if (g->listener < 0 || bind(g->listener, (struct sockaddr *)&to, sizeof to) < 0 ||
        listen(g->listener, 16) < 0)
        die("%s: cannot listen there: %s%s", path, strerror(errno), bind_remedy(errno));
    umask(mask);
}

static const char *tun_remedy(int error)
{
    switch (error) {
    case EPERM:
    case EACCES:
        return "; making it takes CAP_NET_ADMIN, and that /dev/net/tun may be opened";
    case ENOENT:
    case ENODEV:
    case ENXIO:
        return "; there is no /dev/net/tun: modprobe tun";
    case EBUSY:
        return "; another program has it: name another one with --tun";
    case ENAMETOOLONG:
        return "; a name has at most 15 characters: name another one with --tun";
    case EINVAL:
        return "; no TUN interface can have that name: name another one with --tun";
    default:
        return "";
    }
}

static void read_network(struct gateway *g, const char *text)
{
    char address[INET_ADDRSTRLEN + 4], *slash, *end;
    struct in_addr network;

    if (strlen(text) < sizeof address &&
        (slash = strcpy(address, text), slash = strchr(address, '/'))) {
        *slash = '\0';
        g->prefix = (unsigned)strtoul(slash + 1, &end, 10);
        if (inet_pton(AF_INET, address, &network) == 1 && *end == '\0' && end > slash + 1 &&
            g->prefix >= 8 && g->prefix <= 29) {
            const uint32_t hosts = (1u << (32 - g->prefix)) - 1;

            g->network = ntohl(network.s_addr) & ~hosts;
            g->guests = hosts - 2 < GUESTS_MAX ? hosts - 2 : GUESTS_MAX;
            return;
        }
    }
    refuse("'%s' is no network such as 10.9.0.0/24 (of /8 to /29)", text);
}

int main(int argc, char **argv)
{
    struct sigaction end = {.sa_handler = gateway_end};
    struct gateway_options options;
    static struct gateway g;
    const int status = gateway_options_read(argc, argv, &options);

    if (status >= 0)
        return status;
    read_network(&g, options.network);
    for (unsigned i = 0; i < GUESTS_MAX; i++)
        g.guest[i].fd = -1;
    open_endpoint(&g, options.backend);
    g.tun = ip_tun_open(options.tun, (struct in_addr){htonl(g.network + 1)}, g.prefix, g.mtu);
    if (g.tun < 0)
        die("interface %s: %s%s", options.tun, strerror(-g.tun), tun_remedy(-g.tun));
    open_listener(&g, options.socket);
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    printf("%s on %s, programs over %s at %s\n", options.network, options.tun, options.backend,
           options.socket);
    fflush(stdout);
    gateway_run(&g);
    unlink(options.socket);
    unet_close(g.ep);
    fprintf(stderr,
            "unet-gateway: %llu packets to programs, %llu from them, %llu for nobody, "
            "%llu dropped\n",
            (unsigned long long)g.to_guests, (unsigned long long)g.to_kernel,
            (unsigned long long)g.unreachable, (unsigned long long)g.dropped);
    return 0;
}
