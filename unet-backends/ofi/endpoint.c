/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoint.c - opening an endpoint, progress, sleeping.
 */
#include "ofi/ofi.h"

#include "core/local.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <rdma/fi_cm.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAP_MS = 1, /* a sleep where the provider wakes nobody */
    LOOK_MS = 100,
    DRAIN_US = 1000000,    /* for what was sent last to leave */
    SETTLE_US = 1000,      /* between two questions of unet_idle */
    RESERVE = 16,          /* receives for packets of peers that no channel is open to yet */
    RECEIVES_MOST = 16384, /* that are posted at once; the others wait */
    TURNS_MOST = 8, /* messages that a turn takes in before it looks at the send queue again */
};

/* ---- progress ----------------------------------------------------------------------------- */

/* Who only sends need not make progress: what is there may bring the credits that are missing. */
static void ofi_kick(struct unet_endpoint *ep, uint16_t channel)
{
    struct ofi_endpoint *oe = ofi_of(ep);

    (void)channel;
    unet_ofi_service(oe);
    if (oe->ni.tx.position != ep->tx.position && unet_ofi_receive(oe) > 0)
        unet_ofi_service(oe);
}

/* What is taken in may bring credits, and completions release slots. */
static int ofi_turn(struct ofi_endpoint *oe)
{
    int count = unet_ofi_receive(oe);

    if (oe->attention)
        unet_ofi_attend(oe);
    if (oe->ni.tx.position != oe->ni.ep.tx.position)
        count += unet_ofi_service(oe);
    return count;
}

static int ofi_progress(struct unet_endpoint *ep)
{
    struct ofi_endpoint *oe = ofi_of(ep);

    if (oe->ni.connecting > 0)
        unet_ni_tell(&oe->ni);
    if (unet_ni_look_is_due(&oe->ni))
        unet_ofi_state(ep, 0);
    return ofi_turn(oe);
}

/* Only if the provider says that its descriptor will tell may anybody sleep on it. */
static bool may_sleep(struct ofi_endpoint *oe)
{
    struct fid *fid = &oe->fabric.cq->fid;

    return oe->ni.ep.fd >= 0 && fi_trywait(oe->fabric.fabric, &fid, 1) == 0;
}

/* How long nothing need be looked at. */
static int nap_ms(const struct ofi_endpoint *oe, int ms)
{
    const bool restless = oe->attention || oe->ni.connecting > 0 || oe->ni.ep.fd < 0;

    return restless && ms > NAP_MS ? NAP_MS : ms;
}

/* The entry `sleep` of struct unet_ni_kind. */
static int ofi_sleep(struct unet_ni *ni, int ms)
{
    struct ofi_endpoint *oe = ofi_of(&ni->ep);
    struct pollfd fd = {.fd = ni->ep.fd, .events = POLLIN};

    if (fd.fd >= 0 && !may_sleep(oe))
        return 1;
    if (poll(&fd, 1, nap_ms(oe, ms)) < 0)
        return -errno;
    return fd.revents != 0;
}

/* ---- struct unet_packet_ops ----------------------------------------------------------- */

/* Messages share no packets: those of a fabric cost little more than their bytes. */
static void ofi_cork(struct unet_endpoint *ep, uint16_t channel, size_t bytes)
{
    (void)ep;
    (void)channel;
    (void)bytes;
}

static void ofi_uncork(struct unet_endpoint *ep)
{
    (void)ep;
}

static bool is_settled(const struct ofi_endpoint *oe, uint16_t n)
{
    return oe->ni.ep.channel[n].state != UNET_OPEN || oe->link[n].sent == oe->link[n].acked;
}

/* Nobody has to acknowledge what half a window does not hold: so they are asked. */
static bool ofi_idle(struct unet_endpoint *ep)
{
    struct ofi_endpoint *oe = ofi_of(ep);
    const uint64_t now = unet_now_us();
    const bool ask = now - oe->settle_us >= SETTLE_US;
    bool idle = unet_sent(ep, ep->tx.position);

    for (uint32_t n = 1; n < ep->rx_rings; n++) {
        if (is_settled(oe, (uint16_t)n))
            continue;
        idle = false;
        if (ask)
            unet_ofi_ask(oe, (uint16_t)n, now);
    }
    if (ask)
        oe->settle_us = now;
    return idle;
}

static void ofi_set_placement(struct unet_endpoint *ep, unet_placement_fn *fn, void *arg)
{
    ofi_of(ep)->placement = fn;
    ofi_of(ep)->placement_arg = arg;
}

/* What a provider has taken is its business. */
static uint32_t ofi_push(struct unet_endpoint *ep, uint16_t channel)
{
    (void)ep;
    (void)channel;
    return 0;
}

static int ofi_arm(struct unet_endpoint *ep, int *timeout_ms)
{
    struct ofi_endpoint *oe = ofi_of(ep);
    bool armed = false;

    for (int i = 0; i < TURNS_MOST && !armed; i++) {
        ofi_turn(oe);
        if (unet_rx_peek(ep))
            return 1;
        armed = ep->fd < 0 || may_sleep(oe);
    }
    *timeout_ms = nap_ms(oe, armed || *timeout_ms < NAP_MS ? *timeout_ms : NAP_MS);
    return 0;
}

static void ofi_disarm(struct unet_endpoint *ep)
{
    unet_ofi_state(ep, 0);
}

static const struct unet_packet_ops ofi_packet_ops = {
    .sendv = unet_ofi_sendv,
    .cork = ofi_cork,
    .uncork = ofi_uncork,
    .idle = ofi_idle,
    .push = ofi_push,
    .set_placement = ofi_set_placement,
    .arm = ofi_arm,
    .disarm = ofi_disarm,
};

/* ---- opening ------------------------------------------------------------------------------ */

static const struct unet_ni_kind ofi_kind = {
    .link_bytes = sizeof(struct ofi_link),
    .memory = UNET_NI_ALL,
    .retry_ms = 1,
    .look_ms = LOOK_MS,
    .sleep = ofi_sleep,
    .tell = unet_ofi_tell,
};

/* A credit is a receive of 8 KiB: some 1 MiB a peer for few peers, 64 KiB for very many. */
static uint16_t window_for(uint32_t channels)
{
    if (channels <= 16)
        return OFI_WINDOW_MOST;
    return channels <= 64 ? 32 : channels <= 256 ? 16 : 8;
}

/* Equal in processes that can see each other's PIDs, and hardly ever otherwise. */
static uint32_t host_identity(void)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    uint64_t hash = 0;
    struct stat space;
    int c;

    if (stat("/proc/self/ns/pid", &space) == 0)
        hash = space.st_ino;
    while (file && (c = getc(file)) != EOF)
        hash = unet_mix(hash ^ (uint64_t)c);
    if (file)
        fclose(file);
    return (uint32_t)hash;
}

static int open_identity(struct ofi_endpoint *oe)
{
    size_t length = sizeof oe->own.name;

    oe->own.provider = oe->fabric.provider;
    oe->own.host = host_identity();
    oe->own.pid = (uint32_t)getpid();
    if (fi_getname(&oe->fabric.ep->fid, oe->own.name, &length) != 0 || length > sizeof oe->own.name)
        return -ENAMETOOLONG;
    oe->own.length = (uint8_t)length;
    if (getrandom(&oe->own.nonce, sizeof oe->own.nonce, 0) != sizeof oe->own.nonce)
        return -EIO;
    unet_ni_set_address(&oe->ni, &oe->own, sizeof oe->own);
    return 0;
}

static int open_tables(struct ofi_endpoint *oe)
{
    const struct unet_config *c = &oe->ni.ep.config;
    uint32_t buckets = 1;

    while (buckets < c->channels + 1)
        buckets *= 2;
    oe->bucket_mask = buckets - 1;
    oe->bucket = calloc(buckets, sizeof *oe->bucket);
    oe->progress_of = calloc(c->send_slots, sizeof *oe->progress_of);
    for (uint32_t n = 0; n <= c->channels; n++)
        oe->link[n].process = oe->link[n].knock = -1;
    return oe->bucket && oe->progress_of ? 0 : -ENOMEM;
}

static uint32_t receives_most(const struct ofi_endpoint *oe)
{
    const uint64_t most =
        RESERVE + (uint64_t)oe->ni.ep.config.channels * (oe->window + OFI_CONTROLS);

    return most < RECEIVES_MOST ? (uint32_t)most : RECEIVES_MOST;
}

static int open_fabric(struct ofi_endpoint *oe)
{
    struct ofi_fabric *f = &oe->fabric;
    int error = unet_ofi_fabric_open(f, oe->ni.ep.config.polled, receives_most(oe));

    if (error)
        return error;
    if (f->info->ep_attr->max_msg_size < UNET_MESSAGE_MAX)
        return -EOVERFLOW;
    oe->inject_most = f->info->tx_attr->inject_size;
    if (!oe->ni.ep.config.polled && fi_control(&f->cq->fid, FI_GETWAIT, &oe->ni.ep.fd) != 0)
        oe->ni.ep.fd = -1;
    snprintf(oe->ni.ep.about, sizeof oe->ni.ep.about, "provider %s, domain %s",
             f->info->fabric_attr->prov_name, f->info->domain_attr->name);
    oe->ni.ep.capabilities =
        UNET_CAP_RELIABLE | UNET_CAP_ORDERED | UNET_CAP_REMOTE | (f->writes ? UNET_CAP_RANGES : 0);
    return 0;
}

static void ofi_free(struct ofi_endpoint *oe)
{
    unet_ofi_ranges_free(oe);
    if (oe->fabric.ep)
        fi_close(&oe->fabric.ep->fid); /* before the memory that it receives into */
    oe->fabric.ep = NULL;
    unet_ofi_buffers_free(oe);
    unet_ofi_fabric_close(&oe->fabric);
    free(oe->progress_of);
    free(oe->bucket);
    oe->ni.ep.fd = -1; /* it was the provider's */
    unet_ni_close(&oe->ni);
}

/* Libraries say all kinds of things then. */
static bool no_descriptors(void)
{
    const int fd = dup(STDIN_FILENO);

    if (fd >= 0)
        close(fd);
    return fd < 0 && errno == EMFILE;
}

static int ofi_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    struct ofi_endpoint *oe;
    struct unet_ni *ni;
    int error = unet_ni_open(&unet_ofi_ops, &ofi_kind, sizeof *oe, config, &ni);

    if (error)
        return error;
    oe = ofi_of(&ni->ep);
    oe->link = ni->link;
    oe->window = window_for(config->channels);
    oe->receives_wanted = RESERVE;
    error = open_tables(oe);
    if (error == 0)
        error = open_fabric(oe);
    if (error == 0)
        error = open_identity(oe);
    if (error == 0)
        error = unet_ofi_sends_make(oe);
    if (error == 0)
        error = unet_ofi_receives_make(oe);
    if (error) {
        ofi_free(oe);
        return no_descriptors() ? -EMFILE : error;
    }
    *endpoint = &ni->ep;
    return 0;
}

/* What was sent last is still with the provider. */
static void ofi_drain(struct ofi_endpoint *oe)
{
    const uint64_t start = unet_now_us();

    while (oe->under_way > 0 && unet_now_us() - start < DRAIN_US)
        if (unet_ofi_receive(oe) == 0)
            sched_yield();
}

static void ofi_close(struct unet_endpoint *ep)
{
    struct ofi_endpoint *oe = ofi_of(ep);

    unet_ofi_service(oe);
    unet_ofi_close_all(oe);
    ofi_drain(oe);
    ofi_free(oe);
}

static const struct unet_remedy ofi_remedies[] = {
    {-ELIBACC, "libfabric is not installed (Debian: libfabric1); UNET_OFI_LIBRARY names another "
               "file than libfabric.so.1"},
    {-ELIBBAD, "libfabric has to be of version 1.11 or newer, also what UNET_OFI_LIBRARY names"},
    {-EPROTONOSUPPORT, "UNET_OFI_PROVIDER is none of cxi, efa, psm2, opx, verbs;ofi_rxm, "
                       "tcp;ofi_rxm, udp;ofi_rxd, net;ofi_rxm: others do not keep what this "
                       "backend builds on (docs/unet.md)"},
    {-ENODATA, "libfabric finds no device for the provider that UNET_OFI_PROVIDER names, or not "
               "the domain of UNET_OFI_DOMAIN: fi_info -p PROVIDER shows what it finds"},
    {-EOVERFLOW, "the provider has keys, or limits of messages, that this backend does not know "
                 "how to use; UNET_OFI_PROVIDER names another one"},
    {-ENAMETOOLONG, "the provider's addresses are longer than this backend can tell others"},
    {-ENOMEM, "memory for packets has to be registered with the device: ulimit -l"},
    {-EINVAL, UNET_INTERFACE_NAMES "an address, a network or an interface of every node"},
    {-EADDRNOTAVAIL, UNET_INTERFACE_NAMES "an address, a network or an interface of every node"},
    {0, NULL}};

const struct unet_ops unet_ofi_ops = {
    .name = "ofi",
    .network = true,
    .reliable = true,
    .remedies = ofi_remedies,
    .open = ofi_open,
    .close = ofi_close,
    .address = unet_ni_address,
    .connect = unet_ofi_connect,
    .disconnect = unet_ofi_disconnect,
    .state = unet_ofi_state,
    .kick = ofi_kick,
    .progress = ofi_progress,
    .wait = unet_ni_wait,
    .ranges = &unet_ofi_range_ops,
    .packets = &ofi_packet_ops,
};
