/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check.h - what C code emitted by splitcc -fcheck calls besides abi.h.
 *
 * Each call says where in the program it stands.  What is found wrong ends the job
 * with one line that begins with that place.
 */
#ifndef SPLITC_CHECK_H
#define SPLITC_CHECK_H

#include <split-c/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Emitted code, or the link, defines it: that turns the checks on. */
extern const char splitc_wants_checks __attribute__((weak));

/* Where the program is: in the call of a library function, if `file` is not NULL. */
struct splitc_place {
    const char *file;
    const char *what; /* the function, or the spread array */
    int line;
};
extern struct splitc_place splitc_place;

/* An access of n bytes at g: returns g if it can be followed. */
splitc_ptr splitc_check_read(splitc_ptr g, splitc_size n, const char *file, int line);
splitc_ptr splitc_check_write(splitc_ptr g, splitc_size n, const char *file, int line);

/* Returns the index if `array` has such an element, of `extent` ones; `past` allows for the
 * one behind the last. */
long splitc_check_index(long index, long extent, int past, const char *array, const char *file,
                        int line);

/* splitc_spread_alloc and splitc_spread_cleanup of a spread array. */
splitc_ptr splitc_check_spread_array(splitc_size count, splitc_size size, const char *array,
                                     const char *file, int line);
void splitc_check_cleanup(splitc_ptr *base);

/* Around the call of a library function. */
SPLITC_INLINE struct splitc_place splitc_enter(const char *function, const char *file, int line)
{
    struct splitc_place outer = splitc_place;

    splitc_place.file = file;
    splitc_place.what = function;
    splitc_place.line = line;
    return outer;
}

SPLITC_INLINE void splitc_leave(const struct splitc_place *outer)
{
    splitc_place = *outer;
}

#ifdef __cplusplus
}
#endif
#endif
