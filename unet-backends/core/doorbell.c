/* SPDX-License-Identifier: BSD-3-Clause
 *
 * doorbell.c - how a sleeping receiver is woken.
 *
 * The doorbell is a pipe: unlike an eventfd it can be opened anew by another process
 * through /proc and can raise SIGIO.
 *
 * A sender publishes its message, then looks whether the other side is armed; that one
 * arms, then looks for messages.  Both need a full fence in between, and sending
 * happens far more often than going to sleep.  So the one that arms makes both: membarrier
 * is a fence in every running thread of the processes that have registered for it.
 */
#include "core/core.h"
#include <unet/unet_rest.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

int unet_bell_open(int bell[2])
{
    return pipe2(bell, O_CLOEXEC | O_NONBLOCK) == 0 ? 0 : -errno;
}

void unet_bell_close(int bell[2])
{
    for (int i = 0; i < 2; i++) {
        if (bell[i] >= 0)
            close(bell[i]);
        bell[i] = -1;
    }
}

void unet_bell_drain(int bell_read)
{
    char rung[64];
    ssize_t n;

    do
        n = read(bell_read, rung, sizeof rung);
    while (n == (ssize_t)sizeof rung || (n < 0 && errno == EINTR));
}

/* ---- fences ------------------------------------------------------------------- */

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

/* Registering again does no harm. */
bool unet_fences_for_others(void)
{
    return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

void unet_rest_prepare(void)
{
    unet_fences_for_others();
}

/* The expedited command fails when the kernel is short of memory; the slow one never does. */
static void fence_everywhere(void)
{
    while (membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) < 0 && membarrier(MEMBARRIER_CMD_GLOBAL) < 0)
        ;
}

/* ---- arming --------------------------------------------------------------------- */

void unet_bell_arm(struct unet_endpoint *ep, uint32_t conditions)
{
    ep->armings++;
    __atomic_store_n(ep->armed, ep->armings << UNET_ARMED_SHIFT | conditions, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* F, matches E */
    if (ep->fences_for_others)
        fence_everywhere(); /* F and E */
}

void unet_bell_disarm(struct unet_endpoint *ep)
{
    __atomic_store_n(ep->armed, 0, __ATOMIC_RELAXED);
}

void unet_bell_ring(int bell_write, uint32_t *armed, uint32_t seen)
{
    ssize_t n;

    /* If the pipe is full, the receiver will wake up anyway. */
    do
        n = write(bell_write, "", 1);
    while (n < 0 && errno == EINTR);
    __atomic_compare_exchange_n(armed, &seen, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
