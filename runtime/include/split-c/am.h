/* SPDX-License-Identifier: BSD-3-Clause
 *
 * am.h - active messages of a program's own: Generic Active Messages 1.1 with
 * functions as handlers.
 *
 *   words    void f(int source, am_word w0, ...)            as many as were sent
 *   _df      void f(int source, am_word w0, ..., double d)
 *   a block  void f(int source, void *address, splitc_size n, am_word arg)
 *
 * Words may be any integers or pointers.  A handler is a function whose name a
 * Split-C file that includes this header uses other than to call it: splitcc
 * registers those.  Handlers run, wherever that is defined, whenever the program
 * waits or polls.  They run to their end: they neither wait nor use what other
 * processors own.  A handler that was requested may reply once, to its source;
 * one that was replied to sends nothing.  What cannot be done ends the job; the
 * calls return 0.
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

/* Active messages are there from the beginning; these are for programs that ask. */
extern int am_enable(void) SPLITC_AM(enable);
extern int am_disable(void) SPLITC_AM(disable);
extern void am_exit(int code) SPLITC_AM(exit) __attribute__((__noreturn__));

extern int am_procs(void) SPLITC_AM(procs);
extern int am_my_proc(void) SPLITC_AM(my_proc);

/* The most bytes of a store or get, and of a medium message. */
extern splitc_size am_max_size(void) SPLITC_AM(max_size);
extern splitc_size am_max_medium(void) SPLITC_AM(max_medium);

/* Run the handlers of what has arrived; returns how many messages there were. */
extern int am_poll(void) SPLITC_AM(poll);

/* ---- requests: never from a handler ------------------------------------------ */

extern int am_request_0(int dest, am_handler h) SPLITC_AM(request_0);
extern int am_request_1(int dest, am_handler h, am_word w0) SPLITC_AM(request_1);
extern int am_request_2(int dest, am_handler h, am_word w0, am_word w1) SPLITC_AM(request_2);
extern int am_request_3(int dest, am_handler h, am_word w0, am_word w1, am_word w2)
    SPLITC_AM(request_3);
extern int am_request_4(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3)
    SPLITC_AM(request_4);

extern int am_request_0_df(int dest, am_handler h, double d) SPLITC_AM(request_0_df);
extern int am_request_1_df(int dest, am_handler h, am_word w0, double d) SPLITC_AM(request_1_df);
extern int am_request_2_df(int dest, am_handler h, am_word w0, am_word w1, double d)
    SPLITC_AM(request_2_df);
extern int am_request_3_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, double d)
    SPLITC_AM(request_3_df);
extern int am_request_4_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3,
                           double d) SPLITC_AM(request_4_df);

/* n bytes, at most am_max_medium(), into storage that lives as long as the handler. */
extern int am_request_medium(int dest, am_handler h, const void *address, splitc_size n,
                             am_word arg) SPLITC_AM(request_medium);

/* ---- replies: from a request's handler, once, to its source -------------------- */

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

extern int am_reply_medium(int dest, am_handler h, const void *address, splitc_size n, am_word arg)
    SPLITC_AM(reply_medium);

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
    int arguments; /* how many; 4 words and a double at most */
    int real;      /* the last one is a double */
};

/* Called from constructors, so that handlers have the same indices in every copy of the
 * program. */
void splitc_register_handlers(const struct splitc_handler *handler, int count);

#ifdef __cplusplus
}
#endif
#endif
