/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far.c - reading and writing objects of other processors by messages.
 *
 * A small access is one request and one reply, which carry the bytes in their words; a larger one
 * is a bulk transfer.  Blocking forms wait for a splitc_cell on their own stack; split-phase forms
 * count in splitc_runtime.gets and puts.
 *
 *   request      words                           answered by
 *   READ         address|n, cell                 ANSWER cell, data
 *   WRITE        address|n, cell, data           ANSWER cell
 *   GET          address|n, to                   GET_ANSWER to|n, data
 *   PUT          address|n, data                 PUT_DONE
 */
#include "access.h"
#include "library.h"

void (*splitc_access_check)(splitc_ptr g, uint64_t n, bool writes);

#define READ_SMALL 24u  /* bytes beside the one word that the answer of a READ needs */
#define WRITE_SMALL 16u /* beside address and cell */
#define PUT_SMALL 24u

/* Answer a request with n bytes at `from` behind the word `head`. */
static void far_answer(struct gam *g, const struct gam_message *m, uint32_t handler, uint64_t head,
                       const void *from, size_t n)
{
    uint64_t word[GAM_WORDS_MAX] = {head};

    splitc_expect(m, m->words == 2 && n <= READ_SMALL);
    splitc_copy(&word[1], from, n);
    splitc_sent(m->source, gam_reply(g, handler, 1 + splitc_words(n), word));
}

/* ---- at the owner ---------------------------------------------------------- */

void splitc_on_read(struct gam *g, const struct gam_message *m)
{
    far_answer(g, m, SPLITC_MSG_ANSWER, m->word[1], splitc_packed_address(m->word[0]),
               splitc_packed_size(m->word[0]));
}

void splitc_on_get(struct gam *g, const struct gam_message *m)
{
    size_t n = splitc_packed_size(m->word[0]);

    far_answer(g, m, SPLITC_MSG_GET_ANSWER, m->word[1] | (uint64_t)n << SPLITC_ADDRESS_BITS,
               splitc_packed_address(m->word[0]), n);
}

void splitc_on_write(struct gam *g, const struct gam_message *m)
{
    size_t n = splitc_packed_size(m->word[0]);

    splitc_expect(m, m->words == 2 + splitc_words(n));
    splitc_copy(splitc_packed_address(m->word[0]), &m->word[2], n);
    splitc_sent(m->source, gam_reply_1(g, SPLITC_MSG_ANSWER, m->word[1]));
}

void splitc_on_put(struct gam *g, const struct gam_message *m)
{
    size_t n = splitc_packed_size(m->word[0]);

    splitc_expect(m, m->words == 1 + splitc_words(n));
    splitc_copy(splitc_packed_address(m->word[0]), &m->word[1], n);
    splitc_sent(m->source, gam_reply_0(g, SPLITC_MSG_PUT_DONE));
}

void splitc_on_write_landed(struct gam *g, const struct gam_message *m)
{
    splitc_sent(m->source, gam_reply_1(g, SPLITC_MSG_ANSWER, m->word[0]));
}

/* Of a put that is part of a handle, the word says which. */
void splitc_on_put_landed(struct gam *g, const struct gam_message *m)
{
    splitc_sent(m->source, gam_reply_1(g, SPLITC_MSG_PUT_DONE, m->word[0]));
}

/* ---- back at the caller ----------------------------------------------------- */

void splitc_on_answer(struct gam *g, const struct gam_message *m)
{
    struct splitc_cell *cell = (struct splitc_cell *)(uintptr_t)m->word[0];

    (void)g;
    splitc_expect(m, m->words == 1 + splitc_words(cell->n));
    splitc_copy(cell->to, &m->word[1], cell->n);
    cell->done = true;
}

void splitc_on_bulk_read(struct gam *g, const struct gam_message *m)
{
    struct splitc_cell *cell = (struct splitc_cell *)(uintptr_t)m->word[0];

    (void)g;
    cell->done = true;
}

void splitc_on_get_answer(struct gam *g, const struct gam_message *m)
{
    size_t n = splitc_packed_size(m->word[0]);

    (void)g;
    splitc_expect(m, m->words == 1 + splitc_words(n));
    splitc_copy(splitc_packed_address(m->word[0]), &m->word[1], n);
    splitc_runtime.gets--;
}

void splitc_on_got(struct gam *g, const struct gam_message *m)
{
    (void)g;
    splitc_expect(m, m->words == 1 && splitc_handle_less(m->word[0]));
    splitc_runtime.gets--;
}

void splitc_on_put_done(struct gam *g, const struct gam_message *m)
{
    (void)g;
    splitc_expect(m, m->words == 0 || splitc_handle_less(m->word[0]));
    splitc_runtime.puts--;
}

/* ---- the accesses ------------------------------------------------------------- */

void splitc_far_read(void *to, splitc_ptr from, splitc_size n)
{
    SPLITC_INSIDE;
    uint32_t rank = splitc_target(from, "read");
    struct splitc_cell cell = {.to = to, .n = n};
    uint64_t word = splitc_cell_word(&cell);
    const void *address = splitc_address(from);
    struct gam *g = splitc_runtime.gam;

    if (n <= READ_SMALL)
        splitc_sent(rank, gam_request_2(g, rank, SPLITC_MSG_READ, splitc_pack(address, n), word));
    else
        splitc_sent(rank, gam_get(g, rank, address, to, n, SPLITC_MSG_BULK_READ, word));
    splitc_await(&cell.done, "read", rank);
}

void splitc_far_write(splitc_ptr to, const void *from, splitc_size n)
{
    SPLITC_INSIDE;
    uint32_t rank = splitc_target(to, "write");
    struct splitc_cell cell = {.n = 0};
    uint64_t word[GAM_WORDS_MAX] = {splitc_pack(splitc_address(to), n), splitc_cell_word(&cell)};
    struct gam *g = splitc_runtime.gam;

    if (n <= WRITE_SMALL) {
        splitc_copy(&word[2], from, n);
        splitc_sent(rank, gam_request(g, rank, SPLITC_MSG_WRITE, 2 + splitc_words(n), word));
    } else {
        splitc_sent(rank, gam_store(g, rank, from, splitc_address(to), n, SPLITC_MSG_WRITE_LANDED,
                                    word[1]));
    }
    splitc_await(&cell.done, "write", rank);
}

unsigned long splitc_far_read_word(splitc_ptr from, splitc_size n)
{
    unsigned long word = 0;

    splitc_far_read(&word, from, n);
    return word;
}

void splitc_far_write_word(splitc_ptr to, unsigned long word, splitc_size n)
{
    splitc_far_write(to, &word, n);
}

void splitc_far_get(void *to, splitc_ptr from, splitc_size n)
{
    SPLITC_INSIDE;
    uint32_t rank = splitc_target_split(from, "get");
    const void *address = splitc_address(from);
    struct gam *g = splitc_runtime.gam;

    splitc_runtime.gets++;
    if (splitc_coalesce(SPLITC_RECORD_GET, rank, address, to, n))
        return;
    splitc_coalesced_go();
    if (n <= READ_SMALL)
        splitc_sent(rank, gam_request_2(g, rank, SPLITC_MSG_GET, splitc_pack(address, n),
                                        splitc_pack(to, 0)));
    else
        splitc_sent(rank, gam_get(g, rank, address, to, n, SPLITC_MSG_GOT, 0));
}

void splitc_far_put(splitc_ptr to, const void *from, splitc_size n)
{
    SPLITC_INSIDE;
    uint32_t rank = splitc_target_split(to, "put");
    uint64_t word[GAM_WORDS_MAX] = {splitc_pack(splitc_address(to), n)};
    struct gam *g = splitc_runtime.gam;

    splitc_runtime.puts++;
    if (splitc_coalesce(SPLITC_RECORD_PUT, rank, splitc_address(to), from, n))
        return;
    splitc_coalesced_go();
    if (n <= PUT_SMALL) {
        splitc_copy(&word[1], from, n);
        splitc_sent(rank, gam_request(g, rank, SPLITC_MSG_PUT, 1 + splitc_words(n), word));
    } else {
        splitc_sent(rank,
                    gam_store(g, rank, from, splitc_address(to), n, SPLITC_MSG_PUT_LANDED, 0));
    }
}

void splitc_far_put_word(splitc_ptr to, unsigned long word, splitc_size n)
{
    splitc_far_put(to, &word, n);
}

static uint64_t far_outstanding(void)
{
    return splitc_runtime.gets + splitc_runtime.puts;
}

void splitc_sync(void)
{
    SPLITC_INSIDE;
    struct splitc_wait w = {.kind = SPLITC_WAIT_SYNC, .what = "sync", .whom = SPLITC_ANYBODY};

    while (far_outstanding() > 0)
        splitc_wait_step(&w);
    splitc_wait_end(&w);
    splitc_full_fence();
}

int splitc_is_sync(void)
{
    SPLITC_INSIDE;
    splitc_poll();
    return far_outstanding() == 0;
}
