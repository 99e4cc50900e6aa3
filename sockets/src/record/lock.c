/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lock.c - locks between processes, whose owner may be killed at any instruction.
 */
#include "record/pause.h"
#include "record/record.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SPINS = 100,
    YIELDS = 256,        /* turns after which the other one is taken to get no core from yielding */
    NAP_NS = 50000,      /* and how long then nobody looks */
    TURNS_PER_LOOK = 128 /* whether the owner lives */
};

static _Thread_local uint32_t self __attribute__((tls_model("initial-exec")));

uint32_t sockets_thread_id(void)
{
    if (__builtin_expect(self == 0, 0))
        self = (uint32_t)syscall(SYS_gettid);
    return self;
}

void sockets_lock_after_fork(void)
{
    self = 0;
}

size_t sockets_read_proc(const char *path, char *text, size_t size)
{
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : syscall(SYS_read, fd, text, size - 1);

    if (fd >= 0)
        syscall(SYS_close, fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

/* One that was killed, and whose parent has not asked for its status, can still be sent signals.
 * Its state stands behind its name, which may have any character in it; how many threads its
 * process has left, it among them, 17 fields later.  Returns that, or 0. */
static int zombie_threads(uint32_t thread)
{
    char path[32], text[256], *name_end, state = '?';
    int threads = 0;

    snprintf(path, sizeof(path), "/proc/%u/stat", thread);
    sockets_read_proc(path, text, sizeof(text));
    name_end = strrchr(text, ')');
    if (!name_end ||
        sscanf(name_end, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d",
               &state, &threads) < 1)
        return 0;
    return state != 'Z' && state != 'X' ? 0 : threads > 0 ? threads : 1;
}

/* A process has the number of its first thread, which others may outlive. */
static bool is_dead(uint32_t thread, int most_threads)
{
    const int before = errno;
    bool dead = kill((pid_t)thread, 0) < 0 && errno == ESRCH;

    if (!dead) {
        const int threads = zombie_threads(thread);
        dead = threads > 0 && threads <= most_threads;
    }
    errno = before;
    return dead;
}

bool sockets_thread_is_dead(uint32_t thread)
{
    return is_dead(thread, INT_MAX);
}

bool sockets_process_is_dead(uint32_t process)
{
    return is_dead(process, 1);
}

/* Who yields goes on at once where the other one has a lower priority and this core. */
void sockets_wait_turn(uint32_t turn)
{
    static const struct timespec nap = {.tv_nsec = NAP_NS};
    const int before = errno;

    if (turn < YIELDS)
        sched_yield();
    else
        syscall(SYS_nanosleep, &nap, NULL); /* at which no thread is cancelled */
    errno = before;
}

static bool wait_for(struct sockets_lock *lock, uint32_t me, bool *stolen)
{
    for (uint32_t turn = 1;; turn++) {
        uint32_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);

        if (owner == me)
            return false;
        if (owner == 0 && atomic_compare_exchange_weak(&lock->owner, &owner, me))
            return true;
        if (turn < SPINS) {
            sockets_pause();
            continue;
        }
        if (turn % TURNS_PER_LOOK == 0 && owner != 0 && sockets_thread_is_dead(owner) &&
            atomic_compare_exchange_strong(&lock->owner, &owner, me)) {
            *stolen = true;
            return true;
        }
        sockets_wait_turn(turn - SPINS + 1);
    }
}

bool sockets_lock_take(struct sockets_lock *lock, bool *stolen)
{
    const uint32_t me = sockets_thread_id();
    uint32_t none = 0;

    *stolen = false;
    if (__builtin_expect(atomic_compare_exchange_strong(&lock->owner, &none, me), 1))
        return true;
    return wait_for(lock, me, stolen);
}

bool sockets_lock_try(struct sockets_lock *lock)
{
    uint32_t none = 0;

    return atomic_compare_exchange_strong(&lock->owner, &none, sockets_thread_id());
}

void sockets_lock_give(struct sockets_lock *lock)
{
    atomic_store_explicit(&lock->owner, 0, memory_order_release);
}
