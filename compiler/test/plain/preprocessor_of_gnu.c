// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>
#include_next <stdlib.h>
#define LOG(f, ...) printf(f "\n", ##__VA_ARGS__)
#define NAMED(args...) printf(args)
#define OPT(f, ...) printf(f __VA_OPT__(,) __VA_ARGS__)
#define STR(x) #x
#define XSTR(x) STR(x)
#define EMPTY
#define PASTE(a, b) a##b
#define CALL(f) f
#if defined(__GNUC__) && __has_include(<stdio.h>) && !defined(NOT)
#define YES 1
#elif 0
#else
#error no
#endif
#if 0
it's not C at all: "
#endif
#ident "x"
int PASTE(va, lue) = 3;
int counter = __COUNTER__;
#line 500 "renamed.c"
int line = __LINE__;
#undef YES
int main(void)
{
    LOG("none"); LOG("%d", 1); NAMED("%d\n", 2); OPT("three\n"); OPT("%d\n", 4);
    puts(XSTR(PASTE(a, b) "quoted\n" 'c') STR(  a   b  ));
    printf("%d %d %s %d\n", value, line, __FILE__, __LINE__);
    return CALL(EMPTY abs)(-3) + EMPTY counter EMPTY + __INCLUDE_LEVEL__;
}
