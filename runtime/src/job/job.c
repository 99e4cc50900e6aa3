/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job.c - joining and leaving a job, and the table of its messages.
 */
#include "job.h"

#include "boot.h"
#include "endpoints.h"
#include "keeper.h"
#include "share.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <split-c/settings.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unet/unet.h>
#include <unet/unet_rest.h>
#include <unistd.h>

#define END_NAP_MS 1 /* between two looks whether all have come: PMIx wakes nobody */

/* abi.h declares it constant, because it is once the program runs. */
extern struct splitc_job identity __asm__("splitc_job");
struct splitc_job identity = {.myproc = 0, .procs = 1, .procslog = 0};

struct splitc_runtime splitc_runtime = {.ranks = 1};

static struct splitc_endpoints endpoints;

static gam_handler_fn *const handler[SPLITC_MESSAGES] = {
    [SPLITC_MSG_READ] = splitc_on_read,
    [SPLITC_MSG_WRITE] = splitc_on_write,
    [SPLITC_MSG_WRITE_LANDED] = splitc_on_write_landed,
    [SPLITC_MSG_ANSWER] = splitc_on_answer,
    [SPLITC_MSG_UNCHANGED] = splitc_on_unchanged,
    [SPLITC_MSG_BULK_READ] = splitc_on_bulk_read,
    [SPLITC_MSG_GET] = splitc_on_get,
    [SPLITC_MSG_GET_ANSWER] = splitc_on_get_answer,
    [SPLITC_MSG_PUT] = splitc_on_put,
    [SPLITC_MSG_PUT_LANDED] = splitc_on_put_landed,
    [SPLITC_MSG_GOT] = splitc_on_got,
    [SPLITC_MSG_PUT_DONE] = splitc_on_put_done,
    [SPLITC_MSG_STORE] = splitc_on_store,
    [SPLITC_MSG_STORE_LANDED] = splitc_on_store_landed,
    [SPLITC_MSG_RECORDS] = splitc_on_records,
    [SPLITC_MSG_RECORDS_DONE] = splitc_on_records_done,
    [SPLITC_MSG_ATOMIC] = splitc_on_atomic,
    [SPLITC_MSG_ATOMIC_DONE] = splitc_on_atomic_done,
    [SPLITC_MSG_MASKED] = splitc_on_masked,
    [SPLITC_MSG_RUN] = splitc_on_run,
    [SPLITC_MSG_RUN_GET] = splitc_on_run_get,
    [SPLITC_MSG_COLLECTIVE] = splitc_on_collective,
    [SPLITC_MSG_INQUIRY] = splitc_on_inquiry,
    [SPLITC_MSG_NEVER] = splitc_on_never,
    [SPLITC_MSG_PIECE] = splitc_on_piece,
    [SPLITC_MSG_TAKEN] = splitc_on_taken,
    [SPLITC_MSG_PULLED] = splitc_on_pulled,
    [SPLITC_MSG_END] = splitc_on_end,
    [SPLITC_MSG_WAKE] = splitc_on_wake,
    [SPLITC_MSG_STATS] = splitc_on_stats,
    [SPLITC_MSG_TRACE] = splitc_on_trace,
    [SPLITC_MSG_PROFILE] = splitc_on_profile,
    [SPLITC_MSG_DIRECT_ASK] = splitc_on_direct_ask,
    [SPLITC_MSG_DIRECT_READY] = splitc_on_direct_ready,
    [SPLITC_MSG_DIRECT_CHECK] = splitc_on_direct_check,
    [SPLITC_MSG_DIRECT_LANDED] = splitc_on_direct_landed,
    [SPLITC_MSG_XFER] = splitc_on_xfer,
    [SPLITC_MSG_XFER_LARGE] = splitc_on_xfer_large,
};

static void job_check(int result, const char *what)
{
    if (result < 0)
        splitc_die("%s: %s", what, strerror(-result));
}

static void job_set_identity(const struct splitc_boot *boot)
{
    uint32_t ranks = boot->ranks;
    int log2 = 31 - __builtin_clz(ranks);

    splitc_runtime.rank = boot->rank;
    splitc_runtime.ranks = ranks;
    identity.myproc = (int)boot->rank;
    identity.procs = (int)ranks;
    identity.procslog = (ranks & (ranks - 1)) == 0 ? log2 : -1;
}

/* The setting is in seconds; 0: there is none. */
static uint32_t peer_timeout_ms(void)
{
    const char *setting = getenv("SPLITC_PEER_TIMEOUT");
    uint32_t ms = setting ? splitc_told_ms(setting) : 0;

    if (setting && ms == 0)
        splitc_die_together("SPLITC_PEER_TIMEOUT is \"%s\": it is a number of seconds from 0.1 to "
                            "86400",
                            setting);
    return ms;
}

/* Whom the ranks trust that can send to them. */
static enum reliable_auth authentication(void)
{
    static const enum reliable_auth mode[] = {RELIABLE_AUTH_FULL, RELIABLE_AUTH_HEADER,
                                              RELIABLE_AUTH_OFF};
    const char *setting = getenv("SPLITC_AUTH");
    const int told = setting ? splitc_told_auth(setting) : 0;

    if (told < 0)
        splitc_die_together("SPLITC_AUTH is \"%s\": it is full, header or off", setting);
    return mode[told];
}

/* Which bulk goes by TCP. */
static void streams(struct reliable_config *protect)
{
    const char *setting = getenv("SPLITC_STREAMS");

    if (setting && strcmp(setting, "0") == 0)
        return;
    protect->stream_bytes = RELIABLE_STREAM_BYTES;
    protect->stream_after = setting ? splitc_told_bytes(setting) : RELIABLE_STREAM_AFTER;
    if (protect->stream_after == 0)
        splitc_die_together("SPLITC_STREAMS is \"%s\": it is bytes, as in 512K, or 0", setting);
}

static void job_open_messages(const struct splitc_boot *boot)
{
    struct reliable_config protect = {
        .ranks = boot->ranks,
        .rank = boot->rank,
        .peer_timeout_ms = peer_timeout_ms(),
        .auth = authentication(),
    };
    struct gam_config config = {
        .ranks = boot->ranks, .rank = boot->rank, .resolve = splitc_endpoints_resolve};
    int error;

    streams(&protect);
    splitc_boot_publish(protect.key);
    memcpy(config.key, protect.key, sizeof config.key);
    splitc_endpoints_protect(&endpoints, &protect);
    if (endpoints.near)
        config.network = endpoints.network;
    error =
        gam_open(endpoints.near ? endpoints.near : endpoints.network, &config, &splitc_runtime.gam);
    if (error)
        splitc_die_together(
            "cannot reach the other ranks: %s; those of one node have to be processes of the same "
            "user, with /proc mounted",
            strerror(-error));
    for (uint32_t i = 1; i < SPLITC_MSG_PROBE; i++)
        job_check(gam_register(splitc_runtime.gam, i, handler[i]), "cannot register a handler");
    splitc_am_open();
    splitc_direct_open();
}

/* A rank that only a network reaches shares memory with nobody. */
static void job_choose_neighbours(struct splitc_boot *boot)
{
    boot->windows = endpoints.near && boot->ranks > 1;
    if (endpoints.near)
        return;
    boot->local = &splitc_runtime.rank;
    boot->local_ranks = 1;
}

/* Where exec has given this process capabilities of its file, it has also closed its memory to
 * other processes of the user, which map it, and has cleared the signal for the death of unetrun.
 */
static void job_undo_secure_exec(void)
{
    if (getuid() == geteuid() && getgid() == getegid())
        prctl(PR_SET_DUMPABLE, 1);
    if (getenv("SPLITC_JOB_KEY"))
        prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void splitc_job_open(void)
{
    struct splitc_boot boot;
    struct splitc_heap_sizes sizes;

    if (getauxval(AT_SECURE))
        job_undo_secure_exec();
    unet_rest_prepare(); /* PMIx starts threads */
    splitc_boot_join(&boot);
    job_set_identity(&boot);
    splitc_observers_open();
    splitc_window_open_own();
    sizes = splitc_heap_sizes(boot.local_ranks);
    splitc_endpoints_open(&boot, &endpoints);
    splitc_progress_open(boot.local_ranks, endpoints.network != NULL);
    job_choose_neighbours(&boot);
    splitc_share_offer(&boot, &sizes);
    splitc_teams_init(boot.local, boot.local_ranks);
    job_open_messages(&boot);
    splitc_share_open(&boot);
    splitc_teams_open();
    splitc_spread_open(sizes.spread);
    if (!splitc_window_memory())
        splitc_heap_reserve();
    splitc_fault_watch();
    splitc_keeper_start(endpoints.near, endpoints.network);
    splitc_coalesce_open();
}

/* First everything that this rank has sent has to be acknowledged.  Then it waits until all ranks
 * have come so far, because a rank that has left counts as dead to those that still use messages.
 */
static void job_wait_for_all(void)
{
    struct splitc_wait w = {.kind = SPLITC_WAIT_END,
                            .what = "its end",
                            .whom = SPLITC_ANYBODY,
                            .tries = 1}; /* an acknowledgement ends it, which is no message */

    while (splitc_direct_busy || !gam_settled(splitc_runtime.gam))
        splitc_wait_step_unrung(&w);
    splitc_wait_end(&w);
    splitc_boot_meet();
    while (!splitc_boot_met())
        if (gam_wait(splitc_runtime.gam, END_NAP_MS) == -EPIPE)
            sched_yield();
}

/* Every rank calls this after its last message, so none misses a message of this rank. */
void splitc_job_close(void)
{
    job_wait_for_all();
    gam_close(splitc_runtime.gam);
    splitc_endpoints_close(&endpoints);
    splitc_spread_heap_close();
    splitc_boot_leave();
}
