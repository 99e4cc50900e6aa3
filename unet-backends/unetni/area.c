/* SPDX-License-Identifier: BSD-3-Clause
 *
 * area.c - the memory that an endpoint shares with its client.
 *
 * It is a memfd of the service's, sealed, so that no client can make our access to it a SIGBUS.
 * A client may give its pages back (fallocate); then we find zeros there, as it does itself.
 */
#include "unetni/unetni.h"

#include "core/core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, LINES = 128, SLOTS_MIN = 4, SLOTS_MAX = 65536, CHANNELS_MAX = 65535 };

/* ---- layout ------------------------------------------------------------------------- */

static bool slots_ok(uint32_t slots)
{
    return slots >= SLOTS_MIN && slots <= SLOTS_MAX && (slots & (slots - 1)) == 0;
}

static bool sizes_ok(const struct unet_fe_create *c)
{
    return slots_ok(c->send_slots) && slots_ok(c->recv_slots) && slots_ok(c->free_slots) &&
           c->channels >= 1 && c->channels <= CHANNELS_MAX && c->segment_bytes > 0 &&
           c->segment_bytes % PAGE == 0;
}

/* The next part of the area.  With the bounds above no sum comes near 2^64. */
static uint64_t part(uint64_t *end, uint64_t bytes)
{
    const uint64_t at = *end;

    *end = (at + bytes + LINES - 1) / LINES * LINES;
    return at;
}

static void lay_out(struct unet_service_message *request)
{
    struct unet_fe_create *c = &request->create;
    uint64_t end = 0;

    part(&end, sizeof(struct unet_fe_shared) + c->channels + 1);
    request->asleep = part(&end, sizeof(uint32_t));
    c->send = part(&end, unet_ring_bytes(c->send_slots));
    c->errors = part(&end, unet_ring_bytes(c->send_slots));
    c->free = part(&end, unet_ring_bytes(c->free_slots));
    c->receive_stride = unet_ring_bytes(c->recv_slots);
    c->receive = part(&end, c->receive_stride * c->channels);
    c->segment = (end + PAGE - 1) / PAGE * PAGE;
    c->area_bytes = c->segment + c->segment_bytes;
}

/* ---- making and ending ---------------------------------------------------------------- */

static int make_memory(uint64_t bytes)
{
    const int fd = memfd_create("unetni-endpoint", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return -ENOMEM;
    if (ftruncate(fd, (off_t)bytes) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        close(fd);
        return -ENOMEM;
    }
    return fd;
}

static bool make_tables(struct unetni_endpoint *ep)
{
    const uint32_t n = ep->layout.channels;
    uint32_t buckets = 1;

    while (buckets < n)
        buckets *= 2;
    ep->bucket_mask = buckets - 1;
    ep->bucket = calloc(buckets, sizeof *ep->bucket);
    ep->channel = calloc(n + 1, sizeof *ep->channel);
    return ep->bucket && ep->channel;
}

static void attach(struct unetni_endpoint *ep, uint64_t asleep)
{
    const struct unet_fe_create *c = &ep->layout;

    ep->shared = (struct unet_fe_shared *)ep->area;
    ep->asleep = (uint32_t *)(ep->area + asleep);
    unet_ring_attach(&ep->tx, ep->area + c->send, c->send_slots);
    unet_ring_attach(&ep->errors, ep->area + c->errors, c->send_slots);
    unet_ring_attach(&ep->free, ep->area + c->free, c->free_slots);
    for (uint32_t n = 1; n <= c->channels; n++)
        unet_ring_attach(&ep->channel[n].in, ep->area + c->receive + (n - 1) * c->receive_stride,
                         c->recv_slots);
}

static int map_memory(struct unetni_endpoint *ep, int fd)
{
    void *at = mmap(NULL, ep->layout.area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED)
        return -ENOMEM;
    ep->area = at;
    return make_tables(ep) ? 0 : -ENOMEM;
}

int unetni_area_make(struct unetni_service *s, struct unetni_endpoint *ep,
                     struct unet_service_message *request)
{
    int fd, error;

    if (!sizes_ok(&request->create))
        return -EINVAL;
    lay_out(request);
    error = unetni_user_add_bytes(s, ep->user, request->create.area_bytes);
    if (error)
        return error;
    ep->layout = request->create;
    fd = make_memory(ep->layout.area_bytes);
    if (fd < 0) {
        unetni_area_free(ep);
        return fd;
    }
    error = map_memory(ep, fd);
    if (error) {
        unetni_area_free(ep);
        close(fd);
        return error;
    }
    attach(ep, request->asleep);
    return fd;
}

void unetni_area_free(struct unetni_endpoint *ep)
{
    if (ep->area)
        munmap(ep->area, ep->layout.area_bytes);
    free(ep->channel);
    free(ep->bucket);
    ep->user->bytes -= ep->layout.area_bytes;
    ep->area = NULL;
    ep->channel = NULL;
    ep->bucket = NULL;
    ep->layout.area_bytes = 0;
}

/* ---- the bell ---------------------------------------------------------------------------- */

static bool almost_full(const struct unet_ring *ring)
{
    const uint32_t used =
        ring->position - __atomic_load_n(&ring->shared->consumed, __ATOMIC_RELAXED);

    return used >= unet_ring_brim(ring->mask);
}

void unetni_notify(struct unetni_endpoint *ep, const struct unet_ring *ring)
{
    uint32_t *armed = &ep->shared->armed;
    uint32_t seen;

    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* E, matches F in unet_bell_arm */
    seen = __atomic_load_n(armed, __ATOMIC_RELAXED);
    if (!seen || (ring && !(seen & UNET_NONEMPTY) && !almost_full(ring)))
        return;
    unetni_count(ep, UNET_FE_WAKEUPS, 1);
    unet_bell_ring(ep->bell, armed, seen);
}
