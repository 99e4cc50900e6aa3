/* SPDX-License-Identifier: BSD-3-Clause
 *
 * schedule.h - when an end of a connection looks for the other one.
 *
 * After some operations, and soon again; then after more and more of them.  Operations alone do not
 * tell how long the other end had: one may write hundreds of times before the other process runs,
 * and one read may take what hundreds of writes have sent.  So before it counts as foreign the
 * clock has to agree.  Tries are less frequent where they cost more.
 */
#ifndef SOCKETS_SCHEDULE_H
#define SOCKETS_SCHEDULE_H

#include "record/record.h"
#include "stream/position.h"

/* Read UNETSOCK_UPGRADE: the operation of the first try, or `random`. */
void sockets_schedule_init(void);

uint32_t sockets_schedule_first(void);

/* From now on nobody looks for another end. */
void sockets_schedule_end(void);
bool sockets_schedule_has_ended(void);

/* Before the first try: whether it is too early for a stream that has carried so many bytes, and
 * planned for later.  Rings cost as much time as TCP takes for a MiB, and gain least where each
 * call moves much: a file that goes by a connection of its own does better without. */
bool sockets_schedule_postpone(struct sockets_record *record, uint32_t ops,
                               struct sockets_traffic traffic);

/* Before a peer on another host is met: whether nothing came back, or nothing went, since the last
 * look, or this is the first one; planned for later.  Streams stay with TCP there, and what would
 * carry them costs as much as TCP takes for thousands of short writes. */
bool sockets_schedule_is_one_way(struct sockets_record *record, struct sockets_traffic traffic);

/* One is tried at this operation: plan the next. */
void sockets_schedule_plan(struct sockets_record *record, bool is_server, uint32_t ops);

enum sockets_when {
    SOCKETS_TRY_NOW,
    SOCKETS_TRY_LATER, /* which is planned */
    SOCKETS_TRY_NEVER, /* the other end is foreign */
};

/* The planned operation has come. */
enum sockets_when sockets_schedule_ask(struct sockets_record *record, bool is_server, uint32_t ops);

#endif
