/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stdio.c - FILEs on connections.
 *
 * libc's stdio reads and writes behind our back.  A connection that gets a FILE stays with the
 * kernel; one that has been upgraded gets a FILE that calls us.
 */
#include "calls/call.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

static int fd_of(const void *cookie)
{
    return (int)(intptr_t)cookie;
}

static ssize_t read_cookie(void *cookie, char *buffer, size_t count)
{
    return read(fd_of(cookie), buffer, count);
}

static ssize_t write_cookie(void *cookie, const char *buffer, size_t count)
{
    const ssize_t n = write(fd_of(cookie), buffer, count);

    return n < 0 ? 0 : n; /* as fopencookie has errors */
}

static int close_cookie(void *cookie)
{
    return close(fd_of(cookie));
}

static FILE *open_cookie(int fd, const char *mode)
{
    const cookie_io_functions_t functions = {
        .read = read_cookie, .write = write_cookie, .close = close_cookie};
    FILE *file = fopencookie((void *)(intptr_t)fd, mode, functions);

    if (file)
        file->_fileno = fd; /* for fileno() */
    return file;
}

SOCKETS_EXPORT FILE *fdopen(int fd, const char *mode)
{
    struct sockets_stream *s = sockets_call_enter(fd);
    FILE *file;

    if (!s)
        return sockets_real.fdopen(fd, mode);
    if (!s->upgraded)
        sockets_stream_pin(s);
    file = s->upgraded ? open_cookie(fd, mode) : sockets_real.fdopen(fd, mode);
    sockets_table_leave(s);
    return file;
}

SOCKETS_EXPORT int vdprintf(int fd, const char *restrict format, va_list arguments)
{
    char *text;
    int length;

    sockets_call_prepare();
    if (!sockets_table_has(fd))
        return sockets_real.vdprintf(fd, format, arguments);
    length = vasprintf(&text, format, arguments);
    if (length < 0)
        return -1;
    for (ssize_t done = 0, n; done < length; done += n)
        if ((n = write(fd, text + done, (size_t)(length - done))) < 0) {
            length = -1;
            break;
        }
    free(text);
    return length;
}

SOCKETS_EXPORT int dprintf(int fd, const char *restrict format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vdprintf(fd, format, arguments);
    va_end(arguments);
    return n;
}
