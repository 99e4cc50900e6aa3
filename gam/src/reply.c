/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reply.c - replies, and those that had to be put aside.
 *
 * Replies to one peer leave in the order in which they were made: while one is
 * put aside, the later ones join it, and requests wait.
 */
#include "internal.h"
#include <stdlib.h>

/* ---- put aside ---------------------------------------------------------- */

static int GAM_COLD defer(struct gam *g, uint32_t user, const union gam_header *header,
                          const void *data, size_t length)
{
    struct gam_peer *peer = g->requester;
    struct gam_deferred *later;

    if (peer->dead)
        return -EPIPE;
    later = malloc(sizeof(*later) + length);
    if (!later)
        return -ENOMEM;
    later->next = NULL;
    later->user = user;
    later->paid_by = g->requester_class;
    later->header = *header;
    later->length = length;
    if (length > 0)
        memcpy(later->data, data, length);

    peer->owed[later->paid_by]--;
    *peer->deferred_end = later;
    peer->deferred_end = &later->next;
    peer->deferred_count++;
    gam_list_add(g, peer, GAM_WORKING);
    return 0;
}

static int send_one(struct gam_peer *peer, const struct gam_deferred *later)
{
    int rc;

    peer->owed[later->paid_by]++;
    if (gam_user_kind(later->user) == GAM_REPLY)
        rc = gam_put(peer, later->user, gam_user_words(later->user),
                     gam_words_of(GAM_WORDS_MAX, later->header.word));
    else
        rc = gam_carry(peer, later->user, &later->header, later->data, later->length);
    if (rc)
        peer->owed[later->paid_by]--;
    return rc;
}

static void unlink_first(struct gam_peer *peer)
{
    struct gam_deferred *first = peer->deferred;

    peer->deferred = first->next;
    if (!peer->deferred)
        peer->deferred_end = &peer->deferred;
    peer->deferred_count--;
    free(first);
}

bool gam_deferred_send(struct gam_peer *peer)
{
    while (peer->deferred) {
        if (send_one(peer, peer->deferred) != 0)
            return false;
        unlink_first(peer);
    }
    return true;
}

void gam_deferred_drop(struct gam_peer *peer)
{
    while (peer->deferred)
        unlink_first(peer);
}

/* ---- small --------------------------------------------------------------- */

static int GAM_COLD small_later(struct gam *g, uint32_t user, uint64_t w0, uint64_t w1, uint64_t w2,
                                uint64_t w3)
{
    const union gam_header header = {.word = {w0, w1, w2, w3}};

    return defer(g, user, &header, NULL, 0);
}

static int GAM_COLD refuse_reply(struct gam *g, bool valid)
{
    if (g->context == GAM_IN_REQUEST && !g->replied && !valid)
        return -EINVAL;
    g->stats.misuse++;
    return -EPERM;
}

static inline bool may_reply(const struct gam *g)
{
    return g->context == GAM_IN_REQUEST && !g->replied;
}

static inline __attribute__((always_inline)) int small_reply(struct gam *g, uint32_t handler,
                                                             uint32_t words, struct gam_words w)
{
    const uint32_t user = gam_user(GAM_REPLY, handler, words);
    struct gam_peer *peer = g->requester;
    int rc = 0;

    if (gam_unlikely(!may_reply(g) || !gam_handler_ok(handler)))
        return refuse_reply(g, gam_handler_ok(handler));
    if (gam_unlikely(peer->deferred != NULL || gam_put(peer, user, words, w) != 0))
        rc = small_later(g, user, w.word[0], w.word[1], w.word[2], w.word[3]);
    g->replied = rc == 0;
    g->stats.replies += rc == 0;
    return rc;
}

int gam_reply(struct gam *g, uint32_t handler, uint32_t words, const uint64_t word[])
{
    if (words > GAM_WORDS_MAX)
        return refuse_reply(g, false);
    return small_reply(g, handler, words, gam_words_of(words, word));
}

int gam_reply_0(struct gam *g, uint32_t handler)
{
    return small_reply(g, handler, 0, (struct gam_words){{0}});
}

int gam_reply_1(struct gam *g, uint32_t handler, uint64_t w0)
{
    return small_reply(g, handler, 1, (struct gam_words){{w0}});
}

int gam_reply_2(struct gam *g, uint32_t handler, uint64_t w0, uint64_t w1)
{
    return small_reply(g, handler, 2, (struct gam_words){{w0, w1}});
}

int gam_reply_3(struct gam *g, uint32_t handler, uint64_t w0, uint64_t w1, uint64_t w2)
{
    return small_reply(g, handler, 3, (struct gam_words){{w0, w1, w2}});
}

int gam_reply_4(struct gam *g, uint32_t handler, uint64_t w0, uint64_t w1, uint64_t w2, uint64_t w3)
{
    return small_reply(g, handler, 4, (struct gam_words){{w0, w1, w2, w3}});
}

/* ---- medium --------------------------------------------------------------- */

int gam_reply_medium(struct gam *g, uint32_t handler, const void *data, size_t length,
                     uint32_t words, const uint64_t word[])
{
    const uint32_t user = gam_user(GAM_MEDIUM_REPLY, handler, words);
    const bool valid = gam_handler_ok(handler) && words <= GAM_WORDS_MAX;
    union gam_header header = {0};
    int rc = -EAGAIN;

    if (!may_reply(g) || !valid)
        return refuse_reply(g, valid);
    if (length > GAM_MEDIUM_MAX)
        return -EMSGSIZE;
    if (words > 0)
        memcpy(header.word, word, words * sizeof(word[0]));
    if (!g->requester->deferred)
        rc = gam_carry(g->requester, user, &header, data, length);
    if (rc == -EAGAIN)
        rc = defer(g, user, &header, data, length);
    g->replied = rc == 0;
    g->stats.mediums += rc == 0;
    return rc;
}
