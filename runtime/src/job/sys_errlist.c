/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sys_errlist.c - the messages of errors as C libraries had them before strerror: for programs that
 * declare `extern int sys_nerr; extern char *sys_errlist[];`, and only for those is it linked.
 */
#define _GNU_SOURCE
#include <string.h>

enum { ERRORS = 134 }; /* Linux has so many, from 0 */

const char *sys_errlist[ERRORS];
int sys_nerr = ERRORS;

static void __attribute__((constructor)) sys_errlist_fill(void)
{
    for (int i = 0; i < ERRORS; i++) {
        const char *text = strerrordesc_np(i);

        sys_errlist[i] = text ? text : "Unknown error";
    }
}
