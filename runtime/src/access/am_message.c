/* SPDX-License-Identifier: BSD-3-Clause
 *
 * am_message.c - requests and replies of split-c/am.h.
 *
 * A double travels as the bytes of a medium message.
 */
#include "am_table.h"
#include "library.h"

#define MAX_SIZE (1ul << 20) /* the size that programs are told to cut transfers to */

/* ---- the job -------------------------------------------------------------------------- */

int am_enable(void); /* whatever arguments it is given */

int am_enable(void)
{
    return 0;
}

int am_disable(void)
{
    return 0;
}

void am_exit(int code)
{
    splitc_exit(code);
}

int am_procs(void)
{
    return splitc_job.procs;
}

int am_my_proc(void)
{
    return splitc_job.myproc;
}

splitc_size am_max_size(void)
{
    return MAX_SIZE;
}

splitc_size am_max_medium(void)
{
    return GAM_MEDIUM_MAX;
}

int am_poll(void)
{
    return splitc_poll_once();
}

/* ---- sending ---------------------------------------------------------------------- */

/* Small requests go straight to GAM, unless another thread runs handlers or messages are
 * observed. */
static inline bool am_is_guarded(void)
{
    return __builtin_expect(splitc_runtime.threaded, 0) || splitc_event_wanted(SPLITC_EVENT_SENT);
}

static __attribute__((cold, noinline)) int
am_request_guarded(const char *call, int dest, am_handler h, uint32_t words, const am_word word[])
{
    SPLITC_INSIDE;
    const uint32_t rank = splitc_am_target(dest, call), index = splitc_am_index(h, call);

    splitc_am_tell(SPLITC_EVENT_SENT, rank, index, call);
    return splitc_am_sent(rank, gam_request(splitc_runtime.gam, rank, index, words, word), call);
}

static int am_send_medium(const char *call, int dest, am_handler h, const void *data, size_t n,
                          uint32_t words, const am_word word[])
{
    SPLITC_INSIDE;
    const uint32_t rank = splitc_am_target(dest, call), index = splitc_am_index(h, call);

    splitc_am_tell(SPLITC_EVENT_SENT, rank, index, call);
    return splitc_am_sent(
        rank, gam_request_medium(splitc_runtime.gam, rank, index, data, n, words, word), call);
}

static int am_answer_medium(const char *call, int dest, am_handler h, const void *data, size_t n,
                            uint32_t words, const am_word word[])
{
    const uint32_t index = splitc_am_answering(dest, h, call);

    return splitc_am_replied(gam_reply_medium(splitc_runtime.gam, index, data, n, words, word),
                             call);
}

/* ---- requests ------------------------------------------------------------------------ */

int am_request_0(int dest, am_handler h)
{
    static const char call[] = "am_request_0";
    uint32_t rank;

    if (am_is_guarded())
        return am_request_guarded(call, dest, h, 0, NULL);
    rank = splitc_am_target(dest, call);
    splitc_sent(rank, gam_request_0(splitc_runtime.gam, rank, splitc_am_index(h, call)));
    return 0;
}

int am_request_1(int dest, am_handler h, am_word w0)
{
    static const char call[] = "am_request_1";
    uint32_t rank;

    if (am_is_guarded())
        return am_request_guarded(call, dest, h, 1, &w0);
    rank = splitc_am_target(dest, call);
    splitc_sent(rank, gam_request_1(splitc_runtime.gam, rank, splitc_am_index(h, call), w0));
    return 0;
}

int am_request_2(int dest, am_handler h, am_word w0, am_word w1)
{
    static const char call[] = "am_request_2";
    uint32_t rank;

    if (am_is_guarded())
        return am_request_guarded(call, dest, h, 2, (am_word[]){w0, w1});
    rank = splitc_am_target(dest, call);
    splitc_sent(rank, gam_request_2(splitc_runtime.gam, rank, splitc_am_index(h, call), w0, w1));
    return 0;
}

int am_request_3(int dest, am_handler h, am_word w0, am_word w1, am_word w2)
{
    static const char call[] = "am_request_3";
    uint32_t rank;

    if (am_is_guarded())
        return am_request_guarded(call, dest, h, 3, (am_word[]){w0, w1, w2});
    rank = splitc_am_target(dest, call);
    splitc_sent(rank,
                gam_request_3(splitc_runtime.gam, rank, splitc_am_index(h, call), w0, w1, w2));
    return 0;
}

int am_request_4(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3)
{
    static const char call[] = "am_request_4";
    uint32_t rank;

    if (am_is_guarded())
        return am_request_guarded(call, dest, h, 4, (am_word[]){w0, w1, w2, w3});
    rank = splitc_am_target(dest, call);
    splitc_sent(rank,
                gam_request_4(splitc_runtime.gam, rank, splitc_am_index(h, call), w0, w1, w2, w3));
    return 0;
}

int am_request_0_df(int dest, am_handler h, double d)
{
    return am_send_medium("am_request_0_df", dest, h, &d, sizeof d, 0, NULL);
}

int am_request_1_df(int dest, am_handler h, am_word w0, double d)
{
    return am_send_medium("am_request_1_df", dest, h, &d, sizeof d, 1, &w0);
}

int am_request_2_df(int dest, am_handler h, am_word w0, am_word w1, double d)
{
    return am_send_medium("am_request_2_df", dest, h, &d, sizeof d, 2, (am_word[]){w0, w1});
}

int am_request_3_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, double d)
{
    return am_send_medium("am_request_3_df", dest, h, &d, sizeof d, 3, (am_word[]){w0, w1, w2});
}

int am_request_4_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3,
                    double d)
{
    return am_send_medium("am_request_4_df", dest, h, &d, sizeof d, 4, (am_word[]){w0, w1, w2, w3});
}

int am_request_medium_0(int dest, am_handler h, const void *address, splitc_size n)
{
    return am_send_medium("am_request_medium", dest, h, address, n, 0, NULL);
}

int am_request_medium_1(int dest, am_handler h, const void *address, splitc_size n, am_word arg)
{
    return am_send_medium("am_request_medium", dest, h, address, n, 1, &arg);
}

int am_request_medium_2(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                        am_word w1)
{
    return am_send_medium("am_request_medium", dest, h, address, n, 2, (am_word[]){w0, w1});
}

int am_request_medium_3(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                        am_word w1, am_word w2)
{
    return am_send_medium("am_request_medium", dest, h, address, n, 3, (am_word[]){w0, w1, w2});
}

int am_request_medium_4(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                        am_word w1, am_word w2, am_word w3)
{
    return am_send_medium("am_request_medium", dest, h, address, n, 4, (am_word[]){w0, w1, w2, w3});
}

/* ---- replies -------------------------------------------------------------------------- */

int am_reply_0(int dest, am_handler h)
{
    uint32_t index = splitc_am_answering(dest, h, "am_reply_0");

    return splitc_am_replied(gam_reply_0(splitc_runtime.gam, index), "am_reply_0");
}

int am_reply_1(int dest, am_handler h, am_word w0)
{
    uint32_t index = splitc_am_answering(dest, h, "am_reply_1");

    return splitc_am_replied(gam_reply_1(splitc_runtime.gam, index, w0), "am_reply_1");
}

int am_reply_2(int dest, am_handler h, am_word w0, am_word w1)
{
    uint32_t index = splitc_am_answering(dest, h, "am_reply_2");

    return splitc_am_replied(gam_reply_2(splitc_runtime.gam, index, w0, w1), "am_reply_2");
}

int am_reply_3(int dest, am_handler h, am_word w0, am_word w1, am_word w2)
{
    uint32_t index = splitc_am_answering(dest, h, "am_reply_3");

    return splitc_am_replied(gam_reply_3(splitc_runtime.gam, index, w0, w1, w2), "am_reply_3");
}

int am_reply_4(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3)
{
    uint32_t index = splitc_am_answering(dest, h, "am_reply_4");

    return splitc_am_replied(gam_reply_4(splitc_runtime.gam, index, w0, w1, w2, w3), "am_reply_4");
}

int am_reply_0_df(int dest, am_handler h, double d)
{
    return am_answer_medium("am_reply_0_df", dest, h, &d, sizeof d, 0, NULL);
}

int am_reply_1_df(int dest, am_handler h, am_word w0, double d)
{
    return am_answer_medium("am_reply_1_df", dest, h, &d, sizeof d, 1, &w0);
}

int am_reply_2_df(int dest, am_handler h, am_word w0, am_word w1, double d)
{
    return am_answer_medium("am_reply_2_df", dest, h, &d, sizeof d, 2, (am_word[]){w0, w1});
}

int am_reply_3_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, double d)
{
    return am_answer_medium("am_reply_3_df", dest, h, &d, sizeof d, 3, (am_word[]){w0, w1, w2});
}

int am_reply_4_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3, double d)
{
    return am_answer_medium("am_reply_4_df", dest, h, &d, sizeof d, 4, (am_word[]){w0, w1, w2, w3});
}

int am_reply_medium_0(int dest, am_handler h, const void *address, splitc_size n)
{
    return am_answer_medium("am_reply_medium", dest, h, address, n, 0, NULL);
}

int am_reply_medium_1(int dest, am_handler h, const void *address, splitc_size n, am_word arg)
{
    return am_answer_medium("am_reply_medium", dest, h, address, n, 1, &arg);
}

int am_reply_medium_2(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                      am_word w1)
{
    return am_answer_medium("am_reply_medium", dest, h, address, n, 2, (am_word[]){w0, w1});
}

int am_reply_medium_3(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                      am_word w1, am_word w2)
{
    return am_answer_medium("am_reply_medium", dest, h, address, n, 3, (am_word[]){w0, w1, w2});
}

int am_reply_medium_4(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                      am_word w1, am_word w2, am_word w3)
{
    return am_answer_medium("am_reply_medium", dest, h, address, n, 4, (am_word[]){w0, w1, w2, w3});
}
