/* SPDX-License-Identifier: BSD-3-Clause
 *
 * error.c - how a rank ends the job: it prints one whole line and exits with a code that is not 0.
 * The launcher then ends the other ranks.
 */
#include "observe/observe.h"

#include "caller.h"

#include <errno.h>
#include <reliable/reliable.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct splitc_place splitc_place;

bool splitc_is_verbose(void)
{
    const char *setting = getenv("SPLITC_VERBOSE");

    return setting && strcmp(setting, "1") == 0;
}

/* The beginning of the line: the rank, and the place in the program if it is known. */
static size_t error_begin_line(char *line, size_t room)
{
    uint32_t rank = splitc_runtime.rank;
    int n = splitc_place.file ? snprintf(line, room, "%.200s:%d: rank %u: ", splitc_place.file,
                                         splitc_place.line, rank)
                              : snprintf(line, room, "splitc: rank %u: ", rank);

    return (size_t)n;
}

/* If several threads are at fault, one of them prints its line. */
static void error_be_first(void)
{
    static bool dying;

    while (__atomic_exchange_n(&dying, true, __ATOMIC_RELAXED))
        pause();
}

/* Exit without the exit handlers, which would meet the other ranks. */
static _Noreturn void error_die(const char *format, va_list args)
{
    char line[1024];
    size_t room = sizeof line - 1; /* for the newline */
    size_t n = error_begin_line(line, room);
    int told = vsnprintf(line + n, room - n, format, args);

    error_be_first();
    splitc_event_tell(&(struct splitc_event){.kind = SPLITC_EVENT_FAULT, .n = splitc_caller()});
    n += told < 0 ? 0 : (size_t)told;
    n = n < room ? n : room - 1;
    line[n++] = '\n';
    fflush(stdout);
    if (write(STDERR_FILENO, line, n) < 0)
        _exit(EXIT_FAILURE); /* stderr is closed */
    if (!splitc_place.file)
        splitc_place_tell(0);
    _exit(EXIT_FAILURE);
}

_Noreturn void splitc_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error_die(format, args);
}

/* Wait for another process, which knows more, to print its line and end this one. */
static void error_give_way(time_t seconds)
{
    const struct timespec grace = {.tv_sec = seconds};

    fflush(stdout);
    nanosleep(&grace, NULL);
}

/* If processor 0 has not found the fault, the others print it. */
_Noreturn void splitc_die_together(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (splitc_runtime.rank != 0)
        error_give_way(2);
    error_die(format, args);
}

_Noreturn void splitc_die_unheard(void)
{
    error_give_way(1);
    _exit(EXIT_FAILURE);
}

/* The line of that rank, and that of the launcher, give the reason. */
_Noreturn void splitc_other_gone(void)
{
    error_give_way(1);
    splitc_die("another rank has left before all were there");
}

/* What of the network may have gone. */
static const char *question_of_network(void)
{
    const char *known = unet_remedy(splitc_runtime.carrier, -ENETDOWN);

    return *known ? known : "is the interface gone?";
}

/* The launcher knows how the rank died, and its exit code becomes that of the job. */
_Noreturn void splitc_peer_died(uint32_t rank)
{
    const bool protocol = splitc_runtime.protocol && splitc_is_by_network(rank);

    error_give_way(1);
    if (protocol && rank == splitc_runtime.rank)
        splitc_die("what this rank sends itself over the network does not come: %s",
                   question_of_network());
    if (protocol && !reliable_answers(splitc_runtime.protocol, rank))
        splitc_die("nothing has ever come from rank %u over the network: a firewall, or no route "
                   "between the nodes?  unetrun --net or --iface chooses another network",
                   rank);
    if (protocol && !reliable_reaches(splitc_runtime.protocol, rank))
        splitc_die("rank %u answers, but what is sent to it gets lost: does the network take only "
                   "shorter packets now (MTU)?  unetrun --net or --iface chooses another network",
                   rank);
    splitc_die("rank %u has died, or nothing reaches it any more", rank);
}

_Noreturn void splitc_send_failed(uint32_t rank, int error)
{
    if (error == -EPIPE)
        splitc_peer_died(rank);
    splitc_die("cannot send to rank %u: %s", rank, strerror(-error));
}

_Noreturn void splitc_must_not_wait(void)
{
    splitc_die("%s, run by a message of another processor or by atomic(), waits or uses what other "
               "processors own; it may use only its own processor's memory",
               splitc_runtime.running);
}

_Noreturn void splitc_malformed(const struct gam_message *m)
{
    splitc_die("malformed message %u of %u words from rank %u; do all ranks run the same program?",
               m->handler, m->words, m->source);
}

_Noreturn void splitc_bad_pointer(splitc_ptr g)
{
    unsigned long address = g & SPLITC_ADDRESS_MASK;

    if (splitc_rank(g) >= (int)splitc_runtime.ranks)
        splitc_die("global pointer to processor %d dereferenced, but PROCS is %u", splitc_rank(g),
                   splitc_runtime.ranks);
    if (address == 0)
        splitc_die("null global pointer dereferenced");
    splitc_die("null global pointer dereferenced (offset %lu, processor %d)", address,
               splitc_rank(g));
}
