/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reply.c - replies, and deferred replies.
 *
 * Replies to one peer are sent in the order in which they were made: while one is deferred, the
 * later ones are deferred, too, and requests wait.
 */
#include "internal.h"
#include <stdlib.h>

/* ---- deferred ---------------------------------------------------------- */

static int GAM_COLD reply_defer(struct gam *g, uint32_t user, const union gam_header *header,
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
    later->request_class = g->requester_class;
    later->header = *header;
    later->length = length;
    if (length > 0)
        memcpy(later->data, data, length);

    peer->owed[later->request_class]--;
    *peer->deferred_end = later;
    peer->deferred_end = &later->next;
    peer->deferred_count++;
    gam_list_add(g, peer, GAM_WORKING);
    return 0;
}

static int deferred_send_one(struct gam_peer *peer, const struct gam_deferred *later)
{
    int rc;

    peer->owed[later->request_class]++;
    if (gam_user_kind(later->user) == GAM_REPLY)
        rc = gam_small_send(peer, later->user, gam_user_words(later->user),
                            gam_words_of(GAM_WORDS_MAX, later->header.word));
    else
        rc = gam_bulk_send(peer, later->user, &later->header, later->data, later->length);
    if (rc)
        peer->owed[later->request_class]--;
    return rc;
}

static void deferred_unlink(struct gam_peer *peer)
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
        if (deferred_send_one(peer, peer->deferred) != 0)
            return false;
        deferred_unlink(peer);
    }
    return true;
}

void gam_deferred_drop(struct gam_peer *peer)
{
    while (peer->deferred)
        deferred_unlink(peer);
}

/* ---- small --------------------------------------------------------------- */

static int GAM_COLD small_reply_defer(struct gam *g, uint32_t user, uint64_t w0, uint64_t w1,
                                      uint64_t w2, uint64_t w3)
{
    const union gam_header header = {.word = {w0, w1, w2, w3}};

    return reply_defer(g, user, &header, NULL, 0);
}

static int GAM_COLD reply_refuse(struct gam *g, bool valid)
{
    if (g->context == GAM_IN_REQUEST && !g->replied && !valid)
        return -EINVAL;
    g->stats.misuse++;
    return -EPERM;
}

static inline bool reply_allowed(const struct gam *g)
{
    return g->context == GAM_IN_REQUEST && !g->replied;
}

static inline __attribute__((always_inline)) int small_reply(struct gam *g, uint32_t handler,
                                                             uint32_t words, struct gam_words w)
{
    const uint32_t user = gam_user(GAM_REPLY, handler, words);
    struct gam_peer *peer = g->requester;
    int rc = 0;

    if (gam_unlikely(!reply_allowed(g) || !gam_handler_ok(handler)))
        return reply_refuse(g, gam_handler_ok(handler));
    if (gam_unlikely(peer->deferred != NULL || gam_small_send(peer, user, words, w) != 0))
        rc = small_reply_defer(g, user, w.word[0], w.word[1], w.word[2], w.word[3]);
    g->replied = rc == 0;
    g->stats.replies += rc == 0;
    return rc;
}

int gam_reply(struct gam *g, uint32_t handler, uint32_t words, const uint64_t word[])
{
    if (words > GAM_WORDS_MAX)
        return reply_refuse(g, false);
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

    if (!reply_allowed(g) || !valid)
        return reply_refuse(g, valid);
    if (length > GAM_MEDIUM_MAX)
        return -EMSGSIZE;
    if (words > 0)
        memcpy(header.word, word, words * sizeof(word[0]));
    if (!g->requester->deferred)
        rc = gam_bulk_send(g->requester, user, &header, data, length);
    if (rc == -EAGAIN)
        rc = reply_defer(g, user, &header, data, length);
    g->replied = rc == 0;
    g->stats.mediums += rc == 0;
    return rc;
}
