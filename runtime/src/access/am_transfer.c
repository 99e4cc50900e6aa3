/* SPDX-License-Identifier: BSD-3-Clause
 *
 * am_transfer.c - transfers of split-c/am.h: am_reply_xfer, am_store and am_get.
 */
#include "am_table.h"

#include <stdlib.h>

/* ---- am_reply_xfer --------------------------------------------------------------------- */

/* A block that fits into a message is sent in it.  For a larger one the message says where it is,
 * and the rank that requested it fetches it once it is outside of the handler, which may send
 * nothing. */
struct am_fetch {
    struct am_fetch *next;
    uint32_t rank;
    const void *from;
    void *to;
    uint64_t n, handler, arg;
};

struct am_fetch *splitc_am_fetches;
static struct am_fetch **fetches_end = &splitc_am_fetches;

static void am_check_xfer(const struct gam_message *m, uint64_t index)
{
    splitc_expect(m, index == 0 || splitc_am_is_handler(index));
}

/* Words: target address, handler, arg. */
void splitc_on_xfer(struct gam *g, const struct gam_message *m)
{
    const struct gam_message landed = {.source = m->source,
                                       .words = 1,
                                       .handler = (uint16_t)m->word[1],
                                       .word = {m->word[2]},
                                       .data = (void *)(uintptr_t)m->word[0],
                                       .length = m->length};

    splitc_expect(m, m->words == 3);
    am_check_xfer(m, m->word[1]);
    if (m->length > 0)
        memcpy(landed.data, m->data, m->length);
    if (landed.handler)
        splitc_am_run(g, &landed);
}

void splitc_on_xfer_large(struct gam *g, const struct gam_message *m)
{
    struct am_fetch *fetch = malloc(sizeof *fetch);

    (void)g;
    splitc_expect(m, m->words == 0 && m->length == sizeof *fetch);
    if (!fetch)
        splitc_die("no memory for a transfer from processor %u", m->source);
    memcpy(fetch, m->data, sizeof *fetch);
    am_check_xfer(m, fetch->handler);
    fetch->rank = m->source;
    fetch->next = NULL;
    *fetches_end = fetch;
    fetches_end = &fetch->next;
}

void splitc_am_begin_fetches(void)
{
    while (splitc_am_fetches) {
        const struct am_fetch fetch = *splitc_am_fetches;

        free(splitc_am_fetches);
        splitc_am_fetches = fetch.next;
        if (!splitc_am_fetches)
            fetches_end = &splitc_am_fetches;
        splitc_sent(fetch.rank, gam_get(splitc_runtime.gam, fetch.rank, fetch.from, fetch.to,
                                        fetch.n, (uint32_t)fetch.handler, fetch.arg));
    }
}

int am_reply_xfer(int dest, const void *lva, void *rva, splitc_size n, am_handler h, am_word arg)
{
    static const char call[] = "am_reply_xfer";
    const uint64_t index = h ? splitc_am_answering(dest, h, call) : 0;
    const struct am_fetch large = {.from = lva, .to = rva, .n = n, .handler = index, .arg = arg};
    const uint64_t word[] = {(uintptr_t)rva, index, arg};
    struct gam *g = splitc_runtime.gam;

    splitc_am_check_reply(dest, call);
    if (n <= GAM_MEDIUM_MAX)
        return splitc_am_replied(gam_reply_medium(g, SPLITC_MSG_XFER, lva, n, 3, word), call);
    return splitc_am_replied(
        gam_reply_medium(g, SPLITC_MSG_XFER_LARGE, &large, sizeof large, 0, NULL), call);
}

/* ---- stores and gets ------------------------------------------------------------------- */

/* Transfers need no handler. */
static uint32_t am_index_or_none(am_handler h, const char *call)
{
    return h ? splitc_am_index(h, call) : 0;
}

static uint32_t am_transfer_index(uint32_t rank, am_handler h, const char *call)
{
    const uint32_t index = am_index_or_none(h, call);

    if (h)
        splitc_am_tell(SPLITC_EVENT_SENT, rank, index, call);
    return index;
}

int am_store(int dest, const void *lva, void *rva, splitc_size n, am_handler h, am_word arg)
{
    SPLITC_INSIDE;
    const uint32_t rank = splitc_am_target(dest, "am_store");
    const uint32_t index = am_transfer_index(rank, h, "am_store");

    return splitc_am_sent(rank, gam_store(splitc_runtime.gam, rank, lva, rva, n, index, arg),
                          "am_store");
}

int am_store_async(int dest, const void *lva, void *rva, splitc_size n, am_handler h, am_word arg,
                   void (*endfunc)(void *endarg), void *endarg)
{
    SPLITC_INSIDE;
    const uint32_t rank = splitc_am_target(dest, "am_store_async");
    const uint32_t index = am_transfer_index(rank, h, "am_store_async");

    return splitc_am_sent(
        rank, gam_store_async(splitc_runtime.gam, rank, lva, rva, n, index, arg, endfunc, endarg),
        "am_store_async");
}

/* Its handler runs here, with the owner as its source. */
int am_get(int dest, const void *rva, void *lva, splitc_size n, am_handler h, am_word arg)
{
    SPLITC_INSIDE;
    const uint32_t rank = splitc_am_target(dest, "am_get");
    const uint32_t index = am_index_or_none(h, "am_get");

    if (h)
        splitc_am_tell(SPLITC_EVENT_ASKED, rank, index, "am_get");
    return splitc_am_sent(rank, gam_get(splitc_runtime.gam, rank, rva, lva, n, index, arg),
                          "am_get");
}
