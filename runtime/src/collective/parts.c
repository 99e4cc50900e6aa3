/* SPDX-License-Identifier: BSD-3-Clause */
#include "parts.h"

#include "access/access.h"
#include "collective.h"

#include <stdlib.h>

void splitc_parts_send(uint32_t rank, const void *from, size_t n, const uint64_t word[2])
{
    splitc_sent(rank,
                gam_request_mediums(splitc_runtime.gam, rank, SPLITC_MSG_PIECE, from, n, 2, word));
}

static struct splitc_parts *incomplete;

struct splitc_parts *splitc_parts_from(uint32_t source)
{
    struct splitc_parts *p = incomplete;

    while (p && p->source != source)
        p = p->next;
    return p;
}

struct splitc_parts *splitc_parts_begin(const struct gam_message *m, size_t n)
{
    struct splitc_parts *p = malloc(sizeof *p);

    if (!p)
        splitc_die("no memory for what others send of collective operations");
    *p = (struct splitc_parts){
        .next = incomplete, .source = m->source, .word = {m->word[0], m->word[1]}, .n = n};
    incomplete = p;
    return p;
}

bool splitc_parts_add(struct splitc_parts *p, const struct gam_message *m)
{
    struct splitc_parts **at = &incomplete;

    splitc_expect(m, m->word[0] == p->word[0] && m->word[1] == p->word[1] &&
                         m->length <= p->n - p->got);
    memcpy(p->to + p->got, m->data, m->length);
    p->got += m->length;
    if (p->got < p->n)
        return false;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    return true;
}
