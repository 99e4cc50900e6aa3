/* SPDX-License-Identifier: BSD-3-Clause */
#include "parts.h"

#include "access/access.h"
#include "collective.h"

#include <stdlib.h>

/* In messages of equal length: a short one behind a long one would take as long as that. */
void splitc_parts_send(uint32_t rank, const void *from, size_t n, const uint64_t word[2])
{
    const size_t messages = (n + GAM_MEDIUM_MAX - 1) / GAM_MEDIUM_MAX;
    const size_t most = (n + messages - 1) / messages;
    struct gam *g = splitc_runtime.gam;
    const uint8_t *next = from;

    for (size_t left = n; left > 0;) {
        const size_t part = left < most ? left : most;

        splitc_sent(rank, gam_request_medium(g, rank, SPLITC_MSG_PIECE, next, part, 2, word));
        next += part;
        left -= part;
    }
    if (messages > 1)
        gam_push(g, rank);
}

static struct splitc_parts *incomplete;

static struct splitc_parts *parts_begin(const struct gam_message *m, size_t n)
{
    struct splitc_parts *p = malloc(sizeof *p + n);

    if (!p)
        splitc_die("no memory for %zu bytes of what others send of collective operations", n);
    *p = (struct splitc_parts){incomplete, m->source, {m->word[0], m->word[1]}, n, 0};
    incomplete = p;
    return p;
}

struct splitc_parts *splitc_parts_add(const struct gam_message *m, size_t n)
{
    struct splitc_parts **at = &incomplete, *p;

    while (*at && (*at)->source != m->source)
        at = &(*at)->next;
    p = *at;
    if (!p) {
        p = parts_begin(m, n);
        at = &incomplete;
    }
    splitc_expect(m, m->word[0] == p->word[0] && m->word[1] == p->word[1] &&
                         m->length <= p->n - p->got);
    memcpy(p->bytes + p->got, m->data, m->length);
    p->got += m->length;
    if (p->got < p->n)
        return NULL;
    *at = p->next;
    return p;
}
