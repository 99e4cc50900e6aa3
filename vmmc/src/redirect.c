/* SPDX-License-Identifier: BSD-3-Clause
 *
 * redirect.c - transfer redirection: where bytes of a redirectable buffer land.
 *
 * What has been written to the posted memory is one extent.  Bytes that would begin a second one go
 * to the buffer, so that two numbers tell the owner where everything is.  Bytes that are sent twice
 * go where their first copy is, so that no old copy is taken for the new one.
 */
#include "internal.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

uint8_t *vmmc_redirect_place(struct vmmc_exported *e, uint64_t offset, size_t *length)
{
    struct vmmc_posting *p = &e->posting;
    uint8_t *in_buffer = e->at + offset;
    size_t at;

    if (!p->to || offset >= p->offset + p->n)
        return in_buffer;
    if (offset < p->offset) {
        *length = least(*length, p->offset - offset);
        return in_buffer;
    }
    at = offset - p->offset;
    if (p->begin == p->end)
        p->begin = p->end = at;
    if (at > p->end)
        return in_buffer;
    if (at < p->begin) {
        *length = least(*length, p->begin - at);
        return in_buffer;
    }
    *length = least(*length, p->n - at);
    if (at + *length > p->end)
        p->end = at + *length;
    e->v->stats.redirected_bytes += *length;
    return p->to + at;
}

int vmmc_redirect(struct vmmc_exported *e, uint64_t offset, void *to, size_t n)
{
    if (!(e->flags & VMMC_REDIRECTABLE) || !to || n == 0 || offset > e->n || n > e->n - offset)
        return -EINVAL;
    if (e->posting.to)
        return -EBUSY;
    e->posting = (struct vmmc_posting){.to = to, .offset = offset, .n = n};
    return 0;
}

int vmmc_redirect_look(const struct vmmc_exported *e, struct vmmc_redirected *r)
{
    const struct vmmc_posting *p = &e->posting;

    if (!p->to)
        return -ENOENT;
    if (p->begin == p->end)
        *r = (struct vmmc_redirected){.first = p->n};
    else
        *r = (struct vmmc_redirected){p->begin, p->end - p->begin, p->n - p->end};
    return 0;
}

int vmmc_redirect_end(struct vmmc_exported *e, struct vmmc_redirected *r)
{
    struct vmmc_stats *stats = &e->v->stats;
    const int rc = vmmc_redirect_look(e, r);

    if (rc)
        return rc;
    stats->redirections++;
    stats->full += r->placed == e->posting.n;
    stats->partial += r->placed > 0 && r->placed < e->posting.n;
    e->posting.to = NULL;
    return 0;
}
