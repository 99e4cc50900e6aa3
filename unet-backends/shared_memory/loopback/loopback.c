/* SPDX-License-Identifier: BSD-3-Clause
 *
 * loopback.c - endpoints within one process.
 *
 * The smallest whole backend.  An address is the random nonce of a live endpoint in the
 * list below, so a stale one names nothing.  Endpoints may belong to different threads:
 * what a sender uses of the receiver, its area and its doorbell, is counted
 * and goes with the last user.
 */
#include "shared_memory/shared_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What an endpoint shows to its peers. */
struct port {
    struct port *next;
    uint64_t nonce[2];
    void *memory;
    uint64_t bytes;
    int bell[2];
    uint32_t users;
};

static pthread_mutex_t ports_lock = PTHREAD_MUTEX_INITIALIZER;
static struct port *ports;

/* ---- the list of ports -------------------------------------------------------- */

static void port_list(struct port *port)
{
    pthread_mutex_lock(&ports_lock);
    port->next = ports;
    ports = port;
    pthread_mutex_unlock(&ports_lock);
}

static void port_unlist(struct port *port)
{
    struct port **at;

    pthread_mutex_lock(&ports_lock);
    for (at = &ports; *at != port; at = &(*at)->next)
        ;
    *at = port->next;
    pthread_mutex_unlock(&ports_lock);
}

static void port_release(struct port *port)
{
    if (__atomic_sub_fetch(&port->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    munmap(port->memory, port->bytes);
    unet_bell_close(port->bell);
    free(port);
}

/* The port of that nonce, counted, or NULL. */
static struct port *port_use(const uint64_t nonce[2])
{
    struct port *port;

    pthread_mutex_lock(&ports_lock);
    for (port = ports; port; port = port->next) {
        if (memcmp(port->nonce, nonce, sizeof port->nonce) == 0) {
            __atomic_add_fetch(&port->users, 1, __ATOMIC_RELAXED);
            break;
        }
    }
    pthread_mutex_unlock(&ports_lock);
    return port;
}

/* ---- the transport ---------------------------------------------------------------- */

static int loopback_create(struct sm_endpoint *se, const uint64_t nonce[2], uint64_t bytes,
                           void **memory)
{
    struct port *port = calloc(1, sizeof *port);
    void *area;

    if (!port)
        return -ENOMEM;
    area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
    if (area == MAP_FAILED) {
        free(port);
        return -ENOMEM;
    }
    *port = (struct port){.memory = area, .bytes = bytes, .users = 1};
    memcpy(port->nonce, nonce, sizeof port->nonce);
    memcpy(port->bell, se->ni.ep.bell, sizeof port->bell);
    se->handle = port;
    unet_ni_set_address(&se->ni, port->nonce, sizeof port->nonce);
    port_list(port);
    *memory = area;
    return 0;
}

static void loopback_destroy(struct sm_endpoint *se)
{
    struct port *port = se->handle;

    se->ni.ep.bell[0] = se->ni.ep.bell[1] = -1; /* the port's: its users may ring it */
    port_unlist(port);
    port_release(port);
}

static int loopback_reach(const struct unet_address *address, struct sm_peer *peer)
{
    struct port *port;
    uint64_t nonce[2];
    int error;

    if (address->length != sizeof nonce)
        return -EADDRNOTAVAIL;
    memcpy(nonce, address->bytes, sizeof nonce);
    port = port_use(nonce);
    if (!port)
        return -EHOSTUNREACH;
    error = unet_sm_area_view(&peer->area, port->memory, port->bytes);
    if (error) {
        port_release(port);
        return -EHOSTUNREACH;
    }
    peer->bell = port->bell[1];
    peer->process = -1;
    peer->handle = port;
    return 0;
}

static void loopback_leave(struct sm_peer *peer)
{
    port_release(peer->handle);
}

static const struct sm_transport loopback_transport = {
    .create = loopback_create,
    .destroy = loopback_destroy,
    .reach = loopback_reach,
    .leave = loopback_leave,
};

/* ---- the backend ------------------------------------------------------------------ */

static int loopback_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    return unet_sm_open(&unet_loopback_ops, &loopback_transport,
                        UNET_CAP_RELIABLE | UNET_CAP_ORDERED | UNET_CAP_DIRECT, config, endpoint);
}

const struct unet_ops unet_loopback_ops = {
    .name = "loopback",
    .open = loopback_open,
    .close = unet_sm_close,
    .address = unet_ni_address,
    .connect = unet_sm_connect,
    .disconnect = unet_sm_disconnect,
    .state = unet_sm_update,
    .kick = unet_sm_kick,
    .progress = unet_sm_progress,
    .wait = unet_ni_wait,
};
