/* SPDX-License-Identifier: BSD-3-Clause
 *
 * am.c - the classic names over one instance.
 *
 * A double travels as the eight bytes of a medium message beside up to four
 * words, which together still fit into one descriptor.
 */
#include <errno.h>
#include <gam/am.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct gam *g;
    uint64_t mismatches;
    enum am_shape shape[GAM_HANDLERS]; /* 0: not registered */
    am_function fn[GAM_HANDLERS];
    int source; /* of the message being handled */
} am;

/* ---- handlers -------------------------------------------------------------- */

static void call_words(am_function fn, int source, uint32_t words, const am_word w[])
{
    typedef am_word W;

    switch (words) {
    case 0:
        ((void (*)(int))fn)(source);
        break;
    case 1:
        ((void (*)(int, W))fn)(source, w[0]);
        break;
    case 2:
        ((void (*)(int, W, W))fn)(source, w[0], w[1]);
        break;
    case 3:
        ((void (*)(int, W, W, W))fn)(source, w[0], w[1], w[2]);
        break;
    case 4:
        ((void (*)(int, W, W, W, W))fn)(source, w[0], w[1], w[2], w[3]);
        break;
    }
}

static void call_df(am_function fn, int source, uint32_t words, const am_word w[], double d)
{
    typedef am_word W;

    switch (words) {
    case 0:
        ((void (*)(int, double))fn)(source, d);
        break;
    case 1:
        ((void (*)(int, W, double))fn)(source, w[0], d);
        break;
    case 2:
        ((void (*)(int, W, W, double))fn)(source, w[0], w[1], d);
        break;
    case 3:
        ((void (*)(int, W, W, W, double))fn)(source, w[0], w[1], w[2], d);
        break;
    case 4:
        ((void (*)(int, W, W, W, W, double))fn)(source, w[0], w[1], w[2], w[3], d);
        break;
    }
}

/* What every registered index runs in the instance's table. */
static void dispatch(struct gam *g, const struct gam_message *m)
{
    const am_function fn = am.fn[m->handler];
    const enum am_shape shape = am.shape[m->handler];
    const int source = (int)m->source;

    am.source = source;
    if (g == am.g && shape == AM_WORDS && !m->data) {
        call_words(fn, source, m->words, m->word);
    } else if (g == am.g && shape == AM_DF && m->data && m->length == sizeof(double)) {
        double d;

        memcpy(&d, m->data, sizeof(d));
        call_df(fn, source, m->words, m->word, d);
    } else if (g == am.g && shape == AM_BLOCK && (m->data || m->words == 1)) {
        ((void (*)(int, void *, size_t, am_word))fn)(source, m->data, m->length, m->word[0]);
    } else {
        am.mismatches++;
    }
}

int am_register(am_handler index, enum am_shape shape, am_function fn)
{
    int rc;

    if (!am.g)
        return -ENOTCONN;
    if (index == 0 || index >= GAM_HANDLERS || !fn || shape < AM_WORDS || shape > AM_BLOCK)
        return -EINVAL;
    if (am.fn[index] && (am.fn[index] != fn || am.shape[index] != shape))
        return -EEXIST;
    rc = gam_register(am.g, index, dispatch);
    if (rc)
        return rc;
    am.fn[index] = fn;
    am.shape[index] = shape;
    return 0;
}

/* ---- the instance ----------------------------------------------------------- */

int am_enable(struct gam *g)
{
    if (!g)
        return -EINVAL;
    if (am.g)
        return -EBUSY;
    am.g = g;
    return 0;
}

void am_disable(void)
{
    memset(&am, 0, sizeof(am));
}

void am_exit(int code)
{
    am_disable();
    exit(code);
}

int am_procs(void)
{
    return am.g ? (int)gam_ranks(am.g) : 0;
}

int am_my_proc(void)
{
    return am.g ? (int)gam_rank(am.g) : -1;
}

size_t am_max_size(void)
{
    return PTRDIFF_MAX;
}

size_t am_max_medium(void)
{
    return GAM_MEDIUM_MAX;
}

uint64_t am_mismatches(void)
{
    return am.mismatches;
}

int am_poll(void)
{
    return am.g ? gam_poll(am.g) : -ENOTCONN;
}

/* ---- requests ---------------------------------------------------------------- */

static int request(int dest, am_handler handler, uint32_t words, const am_word word[])
{
    return am.g ? gam_request(am.g, (uint32_t)dest, handler, words, word) : -ENOTCONN;
}

static int request_df(int dest, am_handler handler, uint32_t words, const am_word word[], double d)
{
    if (!am.g)
        return -ENOTCONN;
    return gam_request_medium(am.g, (uint32_t)dest, handler, &d, sizeof(d), words, word);
}

int am_request_0(int dest, am_handler handler)
{
    return request(dest, handler, 0, NULL);
}

int am_request_1(int dest, am_handler handler, am_word w0)
{
    return request(dest, handler, 1, &w0);
}

int am_request_2(int dest, am_handler handler, am_word w0, am_word w1)
{
    return request(dest, handler, 2, (am_word[]){w0, w1});
}

int am_request_3(int dest, am_handler handler, am_word w0, am_word w1, am_word w2)
{
    return request(dest, handler, 3, (am_word[]){w0, w1, w2});
}

int am_request_4(int dest, am_handler handler, am_word w0, am_word w1, am_word w2, am_word w3)
{
    return request(dest, handler, 4, (am_word[]){w0, w1, w2, w3});
}

int am_request_0_df(int dest, am_handler handler, double d)
{
    return request_df(dest, handler, 0, NULL, d);
}

int am_request_1_df(int dest, am_handler handler, am_word w0, double d)
{
    return request_df(dest, handler, 1, &w0, d);
}

int am_request_2_df(int dest, am_handler handler, am_word w0, am_word w1, double d)
{
    return request_df(dest, handler, 2, (am_word[]){w0, w1}, d);
}

int am_request_3_df(int dest, am_handler handler, am_word w0, am_word w1, am_word w2, double d)
{
    return request_df(dest, handler, 3, (am_word[]){w0, w1, w2}, d);
}

int am_request_4_df(int dest, am_handler handler, am_word w0, am_word w1, am_word w2, am_word w3,
                    double d)
{
    return request_df(dest, handler, 4, (am_word[]){w0, w1, w2, w3}, d);
}

int am_request_medium(int dest, am_handler handler, const void *address, size_t n, am_word arg)
{
    if (!am.g)
        return -ENOTCONN;
    return gam_request_medium(am.g, (uint32_t)dest, handler, address, n, 1, &arg);
}

/* ---- replies ------------------------------------------------------------------ */

/* A reply goes to the source of its request, wherever it says it should. */
static int reply_error(int dest)
{
    if (!am.g)
        return -ENOTCONN;
    return dest == am.source ? 0 : -EINVAL;
}

static int reply(int dest, am_handler handler, uint32_t words, const am_word word[])
{
    int rc = reply_error(dest);

    return rc ? rc : gam_reply(am.g, handler, words, word);
}

static int reply_df(int dest, am_handler handler, uint32_t words, const am_word word[], double d)
{
    int rc = reply_error(dest);

    return rc ? rc : gam_reply_medium(am.g, handler, &d, sizeof(d), words, word);
}

int am_reply_0(int dest, am_handler handler)
{
    return reply(dest, handler, 0, NULL);
}

int am_reply_1(int dest, am_handler handler, am_word w0)
{
    return reply(dest, handler, 1, &w0);
}

int am_reply_2(int dest, am_handler handler, am_word w0, am_word w1)
{
    return reply(dest, handler, 2, (am_word[]){w0, w1});
}

int am_reply_3(int dest, am_handler handler, am_word w0, am_word w1, am_word w2)
{
    return reply(dest, handler, 3, (am_word[]){w0, w1, w2});
}

int am_reply_4(int dest, am_handler handler, am_word w0, am_word w1, am_word w2, am_word w3)
{
    return reply(dest, handler, 4, (am_word[]){w0, w1, w2, w3});
}

int am_reply_0_df(int dest, am_handler handler, double d)
{
    return reply_df(dest, handler, 0, NULL, d);
}

int am_reply_1_df(int dest, am_handler handler, am_word w0, double d)
{
    return reply_df(dest, handler, 1, &w0, d);
}

int am_reply_2_df(int dest, am_handler handler, am_word w0, am_word w1, double d)
{
    return reply_df(dest, handler, 2, (am_word[]){w0, w1}, d);
}

int am_reply_3_df(int dest, am_handler handler, am_word w0, am_word w1, am_word w2, double d)
{
    return reply_df(dest, handler, 3, (am_word[]){w0, w1, w2}, d);
}

int am_reply_4_df(int dest, am_handler handler, am_word w0, am_word w1, am_word w2, am_word w3,
                  double d)
{
    return reply_df(dest, handler, 4, (am_word[]){w0, w1, w2, w3}, d);
}

int am_reply_medium(int dest, am_handler handler, const void *address, size_t n, am_word arg)
{
    int rc = reply_error(dest);

    return rc ? rc : gam_reply_medium(am.g, handler, address, n, 1, &arg);
}

/* ---- transfers ------------------------------------------------------------------ */

int am_store(int dest, const void *lva, void *rva, size_t n, am_handler handler, am_word arg)
{
    return am.g ? gam_store(am.g, (uint32_t)dest, lva, rva, n, handler, arg) : -ENOTCONN;
}

int am_store_async(int dest, const void *lva, void *rva, size_t n, am_handler handler, am_word arg,
                   void (*endfunc)(void *endarg), void *endarg)
{
    if (!am.g)
        return -ENOTCONN;
    return gam_store_async(am.g, (uint32_t)dest, lva, rva, n, handler, arg, endfunc, endarg);
}

int am_get(int dest, const void *rva, void *lva, size_t n, am_handler handler, am_word arg)
{
    return am.g ? gam_get(am.g, (uint32_t)dest, rva, lva, n, handler, arg) : -ENOTCONN;
}
