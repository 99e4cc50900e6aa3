/* SPDX-License-Identifier: BSD-3-Clause
 *
 * buffer.c - packet buffers.
 *
 * What is known of a packet stands apart from its bytes, which lie in slabs.  Free slabs are reused
 * last in, first out, because the last one is still in the processor's cache.
 */
#include "connection.h"
#include <stdlib.h>

/* ---- slabs --------------------------------------------------------------------------- */

static uint32_t slab_stride(uint32_t bytes)
{
    return (RELIABLE_HEADROOM + bytes + 7) & ~7u;
}

/* Packets of so many bytes that fit into one. */
static uint32_t slab_packets(uint32_t bytes)
{
    return RELIABLE_SLAB_BYTES / slab_stride(bytes);
}

/* Free buffers that are kept for reuse, as many as one connection can use; and as many slabs as
 * these fill. */
static uint32_t spare_max(const struct reliable_engine *engine)
{
    return 2 * engine->window;
}

static void slab_put(struct reliable_engine *engine, struct reliable_slab *slab)
{
    const uint32_t most = spare_max(engine) / slab_packets(engine->config.packet_bytes) + 2;

    if (engine->spare_slabs >= most) {
        free(slab);
        return;
    }
    slab->next = engine->spare_slab;
    engine->spare_slab = slab;
    engine->spare_slabs++;
}

static struct reliable_slab *slab_get(struct reliable_engine *engine)
{
    struct reliable_slab *slab = engine->spare_slab;

    if (slab) {
        engine->spare_slab = slab->next;
        engine->spare_slabs--;
    } else {
        slab = malloc(sizeof(*slab));
    }
    if (slab)
        slab->used = slab->buffers = 0;
    return slab;
}

static int slab_reserve(struct reliable_engine *engine, uint32_t count)
{
    while (engine->spare_slabs < count) {
        struct reliable_slab *slab = malloc(sizeof(*slab));

        if (!slab)
            return -ENOMEM;
        slab->next = engine->spare_slab;
        engine->spare_slab = slab;
        engine->spare_slabs++;
    }
    return 0;
}

/* The next bytes of a slab; of a new one, if they do not fit. */
static uint8_t *slab_take(struct reliable_engine *engine, struct reliable_slab **slab,
                          uint32_t stride)
{
    if (!*slab || (*slab)->used + stride > RELIABLE_SLAB_BYTES)
        *slab = slab_get(engine);
    if (!*slab)
        return NULL;
    (*slab)->used += stride;
    (*slab)->buffers++;
    return (*slab)->bytes + (*slab)->used - stride;
}

/* ---- buffers --------------------------------------------------------------------------- */

static struct reliable_buffer *buffer_new(struct reliable_engine *engine)
{
    struct reliable_buffer *buffer = malloc(sizeof(*buffer));

    if (buffer)
        engine->stats.buffers++;
    return buffer;
}

static void buffer_spare(struct reliable_engine *engine, struct reliable_buffer *buffer)
{
    if (engine->spares == spare_max(engine)) {
        engine->stats.buffers--;
        free(buffer);
        return;
    }
    buffer->next = engine->spare;
    engine->spare = buffer;
    engine->spares++;
}

static struct reliable_buffer *buffer_unspare(struct reliable_engine *engine)
{
    struct reliable_buffer *buffer = engine->spare;

    if (!buffer)
        return buffer_new(engine);
    engine->spare = buffer->next;
    engine->spares--;
    return buffer;
}

int reliable_buffer_reserve(struct reliable_engine *engine, uint32_t count, uint32_t bytes)
{
    while (engine->spares < count) {
        struct reliable_buffer *buffer = buffer_new(engine);

        if (!buffer)
            return -ENOMEM;
        buffer_spare(engine, buffer);
    }
    return slab_reserve(engine, (count + slab_packets(bytes) - 1) / slab_packets(bytes));
}

struct reliable_buffer *reliable_buffer_get(struct reliable_engine *engine,
                                            struct reliable_slab **slab, uint32_t bytes)
{
    struct reliable_buffer *buffer = buffer_unspare(engine);
    uint8_t *at;

    if (!buffer)
        return NULL;
    at = slab_take(engine, slab, slab_stride(bytes));
    if (!at) {
        buffer_spare(engine, buffer);
        return NULL;
    }
    buffer->slab = *slab;
    buffer->bytes = at + RELIABLE_HEADROOM;
    buffer->size = bytes;
    return buffer;
}

void reliable_buffer_trim(struct reliable_buffer *buffer)
{
    struct reliable_slab *slab = buffer->slab;
    const uint8_t *end = buffer->bytes - RELIABLE_HEADROOM + slab_stride(buffer->size);

    if (end == slab->bytes + slab->used)
        slab->used -= slab_stride(buffer->size) - slab_stride(buffer->length);
    buffer->size = buffer->length;
}

void reliable_buffer_put(struct reliable_engine *engine, struct reliable_slab **slab,
                         struct reliable_buffer *buffer)
{
    if (--buffer->slab->buffers == 0) {
        if (*slab == buffer->slab)
            *slab = NULL;
        slab_put(engine, buffer->slab);
    }
    buffer_spare(engine, buffer);
}

size_t reliable_buffer_bytes_of(const struct reliable_engine *engine, uint32_t packets)
{
    const uint32_t slabs = packets / slab_packets(engine->config.packet_bytes) + 2;

    return packets * sizeof(struct reliable_buffer) + slabs * sizeof(struct reliable_slab);
}

void reliable_buffer_free_spares(struct reliable_engine *engine)
{
    while (engine->spare)
        free(buffer_unspare(engine));
    while (engine->spare_slab)
        free(slab_get(engine));
}
