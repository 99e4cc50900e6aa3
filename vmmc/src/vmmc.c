/* SPDX-License-Identifier: BSD-3-Clause
 *
 * vmmc.c - instances, and their progress.
 */
#include "internal.h"
#include <stdlib.h>

static gam_handler_fn *const handlers[VMMC_HANDLERS] = {
    [VMMC_ON_IMPORT] = vmmc_export_on_import,     [VMMC_ON_IMPORTED] = vmmc_import_on_imported,
    [VMMC_ON_UNIMPORT] = vmmc_export_on_unimport, [VMMC_ON_REVOKED] = vmmc_import_on_revoked,
    [VMMC_ON_NOTIFY] = vmmc_notify_on_notify,     [VMMC_ON_LANDED] = vmmc_window_on_landed,
};

static int handlers_register(struct gam *g, uint32_t first)
{
    int rc = first < 1 || first > GAM_HANDLERS - VMMC_HANDLERS ? -EINVAL : 0;

    for (uint32_t i = 0; rc == 0 && i < VMMC_HANDLERS; i++)
        rc = gam_register(g, first + i, handlers[i]);
    return rc;
}

static void vmmc_free(struct vmmc *v)
{
    if (!v)
        return;
    if (v->g)
        gam_memory_free(v->g, v->door);
    free(v->peer);
    free(v->slot);
    free(v->orphan);
    free(v->queue.at);
    free(v);
}

static bool instance_alloc(struct vmmc *v, struct gam *g)
{
    v->g = g;
    v->slot = calloc(VMMC_EXPORTS_MAX, sizeof(*v->slot));
    v->peer = calloc(gam_ranks(g), sizeof(*v->peer));
    v->door = gam_memory_alloc(g, VMMC_EXPORTS_MAX * sizeof(*v->door));
    return v->slot && v->peer && v->door;
}

int vmmc_open(struct gam *g, uint32_t first, struct vmmc **out)
{
    struct vmmc *v;
    int rc = handlers_register(g, first);

    if (rc)
        return rc;
    v = calloc(1, sizeof(*v));
    if (!v || !instance_alloc(v, g)) {
        vmmc_free(v);
        return -ENOMEM;
    }
    v->first = first;
    rc = gam_set_placement(g, vmmc_export_place, v);
    if (rc) {
        vmmc_free(v);
        return rc;
    }
    *out = v;
    return 0;
}

void vmmc_close(struct vmmc *v)
{
    if (!v)
        return;
    for (uint32_t i = 0; i < v->slots; i++) {
        if (v->slot[i].e)
            vmmc_unexport(v->slot[i].e);
    }
    while (v->imports)
        vmmc_unimport(v->imports);
    vmmc_orphans_return(v);
    vmmc_lanes_close(v);
    gam_set_placement(v->g, NULL, NULL);
    vmmc_free(v);
}

/* ---- progress ------------------------------------------------------------------ */

static int functions_run(struct vmmc *v)
{
    if (v->running)
        return 0;
    if (v->orphans > 0)
        vmmc_orphans_return(v);
    return vmmc_imports_check(v) + vmmc_notify_run(v);
}

int vmmc_poll(struct vmmc *v)
{
    const int read = gam_poll(v->g);

    vmmc_lane_publish(v);
    return read + functions_run(v);
}

int vmmc_wait(struct vmmc *v, int timeout_ms)
{
    const int ran = vmmc_poll(v);
    int rc;

    if (ran > 0)
        return ran;
    rc = gam_wait(v->g, timeout_ms);
    vmmc_lane_publish(v);
    if (rc < 0) {
        const int told = functions_run(v);

        return told > 0 ? told : rc;
    }
    return rc + functions_run(v);
}

void vmmc_stats(const struct vmmc *v, struct vmmc_stats *stats)
{
    *stats = v->stats;
    for (uint32_t i = 0; i < v->slots; i++) {
        const struct vmmc_exported *e = v->slot[i].e;

        if (!e)
            continue;
        stats->arrived_bytes += atomic_load_explicit(&e->door->landed, memory_order_relaxed);
        stats->redirected_bytes += atomic_load_explicit(&e->door->redirected, memory_order_relaxed);
    }
}
