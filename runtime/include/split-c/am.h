/* SPDX-License-Identifier: BSD-3-Clause
 *
 * am.h - active messages of a program's own: Generic Active Messages 1.1 with
 * functions as handlers.
 *
 *   words    void f(int source, am_word w0, ...)            as many as were sent
 *   _df      void f(int source, am_word w0, ..., double d)
 *   a block  void f(int source, void *address, splitc_size n, am_word arg)
 *   medium   void f(int source, void *address, splitc_size n, am_word w0, ...)
 *
 * Words may be any integers or pointers.  Functions of old style, without a prototype, may have
 * fewer parameters than are sent.  A handler is a function whose name a Split-C file that includes
 * this header uses other than to call it: splitcc registers those.  C files register theirs in
 * constructors, by splitc_register_handlers.  Handlers run, wherever that is defined, whenever the
 * program waits or polls.  They run to their end: they neither wait nor use what other processors
 * own.  A handler that was requested may reply once, to its source; one that was replied to sends
 * nothing.  What cannot be done ends the job; the calls return 0.
 */
#ifndef SPLITC_AM_H
#define SPLITC_AM_H

#include <split-c/abi.h>

#pragma GCC system_header /* am_handler has no prototype, and means it */

#ifdef __cplusplus
extern "C" {
#endif

typedef splitc_size am_word;
typedef void (*am_handler)(); /* of any of the kinds above */

#define SPLITC_AM(name) __asm__("splitc_am_" #name)

/* Active messages are there from the beginning to the end; these are for programs that ask.
 * am_enable takes any arguments, as am_enable(n, argc, argv) of old did; how many processors there
 * are, the launcher has decided, whatever n is. */
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ > 202000L)
extern int am_enable(...) SPLITC_AM(enable);
#else
extern int am_enable() SPLITC_AM(enable);
#endif
extern int am_disable(void) SPLITC_AM(disable);

/* End the job with that code, as splitc_exit does. */
extern void am_exit(int code) SPLITC_AM(exit) __attribute__((__noreturn__));

/* How many processors the job has, and which one this is.  The cluster that programs of old ask
 * for is the job. */
extern int am_procs(void) SPLITC_AM(procs);
extern int am_cluster_size(void) SPLITC_AM(procs);
extern int am_my_proc(void) SPLITC_AM(my_proc);

/* A size of transfers that programs may cut theirs to, and have buffers of: it fits into an int.
 * Stores, gets and am_reply_xfer take any. */
extern splitc_size am_max_size(void) SPLITC_AM(max_size);

/* The most bytes of a medium message. */
extern splitc_size am_max_medium(void) SPLITC_AM(max_medium);

/* Run the handlers of what has arrived; returns how many messages there were. */
extern int am_poll(void) SPLITC_AM(poll);

/* ---- requests: never from a handler ------------------------------------------ */

/* Run the handler at dest, this processor or another one, with these words.  They wait, and run
 * the handlers of what arrives, while as many requests to dest are under way as there may be. */
extern int am_request_0(int dest, am_handler h) SPLITC_AM(request_0);
extern int am_request_1(int dest, am_handler h, am_word w0) SPLITC_AM(request_1);
extern int am_request_2(int dest, am_handler h, am_word w0, am_word w1) SPLITC_AM(request_2);
extern int am_request_3(int dest, am_handler h, am_word w0, am_word w1, am_word w2)
    SPLITC_AM(request_3);
extern int am_request_4(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3)
    SPLITC_AM(request_4);

/* The same with a double behind the words. */
extern int am_request_0_df(int dest, am_handler h, double d) SPLITC_AM(request_0_df);
extern int am_request_1_df(int dest, am_handler h, am_word w0, double d) SPLITC_AM(request_1_df);
extern int am_request_2_df(int dest, am_handler h, am_word w0, am_word w1, double d)
    SPLITC_AM(request_2_df);
extern int am_request_3_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, double d)
    SPLITC_AM(request_3_df);
extern int am_request_4_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3,
                           double d) SPLITC_AM(request_4_df);

/* n bytes, at most am_max_medium(), into storage that lives as long as the handler; the source may
 * be reused at once. */
extern int am_request_medium_0(int dest, am_handler h, const void *address, splitc_size n)
    SPLITC_AM(request_medium_0);
extern int am_request_medium_1(int dest, am_handler h, const void *address, splitc_size n,
                               am_word arg) SPLITC_AM(request_medium);
extern int am_request_medium_2(int dest, am_handler h, const void *address, splitc_size n,
                               am_word w0, am_word w1) SPLITC_AM(request_medium_2);
extern int am_request_medium_3(int dest, am_handler h, const void *address, splitc_size n,
                               am_word w0, am_word w1, am_word w2) SPLITC_AM(request_medium_3);
extern int am_request_medium_4(int dest, am_handler h, const void *address, splitc_size n,
                               am_word w0, am_word w1, am_word w2, am_word w3)
    SPLITC_AM(request_medium_4);

/* ---- replies: from a request's handler, once, to its source -------------------- */

/* As the requests, but they never wait.  dest is the source of the request. */
extern int am_reply_0(int dest, am_handler h) SPLITC_AM(reply_0);
extern int am_reply_1(int dest, am_handler h, am_word w0) SPLITC_AM(reply_1);
extern int am_reply_2(int dest, am_handler h, am_word w0, am_word w1) SPLITC_AM(reply_2);
extern int am_reply_3(int dest, am_handler h, am_word w0, am_word w1, am_word w2)
    SPLITC_AM(reply_3);
extern int am_reply_4(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3)
    SPLITC_AM(reply_4);

extern int am_reply_0_df(int dest, am_handler h, double d) SPLITC_AM(reply_0_df);
extern int am_reply_1_df(int dest, am_handler h, am_word w0, double d) SPLITC_AM(reply_1_df);
extern int am_reply_2_df(int dest, am_handler h, am_word w0, am_word w1, double d)
    SPLITC_AM(reply_2_df);
extern int am_reply_3_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, double d)
    SPLITC_AM(reply_3_df);
extern int am_reply_4_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3,
                         double d) SPLITC_AM(reply_4_df);

extern int am_reply_medium_0(int dest, am_handler h, const void *address, splitc_size n)
    SPLITC_AM(reply_medium_0);
extern int am_reply_medium_1(int dest, am_handler h, const void *address, splitc_size n,
                             am_word arg) SPLITC_AM(reply_medium);
extern int am_reply_medium_2(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                             am_word w1) SPLITC_AM(reply_medium_2);
extern int am_reply_medium_3(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                             am_word w1, am_word w2) SPLITC_AM(reply_medium_3);
extern int am_reply_medium_4(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                             am_word w1, am_word w2, am_word w3) SPLITC_AM(reply_medium_4);

/* Copy n bytes from lva here to rva at the source of the request; then run the handler, of a
 * block, there, where it sends nothing.  Up to am_max_medium() bytes the source of the copy may be
 * reused at once; that of more has to stay until the handler has run, as it is fetched. */
extern int am_reply_xfer(int dest, const void *lva, void *rva, splitc_size n, am_handler h,
                         am_word arg) SPLITC_AM(reply_xfer);

/* ---- forms that count their words, of which there are 0 to 4 ---------------------- */

/* am_request(dest, handler, words...), am_reply(dest, handler, words...) */
#define am_request(...) SPLITC_AM_WORDS(__VA_ARGS__, 4, 3, 2, 1, 0, 0)(am_request_, __VA_ARGS__)
#define am_reply(...) SPLITC_AM_WORDS(__VA_ARGS__, 4, 3, 2, 1, 0, 0)(am_reply_, __VA_ARGS__)

/* am_request_df(dest, handler, words..., d), am_reply_df(dest, handler, words..., d) */
#define am_request_df(...) SPLITC_AM_REAL(__VA_ARGS__, 4, 3, 2, 1, 0, 0)(am_request_, __VA_ARGS__)
#define am_reply_df(...) SPLITC_AM_REAL(__VA_ARGS__, 4, 3, 2, 1, 0, 0)(am_reply_, __VA_ARGS__)

/* am_request_medium(dest, handler, address, n, words...), am_reply_medium(dest, ...) */
#define am_request_medium(...)                                                                     \
    SPLITC_AM_BLOCK(__VA_ARGS__, 4, 3, 2, 1, 0, 0)(am_request_medium_, __VA_ARGS__)
#define am_reply_medium(...)                                                                       \
    SPLITC_AM_BLOCK(__VA_ARGS__, 4, 3, 2, 1, 0, 0)(am_reply_medium_, __VA_ARGS__)

/* The number behind as many arguments as there are chooses the form, which takes pointers for
 * words as well. */
#define SPLITC_AM_WORDS(dest, h, a, b, c, d, count, ...) SPLITC_AM_WORDS_##count
#define SPLITC_AM_REAL(dest, h, a, b, c, d, real, count, ...) SPLITC_AM_REAL_##count
#define SPLITC_AM_BLOCK(dest, h, at, n, a, b, c, d, count, ...) SPLITC_AM_BLOCK_##count
#define SPLITC_AM_WORDS_0(call, dest, h) call##0(dest, h)
#define SPLITC_AM_WORDS_1(call, dest, h, a) call##1(dest, h, (am_word)(a))
#define SPLITC_AM_WORDS_2(call, dest, h, a, b) call##2(dest, h, (am_word)(a), (am_word)(b))
#define SPLITC_AM_WORDS_3(call, dest, h, a, b, c)                                                  \
    call##3(dest, h, (am_word)(a), (am_word)(b), (am_word)(c))
#define SPLITC_AM_WORDS_4(call, dest, h, a, b, c, d)                                               \
    call##4(dest, h, (am_word)(a), (am_word)(b), (am_word)(c), (am_word)(d))
#define SPLITC_AM_REAL_0(call, dest, h, real) call##0##_df(dest, h, real)
#define SPLITC_AM_REAL_1(call, dest, h, a, real) call##1##_df(dest, h, (am_word)(a), real)
#define SPLITC_AM_REAL_2(call, dest, h, a, b, real)                                                \
    call##2##_df(dest, h, (am_word)(a), (am_word)(b), real)
#define SPLITC_AM_REAL_3(call, dest, h, a, b, c, real)                                             \
    call##3##_df(dest, h, (am_word)(a), (am_word)(b), (am_word)(c), real)
#define SPLITC_AM_REAL_4(call, dest, h, a, b, c, d, real)                                          \
    call##4##_df(dest, h, (am_word)(a), (am_word)(b), (am_word)(c), (am_word)(d), real)
#define SPLITC_AM_BLOCK_0(call, dest, h, at, n) call##0(dest, h, at, n)
#define SPLITC_AM_BLOCK_1(call, dest, h, at, n, a) call##1(dest, h, at, n, (am_word)(a))
#define SPLITC_AM_BLOCK_2(call, dest, h, at, n, a, b)                                              \
    call##2(dest, h, at, n, (am_word)(a), (am_word)(b))
#define SPLITC_AM_BLOCK_3(call, dest, h, at, n, a, b, c)                                           \
    call##3(dest, h, at, n, (am_word)(a), (am_word)(b), (am_word)(c))
#define SPLITC_AM_BLOCK_4(call, dest, h, at, n, a, b, c, d)                                        \
    call##4(dest, h, at, n, (am_word)(a), (am_word)(b), (am_word)(c), (am_word)(d))

/* ---- transfers of any size; a handler of 0 is none -------------------------------- */

/* Copy n bytes from lva here to rva at dest; then run the handler there.  Returns
 * when the source may be reused. */
extern int am_store(int dest, const void *lva, void *rva, splitc_size n, am_handler h, am_word arg)
    SPLITC_AM(store);

/* The same, but returns at once; endfunc(endarg), if not 0, runs here when the source may
 * be reused, like a handler. */
extern int am_store_async(int dest, const void *lva, void *rva, splitc_size n, am_handler h,
                          am_word arg, void (*endfunc)(void *endarg), void *endarg)
    SPLITC_AM(store_async);

/* Copy n bytes from rva at dest to lva here; then run the handler here.  Returns at
 * once. */
extern int am_get(int dest, const void *rva, void *lva, splitc_size n, am_handler h, am_word arg)
    SPLITC_AM(get);

/* ---- what splitcc emits ------------------------------------------------------------- */

union splitc_argument {
    am_word word;
    double real;
};

/* A handler: `run` calls it with its arguments behind the source. */
struct splitc_handler {
    void (*function)(void);
    void (*run)(int source, const union splitc_argument *argument);
    const char *name;
    int arguments; /* how many; at most 4 words and a double, or 4 words behind a block; or -1 - n:
                    * n at least, and what else comes is dropped, as by functions of old style */
    int real;      /* SPLITC_HANDLER_...; 0: words, or words behind a block */
};

enum {
    SPLITC_HANDLER_REAL = 1,      /* the last argument is a double */
    SPLITC_HANDLER_WORDS = 2,     /* old style: words alone, whatever comes behind them */
    SPLITC_HANDLER_ELSEWHERE = 4, /* what another file says of the function goes before this */
};

/* Called from constructors, so that handlers have the same indices in every copy of the
 * program. */
void splitc_register_handlers(const struct splitc_handler *handler, int count);

#ifdef __cplusplus
}
#endif
#endif
