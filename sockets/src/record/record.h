/* SPDX-License-Identifier: BSD-3-Clause
 *
 * record.h - what all processes that a fork gave one side of a connection have to agree on.
 *
 * Records lie in memory that forks share and the peer never sees: the private indices of the rings,
 * which phase each direction is in, how many processes hold the connection.  A process takes its
 * records from a pool of its own and keeps the mapping of its parent's.
 */
#ifndef SOCKETS_RECORD_H
#define SOCKETS_RECORD_H

#include "ring/ring.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A lock whose owner may be killed: whoever waits looks whether the owner still lives. */
struct sockets_lock {
    _Atomic uint32_t owner; /* thread, or 0 */
};

/* Why a connection is, or stays, with the kernel. */
enum sockets_reason {
    SOCKETS_YOUNG,     /* has not seen enough operations */
    SOCKETS_UPGRADED,  /* it is in the rings */
    SOCKETS_REMOTE,    /* the peer is on another machine */
    SOCKETS_FOREIGN,   /* the peer does not answer: another program, or one without this library */
    SOCKETS_STRANGER,  /* the peer belongs to another user */
    SOCKETS_SHARED,    /* another process has the connection, too */
    SOCKETS_PINNED,    /* the program uses what only the kernel does */
    SOCKETS_RESOURCES, /* no memory or descriptor was left */
    SOCKETS_MANY,      /* one of many to other hosts */
    SOCKETS_PATH,      /* the path between the hosts died */
    SOCKETS_NETWORK,   /* the network between hosts cannot be opened here */
    SOCKETS_SILENT,    /* nobody with our key was met on the peer's host */
    SOCKETS_NO_PATH,   /* the peer was met, but the network does not lead there */
    SOCKETS_BROKEN,    /* the peer broke the rules of the ring */
    SOCKETS_REASONS,
};

/* How far a bell is: it may be expected; it is counted, but TCP does not have it; TCP has it. */
enum sockets_bell { SOCKETS_BELL_RUNG, SOCKETS_BELL_MEANT, SOCKETS_BELL_COUNTED };

enum { SOCKETS_WATCHED = 5 };

struct sockets_record {
    _Atomic uint32_t used;                     /* taken from the pool */
    _Atomic uint32_t holders;                  /* processes that have it open */
    _Atomic uint64_t watched[SOCKETS_WATCHED]; /* of them: their deaths are noticed (watch.c) */
    _Atomic uint32_t nonblocking;
    _Atomic uint32_t reason; /* enum sockets_reason */
    _Atomic uint32_t ops, next_try, tries;
    _Atomic uint64_t first_ns, last_ns; /* when the first try was, and the last */
    uint64_t sent, received;            /* to another host, when it was looked at ... */
    uint32_t looks;                     /* ... before it is to be met */
    _Atomic uint32_t counted;
    _Atomic uint32_t asked_nodelay; /* what the program believes */
    _Atomic uint32_t prompt;        /* TCP holds nothing back, whatever that is (prompt.c) */
    _Atomic uint32_t pinned;        /* stays with the kernel, or goes back to it */
    int32_t fd;                     /* for people: the descriptor with which it began */

    struct {
        struct sockets_lock lock;
        uint32_t phase;
        uint64_t head;
        uint64_t taken;
        uint32_t drained;        /* bells taken from TCP */
        uint32_t empty;          /* vain turns since the kernel was last asked */
        _Atomic uint32_t told;   /* the kernel has told somebody who waits of data, or of the end */
        _Atomic uint32_t shut;   /* by this end, which wants to hear of the end without delay */
        uint32_t reader;         /* thread that has the gate */
        _Atomic uint64_t streak; /* bytes received since anything was sent; sender sets it, too */
        int error;               /* what the kernel told when nobody had asked */
        uint64_t killed_ns;      /* when TCP had ended and the carrier had not said so, */
        int killed_error;        /* and how: the kernel tells of a reset once */
        _Atomic uint32_t eof;
        _Atomic uint32_t wakeful;  /* only the kernel knows how long to sleep (doze.c) */
        _Atomic uint32_t recalled; /* nobody reads the ring: what lay there comes by TCP */
    } rx;
    _Alignas(64) struct {
        struct sockets_lock lock;
        uint32_t phase;
        struct sockets_writer ring;
        uint64_t sent;
        uint32_t bells;
        uint8_t bell;                    /* enum sockets_bell: the last one */
        bool orphaned;                   /* an owner of the lock has died (stream/bell.c) */
        uint32_t inflight;               /* threads that write to TCP without the lock */
        uint64_t streak;                 /* bytes sent since anything was received */
        uint32_t strikes;                /* how often the receiver held the gate for long */
        uint64_t looked_ns, looked_head; /* when it was last asked whether the peer lives */
        uint64_t next_quiet, quiet_step; /* of `sent`: when to wait for the ring again (quiet.c) */
        uint64_t writes, next_writes;    /* the same of calls that may block */
        uint64_t owed_end, owed_until;   /* recalled: up to there, when `sent` is so much */
        _Atomic uint32_t returned;       /* the phase in which that was in the ring */
        _Atomic uint32_t shut;           /* enum sockets_shut */
    } tx;
};

/* How far shutdown(SHUT_WR) is. */
enum sockets_shut {
    SOCKETS_SHUTTING = 1, /* it is about to be given to the kernel ... */
    SOCKETS_SHUT, /* ... which takes no more bytes from this end, and says so to who sends */
};

/* What `unetsock --stats` adds up over all processes, and --explain shows of one. */
struct sockets_counters {
    _Atomic uint64_t connections;
    _Atomic uint64_t reason[SOCKETS_REASONS]; /* at close */
    _Atomic uint64_t ring_bytes, tcp_bytes;   /* sent by connections that were upgraded */
    _Atomic uint64_t bells, sleeps, spins_won, spins_lost;
    _Atomic uint64_t
        deferred;             /* changes of epoll sets of which the kernel hears later, if at all */
    _Atomic uint64_t answers; /* polls of several that rings alone have answered */
    _Atomic uint64_t joined;  /* sleeps on the core of the other end */
    _Atomic uint64_t shared;  /* messages to other hosts that waited for others of their packet */
    _Atomic uint64_t broken;
};

enum { SOCKETS_RECORDS = 65536, SOCKETS_POOL_MAGIC = 0x736f636b, SOCKETS_POOL_VERSION = 7 };

/* The pool, as it lies in memory; `unetsock --explain` reads it from another process. */
struct sockets_pool {
    uint32_t magic, version, pid, records;
    struct sockets_counters counters;
    _Atomic uint32_t hint; /* where the search for a free record starts */
    _Alignas(64) struct sockets_record record[SOCKETS_RECORDS];
};

extern struct sockets_counters *sockets_counters; /* never null after sockets_record_init */

/* Use the counters of the file that UNETSOCK_STATS names, or those of the own pool. */
void sockets_record_init(void);

/* A child begins with a pool of its own. */
void sockets_record_after_fork(void);

/* A record of one holder, or NULL if all are taken. */
struct sockets_record *sockets_record_new(void);

/* Count what became of a record's connection, once. */
void sockets_record_count(struct sockets_record *record);

/* Give a record up.  True for its last holder, which may then free what belongs to it; the record
 * itself is free. */
bool sockets_record_drop(struct sockets_record *record);

/* The same for another process, which has it no more. */
bool sockets_record_give_up(struct sockets_record *record);

/* Processes that end without giving a record up (watch.c).  This one shares it with others from now
 * on, or is a child, which has inherited it; it ends, and tells the peer nothing more; or it has
 * given the record up.  Five at a time are watched, others hold the record for ever. */
void sockets_record_watch(struct sockets_record *record);
void sockets_record_inherit(struct sockets_record *record);
void sockets_record_end(struct sockets_record *record);
void sockets_record_unwatch(struct sockets_record *record);

/* A program that does not have the record is about to be executed, or that has failed. */
void sockets_record_exec(struct sockets_record *record, bool failed);

/* Give the record up for those who are dead.  Whether there was any. */
bool sockets_record_settle(struct sockets_record *record);

/* This process has forbidden itself to ask who lives. */
void sockets_record_never_settle(void);

/* As the process begins, and in the child of a fork; and whether it has inherited a filter of
 * system calls, which may kill who makes others than the program. */
void sockets_watch_init(void);
void sockets_watch_after_fork(void);
bool sockets_process_is_filtered(void);

/* Whether no other process has it open, by as much as is known; and whether none but those that
 * end, or execute a program without it, will say anything of it. */
bool sockets_record_settles_to_sole(struct sockets_record *record);
bool sockets_record_is_last(struct sockets_record *record);
static inline bool sockets_record_is_sole(struct sockets_record *record)
{
    return __builtin_expect(atomic_load_explicit(&record->holders, memory_order_relaxed) == 1, 1) ||
           sockets_record_settles_to_sole(record);
}

/* Take the lock, spinning and then yielding; takes over from an owner that died (*stolen).  False
 * if this very thread holds it: a signal handler has interrupted it. */
bool sockets_lock_take(struct sockets_lock *lock, bool *stolen);
void sockets_lock_give(struct sockets_lock *lock);

/* The same without waiting; false if anybody has it. */
bool sockets_lock_try(struct sockets_lock *lock);

/* One more turn, counted from 1, of a loop that waits for a thread which is about to do something.
 * It keeps errno. */
void sockets_wait_turn(uint32_t turn);

/* The calling thread, never 0, and whether one has ended.  A process may outlive its first thread.
 */
uint32_t sockets_thread_id(void);
bool sockets_thread_is_dead(uint32_t thread);
bool sockets_process_is_dead(uint32_t process);

/* The first `size` - 1 bytes of a file of /proc, and a null byte; by calls at which no thread is
 * cancelled.  Returns how many there are: 0 if it cannot be read. */
size_t sockets_read_proc(const char *path, char *text, size_t size);

/* Forget who this thread is, in the child of a fork. */
void sockets_lock_after_fork(void);

const char *sockets_reason_text(enum sockets_reason reason);

#endif
