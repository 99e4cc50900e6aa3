/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings.h - what users tell ranks by environment variables, as the runtime reads it; for the
 * launcher, too, which checks it before any rank starts.
 */
#ifndef SPLITC_SETTINGS_H
#define SPLITC_SETTINGS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unet/unet.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPLITC_HEAP_MAX (1ul << 44) /* bytes */

/* SPLITC_HEAP or SPLITC_STREAMS in bytes: "512M" and the like; 0 if it is no such thing. */
static inline uint64_t splitc_told_bytes(const char *text)
{
    static const char suffix[] = "KMGT";
    char *end;
    const unsigned long n = strtoul(text, &end, 10);
    const char *unit = *end ? strchr(suffix, *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - suffix + 1) : 0;

    if (*text < '0' || *text > '9' || (*end && (!unit || end[1])) || n > SPLITC_HEAP_MAX >> shift)
        return 0;
    return (uint64_t)n << shift;
}

/* SPLITC_PEER_TIMEOUT, seconds from 0.1 to 86400, in milliseconds; 0 if it is no such thing. */
static inline uint32_t splitc_told_ms(const char *text)
{
    char *end;
    const double seconds = strtod(text, &end);

    return end != text && !*end && seconds >= 0.1 && seconds <= 86400 ? (uint32_t)(1000 * seconds)
                                                                      : 0;
}

/* SPLITC_AUTH: "full", "header" or "off", as 0, 1 or 2; -1 if it is no such thing. */
static inline int splitc_told_auth(const char *text)
{
    static const char *const mode[] = {"full", "header", "off"};

    for (int i = 0; i < 3; i++)
        if (strcmp(text, mode[i]) == 0)
            return i;
    return -1;
}

/* How ranks reach each other: those of a node, and those of other nodes.  One of them NULL: all
 * by the other; both: that is left to the runtime. */
struct splitc_backends {
    const struct unet_ops *near, *network;
};

static inline const struct unet_ops *splitc_backend_named(const char *name, size_t length)
{
    const struct unet_ops *backend;

    for (unsigned i = 0; (backend = unet_backend_at(i)); i++)
        if (strlen(backend->name) == length && memcmp(backend->name, name, length) == 0)
            return backend;
    return NULL;
}

/* SPLITC_BACKEND: "shm", "shm,udp", "auto".
 * Errors: -ENOENT there is no such backend, -EINVAL two of them, but not one for the ranks of a
 * node and then a network. */
static inline int splitc_told_backends(const char *text, struct splitc_backends *told)
{
    const size_t length = strcspn(text, ",");
    const bool two = text[length] == ',';
    const struct unet_ops *one = splitc_backend_named(text, length), *other = NULL;

    told->near = told->network = NULL;
    if (strcmp(text, "auto") == 0)
        return 0;
    if (two)
        other = splitc_backend_named(text + length + 1, strlen(text + length + 1));
    if (!one || (two && !other))
        return -ENOENT;
    if (two && (one->network || !other->network))
        return -EINVAL;
    told->near = one->network ? NULL : one;
    told->network = one->network ? one : other;
    return 0;
}

#ifdef __cplusplus
}
#endif
#endif
