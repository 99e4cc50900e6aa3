/* SPDX-License-Identifier: BSD-3-Clause
 *
 * place.c - the place in the source where a rank dies, for who has started it without unetrun.
 *
 * The lines are in the program's file, in a form that only debuggers read, so binutils' addr2line
 * is asked: who compiles has it.  All of this may run in a signal handler.
 */
#define _GNU_SOURCE /* O_CLOEXEC, pipe2, vfork */
#include "observe/observe.h"

#include "caller.h"
#include "status.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 5000 /* milliseconds, for a program with many lines */

/* By vfork: with fork the child would run on a stack that it shares with this rank, as the stacks
 * of ranks are shared memory. */
static pid_t start_asking(const char *file, const char *address, int out)
{
    char *const argument[] = {"addr2line", "-pfie", (char *)file, (char *)address, NULL};
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const pid_t child = vfork();

    if (child == 0) {
        if (dup2(out, STDOUT_FILENO) >= 0 && dup2(nowhere, STDERR_FILENO) >= 0)
            execvp(argument[0], argument);
        _exit(EXIT_FAILURE);
    }
    if (nowhere >= 0)
        close(nowhere);
    return child;
}

/* All that comes in time, as a string. */
static size_t read_answer(int from, char *to, size_t room)
{
    struct pollfd ready = {.fd = from, .events = POLLIN};
    size_t n = 0;

    while (n < room - 1 && poll(&ready, 1, PATIENCE) == 1) {
        const ssize_t more = read(from, to + n, room - 1 - n);

        if (more <= 0)
            break;
        n += (size_t)more;
    }
    to[n] = '\0';
    return n;
}

static size_t ask(const char *file, const char *address, char *to, size_t room)
{
    int way[2];
    size_t n = 0;
    pid_t child;

    if (pipe2(way, O_CLOEXEC) != 0)
        return 0;
    child = start_asking(file, address, way[1]);
    close(way[1]);
    if (child > 0) {
        n = read_answer(way[0], to, room);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    close(way[0]);
    return n;
}

/* Of the lines that inlined functions have, from the inside out, the first that is no access of the
 * library's header; NULL: there is none, as without -g, when "?" stands for what is not known. */
static const char *own_line(char *answer)
{
    static const char inlined[] = " (inlined by) ";

    for (char *line = answer, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (strstr(line, "/split-c/abi.h:") || strchr(line, '?'))
            continue;
        return strncmp(line, inlined, sizeof inlined - 1) == 0 ? line + sizeof inlined - 1 : line;
    }
    return NULL;
}

/* ---- the line, without snprintf, which is for no signal handler --------------------------- */

struct line {
    char text[1024];
    size_t n;
};

static void say(struct line *l, const char *text)
{
    while (*text && l->n < sizeof l->text - 1)
        l->text[l->n++] = *text++;
    l->text[l->n] = '\0';
}

static void say_number(struct line *l, uint64_t number, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits - 1;

    digits[at] = '\0';
    do
        digits[--at] = "0123456789abcdef"[number % base];
    while ((number /= base) > 0);
    say(l, &digits[at]);
}

void splitc_place_tell(uint64_t pc)
{
    struct line l = {.n = 0}, address = {.n = 0};
    char file[1024], answer[4096];
    const char *place;
    ssize_t length;

    if (splitc_status_is_seen())
        return;
    pc = splitc_caller_owns(pc) ? pc : splitc_caller();
    length = readlink("/proc/self/exe", file, sizeof file - 1);
    if (pc == 0 || length <= 0)
        return;
    file[length] = '\0';
    say(&address, "0x");
    say_number(&address, pc, 16);
    place = ask(file, address.text, answer, sizeof answer) > 0 ? own_line(answer) : NULL;
    if (!place)
        return;
    say(&l, "splitc: rank ");
    say_number(&l, splitc_runtime.rank, 10);
    say(&l, ": in ");
    say(&l, place);
    say(&l, "\n");
    if (write(STDERR_FILENO, l.text, l.n) < 0)
        return; /* nobody to tell */
}
