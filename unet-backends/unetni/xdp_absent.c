/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xdp_absent.c - the wire xdp of a build that found no libxdp.
 */
#include "unetni/unetni.h"

#include <errno.h>
#include <stdio.h>

static int absent_open(struct unetni_wire *wire)
{
    fprintf(stderr,
            "unetni: %s: --wire xdp: this build has no libxdp: install it (Debian: libxdp-dev), "
            "run cmake anew, and build again; --wire packet needs none\n",
            wire->interface);
    return -EOPNOTSUPP;
}

/* It is never opened, so nothing else is ever called. */
const struct unetni_wire_ops unetni_xdp_wire = {.name = "xdp", .open = absent_open};
