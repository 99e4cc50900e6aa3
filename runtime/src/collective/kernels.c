/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kernels.c - one loop for each operation and type.
 */
#include "kernels.h"

#include "observe/observe.h"
#include "runtime.h"

#include <split-c/operators.h>
#include <stdlib.h>

#define PART 65536u /* bytes */

#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))

#define KERNEL(name, type, as, operation)                                                          \
    static void name(void *to, const void *left, const void *right, size_t count)                  \
    {                                                                                              \
        type *t = to;                                                                              \
        const type *l = left, *r = right;                                                          \
                                                                                                   \
        for (size_t i = 0; i < count; i++)                                                         \
            t[i] = (type)operation((as)l[i], (as)r[i]);                                            \
    }

/* Integers wrap, so they are added and multiplied as unsigned ones. */
#define INTEGER_KERNELS(name, type, as)                                                            \
    KERNEL(add_##name, type, as, ADD)                                                              \
    KERNEL(multiply_##name, type, as, MULTIPLY)                                                    \
    KERNEL(min_##name, type, type, MIN)                                                            \
    KERNEL(max_##name, type, type, MAX)                                                            \
    KERNEL(and_##name, type, type, AND)                                                            \
    KERNEL(or_##name, type, type, OR)                                                              \
    KERNEL(xor_##name, type, type, XOR)
#define REAL_KERNELS(name, type)                                                                   \
    KERNEL(add_##name, type, type, ADD)                                                            \
    KERNEL(multiply_##name, type, type, MULTIPLY)                                                  \
    KERNEL(min_##name, type, type, MIN)                                                            \
    KERNEL(max_##name, type, type, MAX)

INTEGER_KERNELS(schar, signed char, unsigned)
INTEGER_KERNELS(uchar, unsigned char, unsigned)
INTEGER_KERNELS(short, short, unsigned)
INTEGER_KERNELS(ushort, unsigned short, unsigned)
INTEGER_KERNELS(int, int, unsigned)
INTEGER_KERNELS(uint, unsigned, unsigned)
INTEGER_KERNELS(long, long, unsigned long)
INTEGER_KERNELS(ulong, unsigned long, unsigned long)
REAL_KERNELS(float, float)
REAL_KERNELS(double, double)

#define INTEGER_ROW(name)                                                                          \
    {                                                                                              \
        add_##name, multiply_##name, min_##name, max_##name, and_##name, or_##name, xor_##name     \
    }
#define REAL_ROW(name)                                                                             \
    {                                                                                              \
        add_##name, multiply_##name, min_##name, max_##name                                        \
    }

static splitc_kernel_fn *const kernel[SPLITC_TYPES][SPLITC_OPERATORS] = {
    [SPLITC_TYPE_SCHAR] = INTEGER_ROW(schar), [SPLITC_TYPE_UCHAR] = INTEGER_ROW(uchar),
    [SPLITC_TYPE_SHORT] = INTEGER_ROW(short), [SPLITC_TYPE_USHORT] = INTEGER_ROW(ushort),
    [SPLITC_TYPE_INT] = INTEGER_ROW(int),     [SPLITC_TYPE_UINT] = INTEGER_ROW(uint),
    [SPLITC_TYPE_LONG] = INTEGER_ROW(long),   [SPLITC_TYPE_ULONG] = INTEGER_ROW(ulong),
    [SPLITC_TYPE_FLOAT] = REAL_ROW(float),    [SPLITC_TYPE_DOUBLE] = REAL_ROW(double),
};

splitc_kernel_fn *splitc_kernel(uintptr_t which, int type)
{
    if (which == 0 || which > SPLITC_OPERATORS || type <= 0 || type >= SPLITC_TYPES)
        return NULL;
    return kernel[type][which - 1];
}

/* The program's function neither waits nor uses what other ranks own. */
static void run_own(const struct splitc_operator *with, void *acc, const void *next, size_t n)
{
    const char *outer = splitc_runtime.running;

    splitc_runtime.running = with->call;
    splitc_runtime.running_on = __builtin_frame_address(0);
    with->own(acc, next, (long)(n / with->size));
    splitc_runtime.running = outer;
}

void splitc_combine_arrays(const struct splitc_operator *with, void *to, const void *next, size_t n)
{
    if (with->own)
        run_own(with, to, next, n);
    else
        with->kernel(to, to, next, n / with->size);
}

/* The program's function changes the array in front, so that is copied, part by part. */
static void run_own_before(const struct splitc_operator *with, uint8_t *to, const uint8_t *before,
                           size_t n)
{
    const size_t room = with->size > PART ? with->size : PART / with->size * with->size;
    uint8_t *part = malloc(room);

    if (!part)
        splitc_die("no memory for %zu bytes of %s", room, with->call);
    for (size_t at = 0; at < n; at += room) {
        const size_t here = n - at < room ? n - at : room;

        memcpy(part, before + at, here);
        run_own(with, part, to + at, here);
        memcpy(to + at, part, here);
    }
    free(part);
}

void splitc_combine_before(const struct splitc_operator *with, void *to, const void *before,
                           size_t n)
{
    if (with->own)
        run_own_before(with, to, before, n);
    else
        with->kernel(to, before, to, n / with->size);
}
