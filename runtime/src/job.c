/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job.c - a rank's endpoint and the messages over it.
 */
#include "boot.h"
#include "fault.h"
#include "heap.h"
#include "runtime.h"
#include "stats.h"
#include "status.h"
#include "trace.h"
#include "window.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unet/unet.h>

/* Everybody else takes it for constant, which it is once the program runs. */
extern struct splitc_job identity __asm__("splitc_job");
struct splitc_job identity = {.myproc = 0, .procs = 1, .procslog = 0};

struct splitc_runtime splitc_runtime = {.ranks = 1};

static struct unet_endpoint *endpoint;

static gam_handler_fn *const handler[SPLITC_MESSAGES] = {
    [SPLITC_MSG_READ] = splitc_on_read,
    [SPLITC_MSG_WRITE] = splitc_on_write,
    [SPLITC_MSG_WRITE_LANDED] = splitc_on_write_landed,
    [SPLITC_MSG_ANSWER] = splitc_on_answer,
    [SPLITC_MSG_BULK_READ] = splitc_on_bulk_read,
    [SPLITC_MSG_GET] = splitc_on_get,
    [SPLITC_MSG_GET_ANSWER] = splitc_on_get_answer,
    [SPLITC_MSG_PUT] = splitc_on_put,
    [SPLITC_MSG_PUT_LANDED] = splitc_on_put_landed,
    [SPLITC_MSG_GOT] = splitc_on_got,
    [SPLITC_MSG_PUT_DONE] = splitc_on_put_done,
    [SPLITC_MSG_STORE] = splitc_on_store,
    [SPLITC_MSG_STORE_LANDED] = splitc_on_store_landed,
    [SPLITC_MSG_ATOMIC] = splitc_on_atomic,
    [SPLITC_MSG_MASKED] = splitc_on_masked,
    [SPLITC_MSG_RUN] = splitc_on_run,
    [SPLITC_MSG_COLLECTIVE] = splitc_on_collective,
    [SPLITC_MSG_END] = splitc_on_end,
    [SPLITC_MSG_WAKE] = splitc_on_wake,
    [SPLITC_MSG_STATS] = splitc_on_stats,
    [SPLITC_MSG_TRACE] = splitc_on_trace,
};

static void check(int result, const char *what)
{
    if (result < 0)
        splitc_die("%s: %s", what, strerror(-result));
}

static void set_identity(const struct splitc_boot *boot)
{
    uint32_t ranks = boot->ranks;
    int log2 = 31 - __builtin_clz(ranks);

    splitc_runtime.rank = boot->rank;
    splitc_runtime.ranks = ranks;
    identity.myproc = (int)boot->rank;
    identity.procs = (int)ranks;
    identity.procslog = (ranks & (ranks - 1)) == 0 ? log2 : -1;
}

/* The backends' names, separated by blanks. */
static void list_backends(char *list, size_t room)
{
    const struct unet_ops *backend;
    size_t n = 0;

    list[0] = '\0';
    for (unsigned i = 0; (backend = unet_backend_at(i)) && n < room; i++)
        n += (size_t)snprintf(list + n, room - n, "%s%s", i ? " " : "", backend->name);
}

/* Within one process there is no need for shared memory. */
static const struct unet_ops *choose_backend(const struct splitc_boot *boot)
{
    const char *told = getenv("SPLITC_BACKEND");
    const char *name = told ? told : boot->ranks == 1 ? "loopback" : "shm";
    const struct unet_ops *backend = unet_backend(name);
    char list[128];

    if (!backend) {
        list_backends(list, sizeof list);
        splitc_die_together("there is no backend \"%s\"; SPLITC_BACKEND may be one of: %s", name,
                            list);
    }
    return backend;
}

static void check_reach(const struct splitc_boot *boot, const struct unet_ops *backend)
{
    if (boot->ranks > 1 && !(endpoint->capabilities & UNET_CAP_REMOTE))
        splitc_die_together("backend \"%s\" does not reach other processes, but the job has %u "
                            "ranks; unset SPLITC_BACKEND",
                            backend->name, boot->ranks);
    if (boot->local_ranks < boot->ranks)
        splitc_die_together("%u of the job's %u ranks are on this node, but backend \"%s\" "
                            "reaches only one node; start all ranks on one node",
                            boot->local_ranks, boot->ranks, backend->name);
}

static void open_endpoint(const struct splitc_boot *boot)
{
    const struct unet_ops *backend = choose_backend(boot);
    struct unet_config config = {0};

    int error;

    gam_endpoint_config(boot->ranks, 0, &config);
    error = unet_open(backend, &config, &endpoint);
    if (error)
        splitc_die_together(
            "backend \"%s\" cannot open an endpoint: %s%s", backend->name, strerror(-error),
            error == -ENOSYS ? "; the kernel, or a sandbox, lacks memfd_create" : "");
    check_reach(boot, backend);
}

static void open_messages(const struct splitc_boot *boot)
{
    struct gam_config config = {
        .ranks = boot->ranks, .rank = boot->rank, .resolve = splitc_boot_resolve};
    struct unet_address address;
    int error;

    unet_address(endpoint, &address);
    config.job = splitc_boot_publish(&address);
    error = gam_open(endpoint, &config, &splitc_runtime.gam);
    if (error)
        splitc_die_together(
            "cannot reach the other ranks: %s; they have to be processes of the same "
            "user, with /proc mounted",
            strerror(-error));
    for (uint32_t i = 1; i < SPLITC_MSG_PROBE; i++)
        check(gam_register(splitc_runtime.gam, i, handler[i]), "cannot register a handler");
    splitc_handlers_open();
}

void splitc_job_open(void)
{
    struct splitc_boot boot;
    struct splitc_heap_sizes sizes;

    splitc_boot_join(&boot);
    set_identity(&boot);
    splitc_status_open();
    splitc_stats_init();
    splitc_trace_init();
    splitc_windows_begin();
    splitc_progress_init(boot.local_ranks);
    open_endpoint(&boot);
    sizes = splitc_heap_sizes(boot.local_ranks);
    splitc_windows_offer(&boot, &sizes);
    open_messages(&boot);
    splitc_windows_open(&boot);
    splitc_spread_heap_open(sizes.spread);
    splitc_faults_watch();
}

/* Every rank comes here after its last message, so nobody misses this one's. */
void splitc_job_close(void)
{
    splitc_boot_meet();
    gam_close(splitc_runtime.gam);
    unet_close(endpoint);
    splitc_spread_heap_close();
    splitc_boot_leave();
}
