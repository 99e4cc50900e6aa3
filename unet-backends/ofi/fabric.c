/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fabric.c - the site's libfabric, and a domain of a provider.
 *
 * The library is loaded when the first endpoint is opened: programs run where there is none, and
 * where the fabric's vendor has one of its own.
 */
#include "ofi/ofi.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <rdma/fi_cm.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libfabric.so.1"
#define OLDEST FI_VERSION(1, 11)

static struct ofi_library loaded;
static bool is_loaded;

/* ---- the library -------------------------------------------------------------------------- */

/* A function pointer is no object pointer in C, but POSIX makes them exchangeable. */
static bool find_symbol(void *handle, const char *name, void *function)
{
    void *symbol = dlsym(handle, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* The library of the provider psm would take the program's signals for itself. */
static int load(void)
{
    const char *path = getenv("UNET_OFI_LIBRARY");
    void *handle;

    setenv("IPATH_NO_BACKTRACE", "1", 0);
    handle = dlopen(path ? path : LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return -ELIBACC;
    if (find_symbol(handle, "fi_version", &loaded.version) &&
        find_symbol(handle, "fi_getinfo", &loaded.getinfo) &&
        find_symbol(handle, "fi_freeinfo", &loaded.freeinfo) &&
        find_symbol(handle, "fi_dupinfo", &loaded.dupinfo) &&
        find_symbol(handle, "fi_fabric", &loaded.fabric) && loaded.version() >= OLDEST)
        return 0;
    dlclose(handle);
    return -ELIBBAD;
}

int unet_ofi_library(const struct ofi_library **library)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int error = 0;

    pthread_mutex_lock(&lock);
    if (!is_loaded)
        error = load();
    is_loaded = error == 0;
    pthread_mutex_unlock(&lock);
    *library = &loaded;
    return error;
}

/* Never newer than the headers, which say what the objects look like. */
uint32_t unet_ofi_version(const struct ofi_library *library)
{
    const uint32_t headers = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);

    return library->version() < headers ? library->version() : headers;
}

/* ---- a domain ------------------------------------------------------------------------------- */

/* With a descriptor to sleep on, if the provider has one. */
static int open_queue(struct ofi_fabric *f, bool polled, uint32_t completions)
{
    struct fi_cq_attr attr = {
        .size = completions,
        .format = FI_CQ_FORMAT_DATA,
        .wait_obj = polled ? FI_WAIT_NONE : FI_WAIT_FD,
    };
    int error = fi_cq_open(f->domain, &attr, &f->cq, NULL);

    if (error && !polled) {
        attr.wait_obj = FI_WAIT_NONE;
        error = fi_cq_open(f->domain, &attr, &f->cq, NULL);
    }
    return error;
}

static int open_endpoint(struct ofi_fabric *f)
{
    int error = fi_endpoint(f->domain, f->info, &f->ep, NULL);

    if (error == 0)
        error = fi_ep_bind(f->ep, &f->av->fid, 0);
    if (error == 0)
        error = fi_ep_bind(f->ep, &f->cq->fid, FI_TRANSMIT | FI_RECV);
    return error ? error : fi_enable(f->ep);
}

/* Providers make buffers of their own for as many operations as they offer: tens of megabytes. */
static void limit(size_t *size, size_t most)
{
    if (*size > most)
        *size = most;
}

int unet_ofi_fabric_open(struct ofi_fabric *f, bool polled, uint32_t receives)
{
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    const struct ofi_library *library;
    int error = unet_ofi_library(&library);

    if (error == 0)
        error = unet_ofi_provider_find(&f->info, &f->provider);
    if (error)
        return error;
    limit(&f->info->tx_attr->size, 2 * OFI_SENDS);
    limit(&f->info->rx_attr->size, receives);
    f->registers = f->info->domain_attr->mr_mode & FI_MR_LOCAL;
    f->writes = f->info->caps & FI_RMA && f->info->domain_attr->cq_data_size >= OFI_LANDING_BYTES;
    error = library->fabric(f->info->fabric_attr, &f->fabric, NULL);
    if (error == 0)
        error = fi_domain(f->fabric, f->info, &f->domain, NULL);
    if (error == 0)
        error = fi_av_open(f->domain, &av, &f->av, NULL);
    if (error == 0)
        error = open_queue(f, polled || !unet_ofi_provider(f->provider)->wakes,
                           receives + 2 * OFI_SENDS);
    return error ? error : open_endpoint(f);
}

static void close_object(struct fid *object)
{
    if (object)
        fi_close(object);
}

void unet_ofi_fabric_close(struct ofi_fabric *f)
{
    close_object(f->ep ? &f->ep->fid : NULL);
    close_object(f->cq ? &f->cq->fid : NULL);
    close_object(f->av ? &f->av->fid : NULL);
    close_object(f->domain ? &f->domain->fid : NULL);
    close_object(f->fabric ? &f->fabric->fid : NULL);
    if (f->info)
        loaded.freeinfo(f->info);
    *f = (struct ofi_fabric){0};
}

int unet_ofi_register(const struct ofi_fabric *f, const void *address, size_t bytes,
                      uint64_t access, uint64_t key, struct fid_mr **mr)
{
    int error = fi_mr_reg(f->domain, address, bytes, access, 0, key, 0, mr, NULL);

    if (error || !(f->info->domain_attr->mr_mode & FI_MR_ENDPOINT))
        return error;
    error = fi_mr_bind(*mr, &f->ep->fid, 0);
    if (error == 0)
        error = fi_mr_enable(*mr);
    if (error)
        fi_close(&(*mr)->fid);
    return error;
}
