/* SPDX-License-Identifier: BSD-3-Clause
 *
 * table.h - which descriptors of this process are connections that we look after.
 *
 * A stream has one reference for being in the table, under however many descriptors, and one for
 * each call that is under way.  In the child of a vfork, which runs in its parent's memory, nothing
 * here changes the table: its descriptors are its own.
 */
#ifndef SOCKETS_TABLE_H
#define SOCKETS_TABLE_H

#include "stream/stream.h"

enum { SOCKETS_TABLE_FDS = 1 << 18 };

/* A descriptor is new: what had its number was closed behind our back. */
void sockets_table_renew(int fd);

/* A descriptor is a connection that was accepted.  Does nothing if there is no memory, or fd is too
 * large. */
void sockets_table_add(int fd, bool nonblocking);

/* The same for one that connects, or will; does nothing either if it is in the table. */
void sockets_table_adopt(int fd);

/* Whether a descriptor is a socket of TCP, as far as is known without asking the kernel: who makes
 * one notes it.  A hint, as it may have been closed and made anew behind our back. */
void sockets_table_note_tcp(int fd, bool is_tcp);
bool sockets_table_is_tcp(int fd);

/* The stream of a descriptor, with a reference, or NULL.  Waits while it is being upgraded. */
struct sockets_stream *sockets_table_enter(int fd);

/* Give the reference back; keeps errno. */
void sockets_table_leave(struct sockets_stream *s);

/* Whether a descriptor is in the table; a hint. */
bool sockets_table_has(int fd);

/* `copy` is now another descriptor of what `fd` is, and no longer of what it was. */
void sockets_table_copy(int fd, int copy);

/* Before a descriptor is closed, or replaced: takes it out of the table, tells the peer if it was
 * the last one, and returns the stream for sockets_table_closed to be called after; NULL if there
 * is none. */
struct sockets_stream *sockets_table_closing(int fd);
void sockets_table_closed(struct sockets_stream *s);

/* A descriptor of the stream, or -1. */
int sockets_table_descriptor_of(const struct sockets_stream *s);

/* The same: `fd` if it is one still. */
int sockets_table_descriptor_now(const struct sockets_stream *s, int fd);

/* The first descriptor in the table from `fd` on, or -1. */
int sockets_table_next(int fd);

/* The process ends: tell all peers. */
void sockets_table_end(void);

/* Around a fork in the parent: nobody changes the table, and what is in it has a holder more,
 * unless it is known that there is no child. */
void sockets_table_lock(void);
void sockets_table_unlock(bool has_child);

/* In the child, of which sockets_table_begin_child was told, if anything has asked already whose
 * the table is, and is told now otherwise. */
void sockets_table_forked(void);

/* Another program is about to be executed, or that has failed: connections that are closed on exec
 * have a holder less meanwhile. */
void sockets_table_exec(bool failed);

/* Called once in a child, which may have come by clone(2), so that no handler of fork has run; it
 * calls sockets_table_after_fork. */
extern void (*sockets_table_begin_child)(void);
void sockets_table_after_fork(void);

/* Whether this is the process that the table belongs to, not a child of a vfork. */
bool sockets_table_is_ours(void);

/* From now on other processes may run in this one's memory: sockets_table_is_ours asks for it. */
void sockets_table_shares_memory(void);

#endif
