/* SPDX-License-Identifier: BSD-3-Clause
 *
 * varargs.h - argument lists as before <stdarg.h>, which C compilers do not have any more:
 *
 *      void report(va_alist)
 *      va_dcl
 *      {
 *          va_list arguments;
 *          char *format;
 *
 *          va_start(arguments);
 *          format = va_arg(arguments, char *);
 *          vfprintf(stderr, format, arguments);
 *          va_end(arguments);
 *      }
 *
 * The parameters are all registers that may hold arguments.  va_start makes of them what a function
 * with `...` has: the registers in memory one behind the other, and the address of the arguments
 * that the caller has put on its stack.  Nobody may adapt the function to its callers, which pass
 * fewer arguments: splitcc gives a function with this first parameter an attribute for that.
 */
#ifndef SPLITC_VARARGS_H
#define SPLITC_VARARGS_H

#include <stdarg.h>

#if !defined __x86_64__ || defined __clang__ || defined __ILP32__
#error "<varargs.h> takes gcc on x86-64; elsewhere use <stdarg.h>"
#endif

/* As the System V ABI's psABI for x86-64 has them. */
struct splitc_va_registers {
    long general[6];
    double floating[8][2]; /* the lower half of each register */
};
struct splitc_va_list {
    unsigned general_offset, floating_offset; /* of the next one among the registers */
    void *stack;
    struct splitc_va_registers *registers;
};

#define SPLITC_VA_GENERAL                                                                          \
    splitc_va_alist, splitc_va_1, splitc_va_2, splitc_va_3, splitc_va_4, splitc_va_5
#define SPLITC_VA_FLOATING                                                                         \
    splitc_va_f0, splitc_va_f1, splitc_va_f2, splitc_va_f3, splitc_va_f4, splitc_va_f5,            \
        splitc_va_f6, splitc_va_f7

#define va_alist SPLITC_VA_GENERAL, SPLITC_VA_FLOATING
#define va_dcl                                                                                     \
    long SPLITC_VA_GENERAL;                                                                        \
    double SPLITC_VA_FLOATING;

#undef va_start
#define va_start(list)                                                                             \
    __extension__({                                                                                \
        struct splitc_va_registers *splitc_va_all = __builtin_alloca(sizeof *splitc_va_all);       \
        *splitc_va_all = (struct splitc_va_registers){{SPLITC_VA_GENERAL},                         \
                                                      {{splitc_va_f0},                             \
                                                       {splitc_va_f1},                             \
                                                       {splitc_va_f2},                             \
                                                       {splitc_va_f3},                             \
                                                       {splitc_va_f4},                             \
                                                       {splitc_va_f5},                             \
                                                       {splitc_va_f6},                             \
                                                       {splitc_va_f7}}};                           \
        struct splitc_va_list splitc_va_begin = {0, sizeof splitc_va_all->general,                 \
                                                 __builtin_dwarf_cfa(), splitc_va_all};            \
        __builtin_memcpy(list, &splitc_va_begin, sizeof splitc_va_begin);                          \
    })

#endif
