/* SPDX-License-Identifier: BSD-3-Clause
 *
 * am.h - the classic names of Generic Active Messages 1.1.
 *
 * One instance per process, bound by am_enable.  The calls are those of
 * <gam/gam.h> and keep its rules; they differ in how handlers look:
 *
 *   words   void f(int source, am_word w0, ...)            as many as were sent
 *   df      void f(int source, am_word w0, ..., double d)
 *   block   void f(int source, void *address, size_t n, am_word arg)
 *
 * A handler has an index, by which the other ranks name it; am_register says which
 * function it is and which of these shapes it has.  A message whose shape
 * is not that of its handler is dropped and counted by am_mismatches.
 *
 * Calls return 0, or -errno as their gam_* counterparts do; -ENOTCONN when no
 * instance is bound.
 */
#ifndef AM_H
#define AM_H

#include <gam/gam.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t am_handler; /* 1 .. GAM_HANDLERS - 1; 0 means none where allowed */
typedef uint64_t am_word;

enum am_shape {
    AM_WORDS = 1,
    AM_DF = 2,
    AM_BLOCK = 3, /* stores, gets and medium messages */
};

/* Any function pointer; cast the handler to it. */
typedef void (*am_function)(void);

/* Bind this process's instance, which stays the caller's.
 * Errors: -EBUSY another one is bound, -EINVAL NULL. */
int am_enable(struct gam *g);

/* Unbind it and forget the handlers. */
void am_disable(void);

/* End the process with that exit code.  In-flight messages are given up. */
void am_exit(int code) __attribute__((noreturn));

/* Errors: -EINVAL, -EEXIST the index is taken by another function. */
int am_register(am_handler index, enum am_shape shape, am_function fn);

int am_procs(void);   /* how many ranks; 0 when none is bound */
int am_my_proc(void); /* which one is this; -1 when none is bound */

/* The most bytes of a store or get: no limit but the address space. */
size_t am_max_size(void);
/* The most bytes of a medium message. */
size_t am_max_medium(void);

/* Messages dropped because their handler has another shape. */
uint64_t am_mismatches(void);

/* Run the handlers of what has arrived; returns how many messages there were. */
int am_poll(void);

/* ---- requests: may poll, never from a handler -------------------------- */

int am_request_0(int dest, am_handler handler);
int am_request_1(int dest, am_handler handler, am_word w0);
int am_request_2(int dest, am_handler handler, am_word w0, am_word w1);
int am_request_3(int dest, am_handler handler, am_word w0, am_word w1, am_word w2);
int am_request_4(int dest, am_handler handler, am_word w0, am_word w1, am_word w2, am_word w3);

int am_request_0_df(int dest, am_handler handler, double d);
int am_request_1_df(int dest, am_handler handler, am_word w0, double d);
int am_request_2_df(int dest, am_handler handler, am_word w0, am_word w1, double d);
int am_request_3_df(int dest, am_handler handler, am_word w0, am_word w1, am_word w2, double d);
int am_request_4_df(int dest, am_handler handler, am_word w0, am_word w1, am_word w2, am_word w3,
                    double d);

/* n bytes, at most am_max_medium(), into storage that lives as long as the handler. */
int am_request_medium(int dest, am_handler handler, const void *address, size_t n, am_word arg);

/* ---- replies: from a request's handler, once, to its source ------------ */

/* `dest` has to be the handler's source; anything else is -EINVAL. */
int am_reply_0(int dest, am_handler handler);
int am_reply_1(int dest, am_handler handler, am_word w0);
int am_reply_2(int dest, am_handler handler, am_word w0, am_word w1);
int am_reply_3(int dest, am_handler handler, am_word w0, am_word w1, am_word w2);
int am_reply_4(int dest, am_handler handler, am_word w0, am_word w1, am_word w2, am_word w3);

int am_reply_0_df(int dest, am_handler handler, double d);
int am_reply_1_df(int dest, am_handler handler, am_word w0, double d);
int am_reply_2_df(int dest, am_handler handler, am_word w0, am_word w1, double d);
int am_reply_3_df(int dest, am_handler handler, am_word w0, am_word w1, am_word w2, double d);
int am_reply_4_df(int dest, am_handler handler, am_word w0, am_word w1, am_word w2, am_word w3,
                  double d);

int am_reply_medium(int dest, am_handler handler, const void *address, size_t n, am_word arg);

/* ---- transfers of any size --------------------------------------------- */

/* Returns when the source may be reused; `handler` runs at dest when all bytes are
 * in place. */
int am_store(int dest, const void *lva, void *rva, size_t n, am_handler handler, am_word arg);

/* Returns at once; endfunc(endarg) runs here when the source may be reused. */
int am_store_async(int dest, const void *lva, void *rva, size_t n, am_handler handler, am_word arg,
                   void (*endfunc)(void *endarg), void *endarg);

/* Returns at once; `handler` runs here when all bytes are in `lva`. */
int am_get(int dest, const void *rva, void *lva, size_t n, am_handler handler, am_word arg);

#ifdef __cplusplus
}
#endif
#endif
