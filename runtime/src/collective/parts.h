/* SPDX-License-Identifier: BSD-3-Clause
 *
 * parts.h - pieces that go in several messages if need be, and are put together (pieces.c).
 */
#ifndef SPLITC_PARTS_H
#define SPLITC_PARTS_H

#include <gam/gam.h>
#include <stddef.h>
#include <stdint.h>

/* Sends n bytes of a piece, each message of which has these words. */
void splitc_parts_send(uint32_t rank, const void *from, size_t n, const uint64_t word[2]);

/* A piece of which some has come.  A member sends all of one before anything else. */
struct splitc_parts {
    struct splitc_parts *next;
    uint32_t source;
    uint64_t word[2]; /* of all of its messages */
    size_t n, got;
    uint8_t bytes[];
};

/* Adds a message of a piece of n bytes.  The piece, which the caller then frees, or NULL: there is
 * more to come. */
struct splitc_parts *splitc_parts_add(const struct gam_message *m, size_t n);

#endif
