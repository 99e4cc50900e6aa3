/* SPDX-License-Identifier: BSD-3-Clause
 *
 * parts.h - pieces that go in several messages if need be, and are put together (pieces.c).
 */
#ifndef SPLITC_PARTS_H
#define SPLITC_PARTS_H

#include "round.h"

#include <gam/gam.h>

/* Sends n bytes of a piece, each message of which has these words. */
void splitc_parts_send(uint32_t rank, const void *from, size_t n, const uint64_t word[2]);

/* A piece of which some has come.  A member sends all of one before anything else.  Either a step
 * takes it, which cannot end before all of it is here, or it waits for one. */
struct splitc_parts {
    struct splitc_parts *next;
    uint32_t source;
    uint64_t word[2]; /* of all of its messages */
    size_t n, got;
    uint8_t *to;
    struct splitc_operation *operation; /* whose step */
    struct splitc_step *step;           /* takes it; NULL: */
    struct splitc_early *early;         /* this keeps it */
};

/* What has come of a rank's piece, or NULL. */
struct splitc_parts *splitc_parts_from(uint32_t source);

/* The first message of a piece of n bytes has come.  The caller says where they go. */
struct splitc_parts *splitc_parts_begin(const struct gam_message *m, size_t n);

/* Adds a message.  False: there is more to come; else the caller frees the piece. */
bool splitc_parts_add(struct splitc_parts *p, const struct gam_message *m);

#endif
