/* SPDX-License-Identifier: BSD-3-Clause
 *
 * request.c - small requests, the shortest path.
 */
#include "internal.h"

int GAM_COLD gam_call_refuse(struct gam *g)
{
    if (g->context == GAM_MAIN)
        return -EINVAL;
    g->stats.misuse++;
    return -EPERM;
}

/* -EAGAIN: the window or the ring is full, or deferred replies have to go first. */
static inline __attribute__((always_inline)) int try_request(struct gam_peer *peer, uint32_t user,
                                                             uint32_t words, struct gam_words w)
{
    if (gam_unlikely(peer->credits[GAM_SMALL] == 0 || peer->deferred != NULL))
        return -EAGAIN;
    if (gam_unlikely(gam_small_send(peer, user, words, w) != 0))
        return -EAGAIN;
    peer->credits[GAM_SMALL]--;
    return 0;
}

static int GAM_COLD request_slow(struct gam *g, struct gam_peer *peer, uint32_t user,
                                 uint32_t words, uint64_t w0, uint64_t w1, uint64_t w2, uint64_t w3)
{
    const struct gam_words w = {{w0, w1, w2, w3}};
    uint32_t rounds = 0;

    g->stats.stalls++;
    do {
        int rc = gam_wait_step(g, peer, &rounds);

        if (rc)
            return rc;
    } while (try_request(peer, user, words, w) != 0);
    return 0;
}

static inline __attribute__((always_inline)) int request(struct gam *g, enum gam_kind kind,
                                                         uint32_t dest, uint32_t handler,
                                                         uint32_t words, struct gam_words w)
{
    const uint32_t user = gam_user(kind, handler, words);
    struct gam_peer *peer = &g->peer[dest];

    gam_poll_quick(g);
    if (gam_unlikely(try_request(peer, user, words, w) != 0))
        return request_slow(g, peer, user, words, w.word[0], w.word[1], w.word[2], w.word[3]);
    return 0;
}

static inline __attribute__((always_inline)) int
small_request(struct gam *g, uint32_t dest, uint32_t handler, uint32_t words, struct gam_words w)
{
    int rc;

    if (gam_unlikely(dest >= g->ranks || !gam_handler_ok(handler) || g->context != GAM_MAIN))
        return gam_call_refuse(g);
    rc = request(g, GAM_REQUEST, dest, handler, words, w);
    g->stats.requests += rc == 0;
    return rc;
}

int gam_request(struct gam *g, uint32_t dest, uint32_t handler, uint32_t words,
                const uint64_t word[])
{
    if (words > GAM_WORDS_MAX)
        return gam_call_refuse(g);
    return small_request(g, dest, handler, words, gam_words_of(words, word));
}

int gam_request_0(struct gam *g, uint32_t dest, uint32_t handler)
{
    return small_request(g, dest, handler, 0, (struct gam_words){{0}});
}

int gam_request_1(struct gam *g, uint32_t dest, uint32_t handler, uint64_t w0)
{
    return small_request(g, dest, handler, 1, (struct gam_words){{w0}});
}

int gam_request_2(struct gam *g, uint32_t dest, uint32_t handler, uint64_t w0, uint64_t w1)
{
    return small_request(g, dest, handler, 2, (struct gam_words){{w0, w1}});
}

int gam_request_3(struct gam *g, uint32_t dest, uint32_t handler, uint64_t w0, uint64_t w1,
                  uint64_t w2)
{
    return small_request(g, dest, handler, 3, (struct gam_words){{w0, w1, w2}});
}

int gam_request_4(struct gam *g, uint32_t dest, uint32_t handler, uint64_t w0, uint64_t w1,
                  uint64_t w2, uint64_t w3)
{
    return small_request(g, dest, handler, 4, (struct gam_words){{w0, w1, w2, w3}});
}

/* A get is a request that GAM itself answers. */
int gam_get(struct gam *g, uint32_t dest, const void *rva, void *lva, size_t n, uint32_t handler,
            uint64_t arg)
{
    const struct gam_words w = {{(uintptr_t)rva, (uintptr_t)lva, n, arg}};
    int rc;

    if (dest >= g->ranks || handler >= GAM_HANDLERS || g->context != GAM_MAIN ||
        !gam_range_ok(w.word[0], n) || !gam_range_ok(w.word[1], n))
        return gam_call_refuse(g);
    rc = request(g, GAM_GET, dest, handler, 4, w);
    if (rc)
        return rc;
    g->stats.gets++;
    g->pending++;
    g->peer[dest].gets++;
    return 0;
}
