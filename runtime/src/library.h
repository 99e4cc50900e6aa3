/* SPDX-License-Identifier: BSD-3-Clause
 *
 * library.h - the functions that split-c/split-c.h binds to the names a program
 * uses, as C sees them: a global or spread pointer is a splitc_ptr.  What each
 * does is told there.
 */
#ifndef SPLITC_LIBRARY_H
#define SPLITC_LIBRARY_H

#include <split-c/abi.h>
#include <split-c/operators.h>
#include <split-c/reductions.h>

#ifdef __cplusplus
extern "C" {
#endif

void splitc_poll(void);
void splitc_exit(int code) __attribute__((noreturn));
double splitc_get_seconds(void);

void splitc_sync(void);
int splitc_is_sync(void);
void splitc_store_sync(long bytes);
int splitc_is_store_sync(long bytes);
void splitc_reset_store_sync(void);
void splitc_all_store_sync(void);

splitc_ptr splitc_all_spread_malloc(long count, long bytes);
void splitc_all_spread_free(splitc_ptr base);

void splitc_bulk_read(void *to, splitc_ptr from, long bytes);
void splitc_bulk_write(splitc_ptr to, const void *from, long bytes);
void splitc_bulk_get(void *to, splitc_ptr from, long bytes);
void splitc_bulk_put(splitc_ptr to, const void *from, long bytes);
void splitc_bulk_store(splitc_ptr to, const void *from, long bytes);

/* split-c/strided.h */
void splitc_bulk_get_2d(void *to, long to_stride, splitc_ptr from, long from_stride, long bytes,
                        long rows);
void splitc_bulk_put_2d(splitc_ptr to, long to_stride, const void *from, long from_stride,
                        long bytes, long rows);
void splitc_bulk_store_2d(splitc_ptr to, long to_stride, const void *from, long from_stride,
                          long bytes, long rows);
void splitc_bulk_gather(void *to, splitc_ptr from, const long *index, long count, long bytes);
void splitc_bulk_scatter(splitc_ptr to, const long *index, const void *from, long count,
                         long bytes);

/* split-c/handle.h */
unsigned long splitc_bulk_get_h(void *to, splitc_ptr from, long bytes);
unsigned long splitc_bulk_put_h(splitc_ptr to, const void *from, long bytes);
void splitc_sync_h(unsigned long handle);
int splitc_test_h(unsigned long handle);

/* split-c/castable.h */
void *splitc_castable(splitc_ptr g);

/* split-c/team.h */
struct splitc_team;
struct splitc_team *splitc_all_split(int colour, int key);
struct splitc_team *splitc_team_split(struct splitc_team *parent, int colour, int key);
void splitc_team_free(struct splitc_team *t);
int splitc_team_rank(const struct splitc_team *t);
int splitc_team_size(const struct splitc_team *t);
int splitc_team_proc_of(const struct splitc_team *t, int member);
int splitc_team_member(const struct splitc_team *t, int proc);
void splitc_team_barrier(struct splitc_team *t);
#define SPLITC_TEAM_REDUCTIONS_OF(name, type, how)                                                 \
    type splitc_team_reduce_to_all_##name(struct splitc_team *t, type value);                      \
    type splitc_team_reduce_to_one_##name(struct splitc_team *t, type value);                      \
    type splitc_team_scan_##name(struct splitc_team *t, type value);
SPLITC_REDUCTIONS(SPLITC_TEAM_REDUCTIONS_OF)
#define SPLITC_TEAM_VALUES_OF(letter, type)                                                        \
    type splitc_team_bcast_##letter(struct splitc_team *t, type value);
SPLITC_VALUES(SPLITC_TEAM_VALUES_OF)

/* split-c/collective.h: each(name, parameters, arguments) */
typedef void splitc_operator_fn(void *acc, const void *next, long count);
/* clang-format off */
#define SPLITC_ARRAY_STEPS(each)                                                                   \
    each(broadcast, (struct splitc_team *t, void *buffer, long count, int root,                    \
                     splitc_size size), t, buffer, count, root, size)                              \
    each(reduce, (struct splitc_team *t, void *to, const void *from, long count,                   \
                  splitc_operator_fn *with, int root, splitc_size size, int type),                 \
         t, to, from, count, with, root, size, type)                                               \
    each(allreduce, (struct splitc_team *t, void *to, const void *from, long count,                \
                     splitc_operator_fn *with, splitc_size size, int type),                        \
         t, to, from, count, with, size, type)                                                     \
    each(scan, (struct splitc_team *t, void *to, const void *from, long count,                     \
                splitc_operator_fn *with, splitc_size size, int type),                             \
         t, to, from, count, with, size, type)                                                     \
    each(exscan, (struct splitc_team *t, void *to, const void *from, long count,                   \
                  splitc_operator_fn *with, splitc_size size, int type),                           \
         t, to, from, count, with, size, type)                                                     \
    each(gather, (struct splitc_team *t, void *to, const void *from, long count, int root,         \
                  splitc_size size), t, to, from, count, root, size)                               \
    each(gatherv, (struct splitc_team *t, void *to, const long *counts, const long *offsets,       \
                   const void *from, long count, int root, splitc_size size),                      \
         t, to, counts, offsets, from, count, root, size)                                          \
    each(scatter, (struct splitc_team *t, void *to, const void *from, long count, int root,        \
                   splitc_size size), t, to, from, count, root, size)                              \
    each(scatterv, (struct splitc_team *t, void *to, long count, const void *from,                 \
                    const long *counts, const long *offsets, int root, splitc_size size),          \
         t, to, count, from, counts, offsets, root, size)                                          \
    each(allgatherv, (struct splitc_team *t, void *to, const long *counts, const long *offsets,    \
                      const void *from, long count, splitc_size size),                             \
         t, to, counts, offsets, from, count, size)                                                \
    each(alltoallv, (struct splitc_team *t, void *to, const long *to_counts,                       \
                     const long *to_offsets, const void *from, const long *from_counts,            \
                     const long *from_offsets, splitc_size size),                                  \
         t, to, to_counts, to_offsets, from, from_counts, from_offsets, size)
#define SPLITC_ARRAY_EXCHANGES(each)                                                               \
    each(allgather, (struct splitc_team *t, void *to, const void *from, long count,                \
                     splitc_size size), t, to, from, count, size)                                  \
    each(alltoall, (struct splitc_team *t, void *to, const void *from, long count,                 \
                    splitc_size size), t, to, from, count, size)
#define SPLITC_ARRAY_OPERATIONS(each)                                                              \
    SPLITC_ARRAY_STEPS(each)                                                                       \
    SPLITC_ARRAY_EXCHANGES(each)
/* clang-format on */
#define SPLITC_ARRAY_OPERATION_OF(name, parameters, ...)                                           \
    void splitc_team_##name parameters;                                                            \
    unsigned long splitc_team_##name##_begin parameters;
SPLITC_ARRAY_OPERATIONS(SPLITC_ARRAY_OPERATION_OF)
unsigned long splitc_team_barrier_begin(struct splitc_team *t);

void splitc_barrier(void);
#define SPLITC_REDUCTIONS_OF(name, type, how)                                                      \
    type splitc_all_reduce_to_all_##name(type value);                                              \
    type splitc_all_reduce_to_one_##name(type value);                                              \
    type splitc_all_scan_##name(type value);
SPLITC_REDUCTIONS(SPLITC_REDUCTIONS_OF)
#define SPLITC_VALUES_OF(letter, type)                                                             \
    type splitc_all_bcast_##letter(type value);                                                    \
    void splitc_all_gather_##letter(type *to, type value);
SPLITC_VALUES(SPLITC_VALUES_OF)
void splitc_all_gather(void *to, const void *from, long bytes);

int splitc_fetch_add(splitc_ptr g, int value);
int splitc_exchange(splitc_ptr g, int value);
int splitc_cmp_and_swap(splitc_ptr g, int expected, int desired);
int splitc_test_and_set(splitc_ptr g);

/* split-c/atomic.h: each(letters, type) */
#define SPLITC_ATOMIC_NUMBERS_OF(letters, type)                                                    \
    SPLITC_ATOMIC_FORMS_OF(fetch_add, letters, type)                                               \
    SPLITC_ATOMIC_FORMS_OF(fetch_min, letters, type)                                               \
    SPLITC_ATOMIC_FORMS_OF(fetch_max, letters, type)                                               \
    SPLITC_ATOMIC_FORMS_OF(exchange, letters, type)                                                \
    type splitc_cmp_and_swap_##letters(splitc_ptr object, type expected, type desired);            \
    unsigned long splitc_cmp_and_swap_begin_##letters(type *old, splitc_ptr object, type expected, \
                                                      type desired);
#define SPLITC_ATOMIC_INTEGERS_OF(letters, type)                                                   \
    SPLITC_ATOMIC_NUMBERS_OF(letters, type)                                                        \
    SPLITC_ATOMIC_FORMS_OF(fetch_and, letters, type)                                               \
    SPLITC_ATOMIC_FORMS_OF(fetch_or, letters, type)                                                \
    SPLITC_ATOMIC_FORMS_OF(fetch_xor, letters, type)
#define SPLITC_ATOMIC_FORMS_OF(name, letters, type)                                                \
    type splitc_##name##_##letters(splitc_ptr object, type value);                                 \
    unsigned long splitc_##name##_begin_##letters(type *old, splitc_ptr object, type value);
SPLITC_INTEGER_TYPES(SPLITC_ATOMIC_INTEGERS_OF)
SPLITC_REAL_TYPES(SPLITC_ATOMIC_NUMBERS_OF)

void splitc_lock(splitc_ptr lock);
int splitc_trylock(splitc_ptr lock);
void splitc_unlock(splitc_ptr lock);

#ifdef __cplusplus
}
#endif
#endif
