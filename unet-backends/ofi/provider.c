/* SPDX-License-Identifier: BSD-3-Clause
 *
 * provider.c - which of libfabric's providers are used, and how one is found.
 *
 * The list is a white one.  A provider that is in it has what the backend builds on, by its manual
 * page and, where docs/unet.md says so, by our tests: reliable datagrams (FI_EP_RDM) of any length,
 * in order per peer (FI_ORDER_SAS), with resource management.  Left out are, of libfabric 1.17:
 *   shm      sending to a peer that has closed its endpoint crashes the sender
 *   sockets  neither writes that land, nor the end of a peer, are told reliably
 *   psm      (True Scale) takes the signals of the program for itself; its hardware is gone
 *   tcp, udp, net, verbs   by themselves: no reliable datagrams, or no order
 */
#include "ofi/ofi.h"

#include "core/local.h"

#include <errno.h>
#include <netdb.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

/* Of several that are here, the first that is used by itself.  Addresses carry their number: new
 * ones go to the end. */
static const struct ofi_provider providers[] = {
    {.name = "cxi", .by_itself = true, .wakes = true},  /* HPE Slingshot 200 */
    {.name = "efa", .by_itself = true, .wakes = true},  /* Amazon's Elastic Fabric Adapter */
    {.name = "psm2", .by_itself = true, .wakes = true}, /* Omni-Path */
    {.name = "opx", .by_itself = true, .wakes = true},  /* Cornelis Networks' successor of that */
    {.name = "verbs;ofi_rxm", .by_itself = true, .internet = true, .wakes = true}, /* InfiniBand */
    {.name = "tcp;ofi_rxm", .by_itself = true, .internet = true, .listens = true, .wakes = true},
    {.name = "udp;ofi_rxd", .internet = true},                  /* for tests */
    {.name = "net;ofi_rxm", .internet = true, .listens = true}, /* tcp, as it will be: for tests */
};

const struct ofi_provider *unet_ofi_provider(unsigned i)
{
    return i < sizeof providers / sizeof *providers ? &providers[i] : NULL;
}

/* ---- asking libfabric --------------------------------------------------------------------- */

/* `rma`: with what direct access takes. */
static int fill_hints(struct fi_info *hints, const char *name, bool rma)
{
    hints->caps = FI_MSG | (rma ? FI_RMA : 0);
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->av_type = FI_AV_TABLE;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->domain_attr->cq_data_size = rma ? OFI_LANDING_BYTES : 0;
    hints->fabric_attr->prov_name = strdup(name);
    return hints->fabric_attr->prov_name ? 0 : -ENOMEM;
}

/* The first of the list with the domain that is wished; layered providers do not look at it.  The
 * others are given back. */
static int pick(const struct ofi_library *library, struct fi_info *list, struct fi_info **info)
{
    const char *domain = getenv("UNET_OFI_DOMAIN");
    const struct fi_info *one = list;

    while (one && domain && strcmp(one->domain_attr->name, domain) != 0)
        one = one->next;
    *info = one ? library->dupinfo(one) : NULL;
    library->freeinfo(list);
    if (!one)
        return -ENODATA;
    return *info ? 0 : -ENOMEM;
}

static int ask(const struct ofi_library *library, const char *name, const char *node, bool rma,
               struct fi_info **info)
{
    struct fi_info *hints = library->dupinfo(NULL), *list = NULL;
    int error = hints ? fill_hints(hints, name, rma) : -ENOMEM;

    if (error == 0)
        error = library->getinfo(unet_ofi_version(library), node, NULL, node ? FI_SOURCE : 0, hints,
                                 &list);
    if (error == 0)
        error = pick(library, list, info);
    if (hints)
        library->freeinfo(hints);
    return error == -FI_ENODATA ? -ENODATA : error;
}

/* Without direct access it is still good for messages. */
static int ask_both(const struct ofi_library *library, const char *name, const char *node,
                    struct fi_info **info)
{
    const int error = ask(library, name, node, true, info);

    return error == -ENODATA ? ask(library, name, node, false, info) : error;
}

/* An address of ours, as getaddrinfo takes it. */
static int local_node(char node[NI_MAXHOST])
{
    union unet_sockaddr local;
    const int error = unet_local(unet_local_wish("127.0.0.1"), &local);
    const socklen_t length = local.any.sa_family == AF_INET6 ? sizeof local.ip6 : sizeof local.ip4;

    if (error)
        return error;
    return getnameinfo(&local.any, length, node, NI_MAXHOST, NULL, 0, NI_NUMERICHOST) == 0
               ? 0
               : -EADDRNOTAVAIL;
}

static int try_provider(const struct ofi_library *library, const struct ofi_provider *p,
                        struct fi_info **info)
{
    char node[NI_MAXHOST];
    int error = p->internet ? local_node(node) : 0;

    if (error)
        return error;
    error = ask_both(library, p->name, p->internet ? node : NULL, info);
    if (error)
        return error;
    /* Keys of more than 64 bits (FI_MR_RAW), and other modes that were not offered. */
    if ((*info)->domain_attr->mr_key_size > sizeof(uint64_t)) {
        library->freeinfo(*info);
        return -EOVERFLOW;
    }
    return 0;
}

static int find_named(const struct ofi_library *library, const char *name, struct fi_info **info,
                      uint8_t *provider)
{
    const struct ofi_provider *p;

    for (unsigned i = 0; (p = unet_ofi_provider(i)); i++) {
        if (strcmp(p->name, name) == 0) {
            *provider = (uint8_t)i;
            return try_provider(library, p, info);
        }
    }
    return -EPROTONOSUPPORT;
}

/* What keeps the last one from being used is told: it needs no hardware. */
static int find_any(const struct ofi_library *library, struct fi_info **info, uint8_t *provider)
{
    const struct ofi_provider *p;
    int error = -ENODATA;

    for (unsigned i = 0; (p = unet_ofi_provider(i)); i++) {
        if (!p->by_itself)
            continue;
        error = try_provider(library, p, info);
        if (error == 0) {
            *provider = (uint8_t)i;
            return 0;
        }
    }
    return error;
}

int unet_ofi_provider_find(struct fi_info **info, uint8_t *provider)
{
    const char *name = getenv("UNET_OFI_PROVIDER");
    const struct ofi_library *library;
    int error = unet_ofi_library(&library);

    if (error)
        return error;
    return name ? find_named(library, name, info, provider) : find_any(library, info, provider);
}
