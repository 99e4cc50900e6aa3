/* SPDX-License-Identifier: BSD-3-Clause
 *
 * split-c.h - the library of Split-C programs.
 *
 * Only splitcc can parse it: `T *global` is a global pointer, `T *spread` a spread
 * one.  In C++ there are classes for them instead: see split-c.hpp.  Functions are bound to symbols
 * that begin with splitc_, so a program may give its own names to everything the linker sees, and
 * <unistd.h> its own meaning to sync().  "Collective" means: called by every processor, in the same
 * order.  Sizes are in bytes.  All calls serve the messages of other processors while they wait.
 */
#ifndef SPLITC_SPLIT_C_H
#define SPLITC_SPLIT_C_H

#if !defined __SPLITC__ && !defined __cplusplus
#error "this is a Split-C program: name its file .sc, or compile it with splitcc -x splitc"
#else

#include <split-c/abi.h>
#include <split-c/reductions.h>

/* ---- processors ------------------------------------------------------------- */

#define PROCS (splitc_job.procs)
#define MYPROC (splitc_job.myproc)
#define PROCSLOG (splitc_job.procslog) /* negative when PROCS is no power of two */

/* Statements for one processor. */
#define on_one if (MYPROC == 0)
#define on_proc(n) if (MYPROC == (n))

/* Loops over the elements of A[n]:: and A[n][m]:: that live here. */
#define for_my_1d(i, n) for ((i) = MYPROC; (i) < (n); (i) += PROCS)
#define for_my_2d(i, j, n, m)                                                                      \
    for ((i) = (m) > 0 ? MYPROC / (m) : (n), (j) = (m) > 0 ? MYPROC % (m) : 0; (i) < (n);          \
         (j) += PROCS, (i) += (j) / (m), (j) %= (m))

#ifdef __cplusplus
#include <split-c/split-c.hpp>
#else

#ifndef NULL /* programs that include nothing else have it, too */
#define NULL ((void *)0)
#endif

/* Run the handlers of messages that have arrived. */
extern void splitc_poll(void);

/* End this processor; the others go on after a code of 0, else the job ends. */
extern void splitc_exit(int code) __asm__("splitc_exit") __attribute__((__noreturn__));

/* Wall-clock time from some fixed moment. */
extern double get_seconds(void) __asm__("splitc_get_seconds");

/* ---- global pointers ---------------------------------------------------------- */

/* Make one of a processor and a local address. */
#define toglobal(proc, address) ((__typeof__(*(address)) *global)splitc_make((proc), (address)))
#define tospread(proc, address) ((__typeof__(*(address)) *spread)splitc_make((proc), (address)))

/* Take one apart.  splitcc types the calls: tolocal gives a pointer to what its argument points
 * to, and both take spread arrays and pointers, too.  A local pointer's processor is MYPROC. */
extern void *tolocal(const volatile void *global pointer) __asm__("splitc_tolocal");
extern int toproc(const volatile void *global pointer) __asm__("splitc_toproc");

/* ---- completion ------------------------------------------------------------------ */

/* Collective: wait for all.  Completes neither stores nor split-phase accesses. */
extern void barrier(void) __asm__("splitc_barrier");

/* Complete this processor's gets and puts; ask whether that would not wait. */
extern void sync(void) __asm__("splitc_sync");
extern int is_sync(void) __asm__("splitc_is_sync");

/* Wait until `bytes` more have been stored here, and take them off the count;
 * ask whether that would not wait; forget what has been stored here so far. */
extern void store_sync(long bytes) __asm__("splitc_store_sync");
extern int is_store_sync(long bytes) __asm__("splitc_is_store_sync");
extern void reset_store_sync(void) __asm__("splitc_reset_store_sync");

/* Collective: every store of every processor is in place, all counts are 0. */
extern void all_store_sync(void) __asm__("splitc_all_store_sync");

/* ---- spread storage ---------------------------------------------------------------- */

/* Collective: `count` blocks, block L on processor L % PROCS, at the same address
 * everywhere.  Never NULL: exhaustion ends the job. */
extern void *spread all_spread_malloc(long count, long bytes) __asm__("splitc_all_spread_malloc");

/* Collective: waits for all, then frees. */
extern void all_spread_free(void *spread base) __asm__("splitc_all_spread_free");

/* ---- bulk accesses --------------------------------------------------------------------- */

/* Blocking: complete when they return. */
extern void bulk_read(void *to, const void *global from, long bytes) __asm__("splitc_bulk_read");
extern void bulk_write(void *global to, const void *from, long bytes) __asm__("splitc_bulk_write");

/* Split-phase: complete at sync(); the memory is the transfer's until then. */
extern void bulk_get(void *to, const void *global from, long bytes) __asm__("splitc_bulk_get");
extern void bulk_put(void *global to, const void *from, long bytes) __asm__("splitc_bulk_put");

/* Signalling store: the source may be reused when it returns. */
extern void bulk_store(void *global to, const void *from, long bytes) __asm__("splitc_bulk_store");

/* ---- collective operations -------------------------------------------------------------- */

/* All collective.  add, max and min are for int; the same with a letter in front for others:
 * l long, u unsigned, ul unsigned long, f float, d double (reductions.h lists them).
 *
 *   all_reduce_to_all_dadd   the combination of all values, in the order of processors, everywhere
 *   all_reduce_to_one_dadd   the same on processor 0, and 0 elsewhere
 *   all_scan_dadd            on processor p that of the values of 0..p
 *
 * Integers wrap; floats combine as doubles, and are rounded once. */
#define SPLITC_DECLARE_REDUCTIONS(name, type, how)                                                 \
    extern type all_reduce_to_all_##name(type value) __asm__("splitc_all_reduce_to_all_" #name);   \
    extern type all_reduce_to_one_##name(type value) __asm__("splitc_all_reduce_to_one_" #name);   \
    extern type all_scan_##name(type value) __asm__("splitc_all_scan_" #name);
SPLITC_REDUCTIONS(SPLITC_DECLARE_REDUCTIONS)

/* Processor 0's value, everywhere: all_bcast_i, all_bcast_l and so on. */
#define SPLITC_DECLARE_BROADCAST(letter, type)                                                     \
    extern type all_bcast_##letter(type value) __asm__("splitc_all_bcast_" #letter);
SPLITC_VALUES(SPLITC_DECLARE_BROADCAST)
extern int all_bcast(int value) __asm__("splitc_all_bcast_i");

/* ---- atomic operations --------------------------------------------------------------------- */

/* In one step at the owner; they return the old value.  Objects are aligned to
 * their size. */
extern int fetch_add(int *global object, int value) __asm__("splitc_fetch_add");
extern int exchange(int *global object, int value) __asm__("splitc_exchange");
extern int cmp_and_swap(int *global object, int expected,
                        int desired) __asm__("splitc_cmp_and_swap");
extern int test_and_set(int *global object) __asm__("splitc_test_and_set");
extern long fetch_add_l(long *global object, long value) __asm__("splitc_fetch_add_l");
extern long exchange_l(long *global object, long value) __asm__("splitc_exchange_l");
extern long cmp_and_swap_l(long *global object, long expected,
                           long desired) __asm__("splitc_cmp_and_swap_l");

/* atomic(fn, object, arguments...): run fn(local address of *object, arguments...)
 * at the processor that owns the object, not interrupted by any other such call
 * there, and return what fn returns: a scalar, or nothing.  fn is the name of a
 * function, the object that of its first parameter through a global pointer; fn
 * neither waits nor uses what other processors own.  splitcc types the call. */
extern void atomic(void *fn, ...) __asm__("splitc_atomic");

/* Spin locks in any int that was 0 at first; try returns true when it has it. */
extern void splitc_lock(int *global lock) __asm__("splitc_lock");
extern int splitc_trylock(int *global lock) __asm__("splitc_trylock");
extern void splitc_unlock(int *global lock) __asm__("splitc_unlock");

#endif /* __cplusplus */
#endif /* __SPLITC__ */
#endif
