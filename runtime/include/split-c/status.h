/* SPDX-License-Identifier: BSD-3-Clause
 *
 * status.h - what a rank shows of itself, for the launcher to read even if it hangs.
 *
 * The launcher names a file of shared memory and the rank's page of it by
 * SPLITC_STATUS=FILE:OFFSET.  The rank alone writes the page, when it has waited for
 * longer than it spins, and when it is at fault.  Who reads it trusts nothing in it.
 */
#ifndef SPLITC_STATUS_H
#define SPLITC_STATUS_H

#include <stdint.h>

#define SPLITC_STATUS_BYTES 4096u /* from one rank's page to the next */
#define SPLITC_STATUS_MAGIC 0x73746174u
#define SPLITC_ANYBODY UINT32_MAX

#define SPLITC_FRAMES 64u
#define SPLITC_OBJECTS 10u
#define SPLITC_OBJECT_NAME 224u

/* An instruction, by its address in the file that it was loaded from: the same wherever the system
 * has loaded it. */
struct splitc_code {
    uint64_t at;     /* 0: not known */
    uint64_t object; /* index of the file's name; SPLITC_OBJECTS: there was no room for that */
};

struct splitc_status {
    uint32_t magic; /* set: a Split-C program has joined the job */
    uint32_t whom;  /* the rank that it waits for, or SPLITC_ANYBODY */
    char what[48];  /* what it waits in, as the program calls it; empty: it runs */
    uint64_t began; /* nanoseconds of CLOCK_MONOTONIC */

    uint64_t waits;    /* begun so far that were shown */
    uint64_t looks;    /* whether a wait is over, without success */
    uint64_t arrivals; /* messages that came while it waited */
    uint64_t sending;  /* 1: some from here may not have arrived, or have to be sent again */
    uint64_t tries;    /* 0: a message or a write will end the wait; else something else may, which
                          it has tried in vain so often but for one */

    /* Messages between nodes since the start, but for those of tries in vain.  Over all ranks the
     * sums are equal when none is on its way, nor held back. */
    uint64_t sent, received;
    uint64_t held; /* 1: there are messages to be sent */

    /* As of some time into the wait. */
    uint64_t gets, puts; /* begun here and not yet complete */
    uint64_t stored;     /* bytes of signalling stores from here */
    uint64_t landed;     /* bytes of those to here that are in place */
    uint64_t taken;      /* of these, what store_sync and its kin have waited for */

    struct splitc_code wait;  /* the instruction in the program that called */
    struct splitc_code fault; /* that for which it dies */

    /* The stack at the rank's death, the innermost call first (SPLITC_BACKTRACE=1). */
    uint64_t frames;
    struct splitc_code frame[SPLITC_FRAMES];

    char object[SPLITC_OBJECTS][SPLITC_OBJECT_NAME]; /* files that code is in; 0: the program */
};

#ifdef __cplusplus
static_assert(sizeof(struct splitc_status) <= SPLITC_STATUS_BYTES, "a rank has one page");
#else
_Static_assert(sizeof(struct splitc_status) <= SPLITC_STATUS_BYTES, "a rank has one page");
#endif

#endif
