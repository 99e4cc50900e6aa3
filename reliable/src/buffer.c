/* SPDX-License-Identifier: BSD-3-Clause
 *
 * buffer.c - packet buffers.
 */
#include "connection.h"
#include <stdlib.h>

static struct reliable_buffer *reliable_buffer_new(struct reliable_engine *engine)
{
    struct reliable_buffer *buffer =
        malloc(offsetof(struct reliable_buffer, bytes) + engine->config.packet_bytes);

    if (buffer)
        engine->stats.buffers++;
    return buffer;
}

int reliable_buffer_reserve(struct reliable_engine *engine, uint32_t count)
{
    while (engine->spares < count) {
        struct reliable_buffer *buffer = reliable_buffer_new(engine);

        if (!buffer)
            return -ENOMEM;
        reliable_buffer_put(engine, buffer);
    }
    return 0;
}

struct reliable_buffer *reliable_buffer_get(struct reliable_engine *engine)
{
    struct reliable_buffer *buffer = engine->spare;

    if (!buffer)
        return reliable_buffer_new(engine);
    engine->spare = buffer->next;
    engine->spares--;
    return buffer;
}

void reliable_buffer_put(struct reliable_engine *engine, struct reliable_buffer *buffer)
{
    if (engine->spares == RELIABLE_SPARE_BUFFERS) {
        engine->stats.buffers--;
        free(buffer);
        return;
    }
    buffer->next = engine->spare;
    engine->spare = buffer;
    engine->spares++;
}

void reliable_buffer_free_spares(struct reliable_engine *engine)
{
    while (engine->spare)
        free(reliable_buffer_get(engine));
}
