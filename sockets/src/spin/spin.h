/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spin.h - looking at memory for a while before the kernel is asked to wait.
 *
 * A waiter spins at most as long as UNETSOCK_SPIN says, and less where that was in vain the last
 * times.  If that says nothing it is 50 us, or what two wake-ups take on this machine, but no more
 * than 200 us: of two ends of which one was late once both would sleep from then on, each because
 * the other one has to be woken.  A waiter yields its processor now and then, so that on a machine
 * without a free one the peer gets it; and sleeps for a while where that has taken long, as others
 * have much to do there.
 */
#ifndef SOCKETS_SPIN_H
#define SOCKETS_SPIN_H

#include <stdbool.h>
#include <stdint.h>

struct sockets_spin {
    uint64_t start_ns, limit_ns;
    uint32_t turn;
    bool whole;        /* it is tried once more whether spinning is worth while */
    bool yielded_long; /* the core, to others */
    bool cut;          /* the waiter's own time ends before */
};

/* Read UNETSOCK_SPIN (microseconds; 0: never). */
void sockets_spin_init(void);

/* A wake-up took so long, from before the system call of who woke to behind that of who slept. */
void sockets_spin_learn(uint64_t ns);

/* What a waiter waits for. */
enum sockets_spin_for {
    SOCKETS_SPIN_NEAR,   /* an answer of this machine */
    SOCKETS_SPIN_FAR,    /* one of another host, which takes longer, as does being woken for it */
    SOCKETS_SPIN_STREAM, /* more of a stream: what is late has grown meanwhile */
};

/* Begin to spin.  A limit of 0: do not. */
void sockets_spin_begin(struct sockets_spin *spin, enum sockets_spin_for what);

/* The waiter does not wait for longer than `ns` at all. */
static inline void sockets_spin_cut(struct sockets_spin *spin, uint64_t ns)
{
    spin->cut = ns < spin->limit_ns;
    spin->limit_ns = spin->cut ? ns : spin->limit_ns;
}

/* One look later.  False when it is time to sleep, which counts as lost. */
bool sockets_spin_turn(struct sockets_spin *spin);

/* Whether it is time to ask the kernel, too, of who looks at rings alone: seldom, as that takes
 * longer than many looks, and not before others had the processor once. */
static inline bool sockets_spin_asks(const struct sockets_spin *spin)
{
    return spin->turn == 64 || spin->turn % 128 == 0;
}

/* Let others have the processor.  False: they have much to do, and who waits should sleep. */
bool sockets_spin_yield(void);

/* What was waited for has come. */
void sockets_spin_won(const struct sockets_spin *spin);

#endif
