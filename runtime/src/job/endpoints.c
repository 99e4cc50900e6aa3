/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoints.h"

#include "boot.h"
#include "observe/observe.h"
#include "program.h"

#include <errno.h>
#include <split-c/settings.h>
#include <stdio.h>
#include <stdlib.h>
#include <unet/unet.h>
#include <unet/unet_chaos.h>

#define PLACES_KEY "splitc.places"

/* The addresses of a rank's endpoints; one of no length means that it has no such endpoint. */
struct places {
    struct unet_address near, network;
    uint32_t first;   /* the first rank of its node */
    uint64_t program; /* what it runs (program.h); 0: not known */
};

static struct places ours;
static uint32_t *local; /* one bit per rank: messages reach it without a network */
static bool one_way;    /* there is one endpoint, which reaches all ranks */
static bool by_default; /* the user has chosen no backend, so another one may do */
static uint32_t *first; /* the first rank of each node */
static uint32_t nodes;

/* ---- which backends ------------------------------------------------------------- */

/* The backends' names, separated by blanks. */
static void list_backends(char *list, size_t room)
{
    const struct unet_ops *backend;
    size_t n = 0;

    list[0] = '\0';
    for (unsigned i = 0; (backend = unet_backend_at(i)) && n < room; i++)
        n += (size_t)snprintf(list + n, room - n, "%s%s", i ? " " : "", backend->name);
}

/* The network that unetrun has found on all nodes, or else udp, which every node has. */
static const struct unet_ops *common_network(void)
{
    const char *found = getenv("SPLITC_NETWORK");
    const struct unet_ops *backend = found ? unet_backend(found) : NULL;

    return backend && backend->network ? backend : unet_backend("udp");
}

/* Within one process there is no need for shared memory. */
static struct splitc_backends plan_automatic(const struct splitc_boot *boot)
{
    by_default = true;
    return (struct splitc_backends){.near = unet_backend(boot->ranks == 1 ? "loopback" : "shm"),
                                    .network =
                                        boot->local_ranks < boot->ranks ? common_network() : NULL};
}

static _Noreturn void refuse_backends(const char *text, int error)
{
    char list[128];

    if (error == -EINVAL)
        splitc_die_together("SPLITC_BACKEND is \"%s\": of two backends the first is for the ranks "
                            "of a node, and the second a network between nodes, as in shm,udp",
                            text);
    list_backends(list, sizeof list);
    splitc_die_together("there is no backend \"%s\"; SPLITC_BACKEND may be one of: %s; or two, "
                        "for this node and for others: shm,udp; or auto",
                        text, list);
}

static struct splitc_backends plan_setting(const struct splitc_boot *boot, const char *text)
{
    struct splitc_backends plan;
    const int error = splitc_told_backends(text, &plan);

    if (error)
        refuse_backends(text, error);
    if (!plan.near && !plan.network)
        return plan_automatic(boot);
    if (plan.near && boot->local_ranks == boot->ranks)
        plan.network = NULL;
    return plan;
}

static struct splitc_backends plan_backends(const struct splitc_boot *boot)
{
    const char *text = getenv("SPLITC_BACKEND");
    const struct splitc_backends plan = text ? plan_setting(boot, text) : plan_automatic(boot);

    if (!plan.network && boot->local_ranks < boot->ranks)
        splitc_die_together("%u of the job's %u ranks are on this node, but backend \"%s\" "
                            "reaches only one node; use shm,udp, or start all ranks on one node",
                            boot->local_ranks, boot->ranks, plan.near->name);
    return plan;
}

/* ---- opening ---------------------------------------------------------------------- */

/* Each rank gets a seed of its own. */
static bool chaos_setting(uint32_t rank, struct unet_chaos *chaos)
{
    const char *text = getenv("SPLITC_CHAOS");

    if (text && unet_chaos_parse(text, chaos) < 0)
        splitc_die_together("SPLITC_CHAOS is \"%s\": it may be "
                            "loss=P,dup=P,reorder=P,truncate=P,flip=P,seed=N, or some of it, with "
                            "probabilities P from 0 to 1",
                            text);
    chaos->seed += rank;
    return text != NULL;
}

static _Noreturn void cannot_open(const struct unet_ops *backend, int error)
{
    const char *variable = backend->place ? backend->place : "UNET_INTERFACE";
    const char *place = backend->network ? getenv(variable) : NULL;
    const char *remedy = unet_remedy(backend, error);

    splitc_die_together("backend \"%s\" cannot open an endpoint%s%s: %s%s%s", backend->name,
                        place ? " at " : "", place ? place : "", strerror(-error),
                        remedy[0] ? "; " : "", remedy);
}

/* Chaos makes any network unreliable. */
static bool is_reliable(const struct unet_ops *backend)
{
    return backend->reliable && !getenv("SPLITC_CHAOS");
}

static int try_to_open(const struct splitc_boot *boot, const struct unet_ops *backend,
                       struct unet_endpoint **endpoint)
{
    struct unet_config config = {0};
    struct unet_chaos chaos = {0};

    if (!backend->network) {
        gam_endpoint_config(boot->ranks, 0, &config);
        return unet_open(backend, &config, endpoint);
    }
    if (is_reliable(backend))
        gam_network_config(boot->ranks, 0, &config);
    else
        reliable_lower_config(boot->ranks, &config);
    if (chaos_setting(boot->rank, &chaos))
        return unet_chaos_open(backend, &chaos, &config, endpoint);
    return unet_open(backend, &config, endpoint);
}

/* All ranks of a node have the same limits, so all of them fall back.  That is no error; unetrun -v
 * shows it. */
static void do_without_near(struct splitc_backends *plan, int error)
{
    if (!plan->network)
        plan->network = common_network();
    if (splitc_is_verbose())
        fprintf(stderr, "splitc: rank %u: no messages by %s: %s; by %s instead\n",
                splitc_runtime.rank, plan->near->name, strerror(-error), plan->network->name);
    plan->near = NULL;
}

static struct unet_endpoint *open_near(const struct splitc_boot *boot, struct splitc_backends *plan)
{
    struct unet_endpoint *endpoint;
    const int error = try_to_open(boot, plan->near, &endpoint);

    if (!error)
        return endpoint;
    if (!by_default || error != -EFBIG) /* other errors are for the user to fix */
        cannot_open(plan->near, error);
    do_without_near(plan, error);
    return NULL;
}

static struct unet_endpoint *open_network(const struct splitc_boot *boot,
                                          const struct unet_ops *backend)
{
    struct unet_endpoint *endpoint;
    int error;

    if (boot->local_ranks < boot->ranks) /* by default they reach this machine alone */
        setenv("UNET_INTERFACE", "auto", 0);
    error = try_to_open(boot, backend, &endpoint);
    if (error)
        cannot_open(backend, error);
    if (splitc_is_verbose() && endpoint->about[0])
        fprintf(stderr, "splitc: rank %u: %s over %s\n", boot->rank, backend->name,
                endpoint->about);
    return endpoint;
}

static void check_reach(const struct splitc_boot *boot, const struct unet_endpoint *near)
{
    if (boot->ranks > 1 && !(near->capabilities & UNET_CAP_REMOTE))
        splitc_die_together("backend \"%s\" does not reach other processes, but the job has %u "
                            "ranks; unset SPLITC_BACKEND",
                            near->ops->name, boot->ranks);
}

static void list_local_ranks(const struct splitc_boot *boot)
{
    local = calloc(boot->ranks / 32 + 1, sizeof *local);
    first = calloc(boot->ranks, sizeof *first);
    if (!local || !first)
        splitc_die("no memory for the lists of nodes and their ranks");
    for (uint32_t i = 0; i < boot->local_ranks && ours.near.length > 0; i++)
        local[boot->local[i] / 32] |= 1u << boot->local[i] % 32;
    splitc_runtime.local = local;
    ours.first = boot->local[0];
}

void splitc_endpoints_open(const struct splitc_boot *boot, struct splitc_endpoints *endpoints)
{
    struct splitc_backends plan = plan_backends(boot);
    struct splitc_endpoints opened = {NULL, NULL};

    if (getenv("SPLITC_CHAOS") && !plan.network)
        splitc_die_together(
            "SPLITC_CHAOS (unetrun --chaos) is for networks, but no rank is reached "
            "by one; choose one with SPLITC_BACKEND (unetrun --backend udp)");
    if (plan.near)
        opened.near = open_near(boot, &plan);
    if (opened.near) {
        check_reach(boot, opened.near);
        unet_address(opened.near, &ours.near);
    }
    if (plan.network) {
        opened.network = open_network(boot, plan.network);
        splitc_runtime.carrier = plan.network;
        unet_address(opened.network, &ours.network);
    }
    one_way = !opened.near || !opened.network;
    list_local_ranks(boot);
    ours.program = boot->ranks > 1 ? splitc_program_digest() : 0;
    splitc_boot_tell(PLACES_KEY, &ours, sizeof ours);
    *endpoints = opened;
}

void splitc_endpoints_protect(struct splitc_endpoints *endpoints,
                              const struct reliable_config *config)
{
    struct unet_config sizes = {0};
    int error;

    splitc_runtime.network = endpoints->network;
    if (!endpoints->network || endpoints->network->capabilities & UNET_CAP_RELIABLE)
        return;
    gam_network_config(config->ranks, 0, &sizes);
    error = reliable_open(endpoints->network, config, &sizes, &splitc_runtime.protocol);
    if (error)
        splitc_die_together("backend \"%s\" cannot be made reliable: %s",
                            endpoints->network->ops->name, strerror(-error));
    endpoints->network = splitc_runtime.network = splitc_runtime.protocol;
}

void splitc_endpoints_close(const struct splitc_endpoints *endpoints)
{
    unet_close(endpoints->near);
    unet_close(endpoints->network);
    splitc_runtime.network = splitc_runtime.protocol = NULL;
    free(local);
    free(first);
}

/* ---- where the others are ------------------------------------------------------------ */

static void check_program(uint32_t rank, uint64_t theirs)
{
    if (theirs == ours.program || theirs == 0 || ours.program == 0)
        return;
    splitc_die_together("rank %u runs another program than rank %u, or another build of it; ranks "
                        "name static objects and functions by their addresses, so all have to run "
                        "one executable: link both into one that branches on MYPROC, and install "
                        "it on all hosts (unetrun --stage sends it)",
                        rank, splitc_runtime.rank);
}

int splitc_endpoints_resolve(void *arg, uint32_t rank, struct unet_address *address)
{
    const bool far = !(local[rank / 32] >> rank % 32 & 1);
    struct places theirs = ours;
    struct unet_address *place = far ? &theirs.network : &theirs.near;

    (void)arg;
    if (rank != splitc_runtime.rank &&
        splitc_boot_ask(rank, PLACES_KEY, &theirs, sizeof theirs) < 0)
        return -EHOSTUNREACH;
    check_program(rank, theirs.program);
    if (theirs.first == rank)
        first[nodes++] = rank;
    if (place->length == 0 || place->length > UNET_ADDRESS_MAX)
        return -EHOSTUNREACH;
    *address = *place;
    if (far && splitc_runtime.protocol && reliable_address(place, rank, address) != 0)
        return -EHOSTUNREACH;
    return far && !one_way ? 1 : 0;
}

uint32_t splitc_endpoints_nodes(const uint32_t **list)
{
    *list = first;
    return nodes;
}
