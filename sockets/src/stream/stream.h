/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stream.h - one end of a connection whose bytes travel by TCP or by a ring.
 *
 * Each direction is in phases that the sender counts: in even ones its bytes go by TCP, in odd ones
 * by the ring.  The rules, which the two files receive.c and send.c keep:
 *
 * - The sender leaves the ring whenever it likes (the ring is full, the receiver sleeps, MSG_OOB):
 * it publishes the next phase and goes on with TCP.  The receiver empties the ring before it looks
 * at TCP.
 * - The sender enters the ring only when the receiver has taken every byte that went by TCP, and is
 * not just reading from it: both take the direction's gate.  So nothing of an even phase is left
 * once its successor is published, and the two never mix.
 * - A receiver that goes to sleep in the kernel says so (`armed`).  The sender wakes it by sending
 * the data itself by TCP or, if the data is long or already in the ring, by one byte, a bell. Bells
 *   are counted, and only sent in odd phases, so that the receiver tells them from data.  A bell
 *   remains unread as long as there is data in the ring: for poll and epoll of the kernel the
 *   connection is then as readable as it would be without us.  Another is rung only if who was
 * woken asks for it (sockets_stream_expect_bell).
 *
 * All waiting is the kernel's: for data on the TCP connection, for space by writing to it.
 */
#ifndef SOCKETS_STREAM_H
#define SOCKETS_STREAM_H

#include "record/record.h"
#include "stream/segment.h"
#include <sys/socket.h>

struct sockets_entry; /* of an epoll set */
struct sockets_carrier;
struct sockets_meeting;

/* One end, as a process sees it.  The memory of a stream is never given back, only used for
 * another one, so that a thread may look at one that has just been closed. */
struct sockets_stream {
    _Atomic uint32_t refs;     /* the table's, and one for each call that is under way */
    _Atomic uint32_t fds;      /* descriptors of this process */
    _Atomic uint32_t ended;    /* the table's reference is gone: the last one frees */
    _Atomic uint32_t busy;     /* being upgraded: calls wait at the entrance */
    _Atomic uint32_t stepping; /* a thread tries to upgrade it */
    bool is_server;
    bool met;                        /* table.c goes through all */
    struct sockets_meeting *meeting; /* with a peer on another host (net/meet.h) */
    _Atomic int rendezvous;          /* listening for the peer: a slot of real/hidden.h, or -1 */
    _Atomic int waker;               /* a slot as well, or -1 (doze.c) */
    _Atomic uint32_t waking;         /* threads that use it */
    _Atomic uint32_t waker_user;     /* who may sleep on it: enum sockets_waker_user */
    int keeper;                      /* its place among those of this process, or -1 */
    _Atomic int spent;               /* the slot of one that was given up in use, or -1 */
    bool of_our_user;                /* the peer is, too */
    struct sockets_record *record;
    uint64_t cookie;                         /* SO_COOKIE, of one that is upgraded */
    struct sockets_segment *_Atomic segment; /* NULL: with the kernel */
    _Atomic uint32_t nodelay;                /* nothing is held back: TCP_NODELAY, and no cork */
    bool upgraded;                           /* the segment is in use (rx and tx are valid) */
    struct sockets_carrier
        *carrier; /* of the segment's words (carrier.h); NULL: both ends share it */
    struct sockets_direction *rx, *tx;
    char *rx_data, *tx_data;
    _Atomic bool recalling;          /* the other end has not said what becomes of its ring */
    _Atomic uint32_t withheld;       /* how often the kernel could not be believed: see far.c */
    _Atomic uint64_t withheld_since; /* or 0 */
    _Atomic uint32_t together;       /* its epoll set sleeps, and shares wake-ups */
    struct sockets_entry *entries;   /* in epoll sets; the lock of epoll/set.c */
    struct sockets_stream *next_free;
};

/* Read UNETSOCK_DOWNGRADE: of how many sends one leaves the ring by chance (never). */
void sockets_stream_init(void);

/* ---- life ---- */

/* A stream of a fresh record, with no reference; NULL if there is no memory. */
struct sockets_stream *sockets_stream_new(bool is_server, bool nonblocking);

/* How many there are in this process. */
extern _Atomic uint32_t sockets_stream_count;

/* Around fork: no other thread is inside the list of free streams. */
void sockets_stream_lock_all(void);
void sockets_stream_unlock_all(void);
void sockets_stream_after_fork(void); /* in the child, where it may be locked or not */

/* Give back what is left of a stream after its last reference. */
void sockets_stream_free(struct sockets_stream *s);

/* Use the segment from now on.  `sent` and `taken` are the bytes of the stream that TCP has carried
 * so far; no other thread may be in a call of this stream. */
void sockets_stream_attach(struct sockets_stream *s, uint64_t sent, uint64_t taken);

/* The last descriptor of this process is about to be closed.  If no other process has the
 * connection, the peer is told as TCP would: by a reset if data was left unread. */
void sockets_stream_closing(struct sockets_stream *s, int fd);

/* Send by TCP from now on and ask the peer to do so, too: something is used that the kernel has to
 * serve.  A stream that was not upgraded never will be. */
void sockets_stream_pin(struct sockets_stream *s);

/* The descriptor goes to a program that knows nothing of rings: pins the stream, and has the sender
 * give what lies unread in the ring back to TCP.  0: nothing lay there; 1: the sender will do so in
 * its next call, or now if it waits for data; -EBUSY: data in TCP already follow the ring's, whose
 * rest that program does not see.  Blocks for a moment at most. */
int sockets_stream_recall(struct sockets_stream *s, int fd);

/* Before a fork: one that is carried between hosts goes to TCP for good.  First what it reads, also
 * what lies unread in its ring, as a child that executes another program has nobody who would ask
 * for that; and when all streams have, what it writes.  The last two block until all is done, or
 * until then. */
void sockets_stream_retire_begin(struct sockets_stream *s, int fd);
void sockets_stream_retire_reader(struct sockets_stream *s, int fd, uint64_t until);
void sockets_stream_retire_writer(struct sockets_stream *s, int fd, uint64_t until);

/* The other end of such a stream gives back what was recalled, and any end sends a bell for which
 * the kernel had no memory.  To be called by whoever waits. */
void sockets_stream_answer_now(struct sockets_stream *s, int fd);
static inline void sockets_stream_answer(struct sockets_stream *s, int fd)
{
    if (__builtin_expect(atomic_load_explicit(&s->tx->recall, memory_order_relaxed) ||
                             s->record->tx.bell != SOCKETS_BELL_RUNG,
                         0))
        sockets_stream_answer_now(s, fd);
}

/* Keep a copy of a connection to the other end, by which who sleeps for data is woken sooner than
 * by TCP (doze.c): before the other end can sleep, which has the same. */
void sockets_stream_keep_waker(struct sockets_stream *s, int fd);

/* The stream ends, or did not begin. */
void sockets_stream_end_waker(struct sockets_stream *s);

/* Who sleeps for several files may sleep on the waker among them, if nobody else of this process
 * does.  _claim says whether that is so; the waker stays open from _begin_use, which returns its
 * descriptor or -1, to _end_use. */
enum sockets_waker_user { SOCKETS_WAKER_FREE, SOCKETS_WAKER_READER, SOCKETS_WAKER_SEVERAL };
bool sockets_stream_claim_waker(struct sockets_stream *s, enum sockets_waker_user user);
void sockets_stream_release_waker(struct sockets_stream *s);
int sockets_stream_begin_use(struct sockets_stream *s);
void sockets_stream_end_use(struct sockets_stream *s);

/* Around each sleep: the other end wakes by the waker.  `in_set`: by an epoll set, which may wake
 * for several streams at once.  _begin returns false if data, or something else, may come by TCP
 * alone, or the waker is not to be used any more; else _end is to be called.  The sleeper looks at
 * the ring after _begin, and after it slept takes what made the waker readable: _take returns false
 * if it has ended. */
bool sockets_stream_begin_doze(struct sockets_stream *s, bool in_set);
void sockets_stream_end_doze(struct sockets_stream *s, bool in_set);
bool sockets_stream_take_wake_ups(struct sockets_stream *s);

/* Neither end is woken by it any more. */
void sockets_stream_give_up_waker(struct sockets_stream *s);

/* The program needs their descriptors: sleepers are woken by TCP.  False if there was none. */
bool sockets_stream_give_up_wakers(void);

/* From now on the kernel alone knows how long a receiver sleeps: there is a time limit, or nothing
 * more to come. */
void sockets_stream_stay_awake(struct sockets_stream *s);

/* shutdown(SHUT_WR or SHUT_RDWR) has happened: who waits to send is to hear of it. */
void sockets_stream_note_shut(struct sockets_stream *s);

/* Before the kernel hears of shutdown(SHUT_RD): readers find what is there, and then the end. */
void sockets_stream_shut_reader(struct sockets_stream *s);

/* It is about to happen. */
void sockets_stream_finish(struct sockets_stream *s, int fd);

/* From now on TCP holds nothing back, which an end needs that gives data to TCP while the other one
 * uses a ring. */
void sockets_stream_send_at_once(struct sockets_stream *s, int fd);

/* The program sets TCP_NODELAY of an upgraded stream. */
void sockets_stream_set_nodelay(struct sockets_stream *s, int fd, bool asked);

/* ---- data; all of these want an upgraded stream ---- */

/* A descriptor of the stream, `fd` if that is one still, or -1: the table knows, which lies above
 * this layer. */
extern int (*sockets_stream_descriptor_of)(const struct sockets_stream *s, int fd);

/* A thread was cancelled that slept in one of these: its call leaves the stream. */
extern void (*sockets_stream_on_cancel)(struct sockets_stream *s);

/* recvmsg, and sendmsg; -errno instead of -1.  They block as the connection does. */
ssize_t sockets_stream_receive(struct sockets_stream *s, int fd, const struct iovec *iov,
                               size_t count, int flags);
ssize_t sockets_stream_send(struct sockets_stream *s, int fd, const struct msghdr *msg, int flags);
ssize_t sockets_stream_sendfile(struct sockets_stream *s, int fd, int in, off_t *offset,
                                size_t count);

/* Bytes that wait to be read, as FIONREAD has them, of which `tcp` are in the kernel. */
int sockets_stream_unread(struct sockets_stream *s, int tcp);

/* Whether the next byte is the urgent one that TCP was given last, or would follow it. */
bool sockets_stream_is_at_mark(struct sockets_stream *s, int fd);

/* Whether the ring has data: a recv finds some. */
bool sockets_stream_has_data(const struct sockets_stream *s);

/* Whether it is worth while to look, without a system call: the ring is not empty, or the sender
 * has given TCP more than was taken, which may still be on its way, or has ended.  A hint for those
 * who spin. */
bool sockets_stream_hint(const struct sockets_stream *s);

/* The caller slept from a time on, and was woken: learn how long that takes, as the peer says. */
void sockets_stream_learn_wake(const struct sockets_stream *s, uint64_t slept_at);

/* Nothing of the stream is in TCP, neither data nor a bell nor its end. */
bool sockets_stream_is_tcp_empty(const struct sockets_stream *s);

/* How much has ever arrived in the ring. */
uint64_t sockets_stream_arrived(const struct sockets_stream *s);

/* The kernel says that TCP is readable: whether a recv would find something, once a bell that
 * nobody needs any more is taken away; which is to be noted as taken, by whoever asks. */
bool sockets_stream_readable(struct sockets_stream *s, int fd);

/* Whether it is known that a send would find space, in the ring or in TCP. */
bool sockets_stream_has_space(const struct sockets_stream *s);

/* Around a sleep in the kernel in which data should wake the caller.  After _arm the caller looks
 * once more (sockets_stream_readable) before it sleeps. */
void sockets_stream_arm(struct sockets_stream *s);
void sockets_stream_disarm(struct sockets_stream *s);

/* The kernel has told of something in TCP which may be a bell that the carrier is still to tell of,
 * although there are data in the ring: then nobody takes it with these. */
bool sockets_stream_may_hear_of_bell(const struct sockets_stream *s);

/* The kernel has told somebody who waits of data, or of the end, and by an edge does so once: the
 * next read that finds the ring empty asks it. */
void sockets_stream_note_told(struct sockets_stream *s);

/* TCP has had something of which the carrier does not tell for so long that who waits should not
 * ask the kernel all the time, which tells of it again and again; but nap, for a millisecond.  0,
 * or -1 and errno, with the signal mask of a call if it has one. */
bool sockets_stream_is_withheld_long(const struct sockets_stream *s);
int sockets_stream_nap(const sigset_t *mask);

/* Who sleeps for this stream wakes for several, by a wake-up of any, and then looks at all: `value`
 * is unique to this sleep, and 0 for a stream that is woken for itself. */
void sockets_stream_sleep_together(struct sockets_stream *s, uint64_t value);

/* Called when something was taken from such a stream by a thread that may be another one.  Takes
 * the lock of the set. */
extern void (*sockets_stream_on_taken)(struct sockets_stream *s);

/* Whether who sleeps for this stream does so for several. */
static inline bool sockets_stream_sleeps_together(const struct sockets_stream *s)
{
    return __builtin_expect(atomic_load_explicit(&s->together, memory_order_relaxed), 0);
}

/* Something was taken, which may have been to wake a set of epoll for other streams, too.  Without
 * the lock of a set: who has that kicks it (sockets_entry_is_readable). */
static inline void sockets_stream_note_taken(struct sockets_stream *s)
{
    if (sockets_stream_sleeps_together(s))
        sockets_stream_on_taken(s);
}

/* This process has done something that others hear of from the kernel alone: what it then gives to
 * a ring is told of later. */
extern _Atomic uint32_t sockets_stream_any_upgraded;
void sockets_stream_note_kernel_now(bool other);
static inline void sockets_stream_note_kernel(bool other) /* by a file that has no rings */
{
    if (__builtin_expect(atomic_load_explicit(&sockets_stream_any_upgraded, memory_order_relaxed),
                         0))
        sockets_stream_note_kernel_now(other);
}

/* The order of the other end's data among connections is of interest from now on. */
static inline void sockets_stream_order(struct sockets_stream *s)
{
    if (!atomic_load_explicit(&s->rx->ordered, memory_order_relaxed))
        atomic_store(&s->rx->ordered, 1);
}

/* When its data began to be unread, and when its sender had last used the kernel, for anything or
 * for other files than connections with rings, as the peer says; after sockets_stream_has_data. */
uint64_t sockets_stream_since(const struct sockets_stream *s);
uint64_t sockets_stream_kernel_at(const struct sockets_stream *s);
uint64_t sockets_stream_other_at(const struct sockets_stream *s);

/* When this process last did. */
uint64_t sockets_stream_own_kernel_at(void);

/* A caller that waits for edges leaves data in the ring that it was woken for: let the sender ring
 * for what follows, too.  At most two bells are ever under way. */
void sockets_stream_expect_bell(struct sockets_stream *s, int fd);

#endif
