/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire.c - what wires have in common.
 */
#include "unetni/unetni.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

int unetni_wire_fail(const struct unetni_wire *wire, const char *what)
{
    const int error = errno;

    fprintf(stderr, "unetni: %s: %s: %s\n", wire->interface, what, strerror(error));
    return -error;
}

int unetni_wire_send(struct unetni_wire *wire, struct mmsghdr *message, unsigned count)
{
    return sendmmsg(wire->socket, message, count, MSG_DONTWAIT);
}

int unetni_wire_take_port(const struct unetni_wire *wire, uint16_t port, int *lock)
{
    (void)wire;
    (void)port;
    *lock = -1;
    return 0;
}

bool unetni_wire_nobody_has(const struct unetni_wire *wire, uint16_t port)
{
    (void)wire;
    (void)port;
    return true;
}

void unetni_wire_give_port(const struct unetni_wire *wire, uint16_t port)
{
    (void)wire;
    (void)port;
}

int unetni_wire_interface(const struct unetni_wire *wire, unsigned long what, struct ifreq *request)
{
    memset(request, 0, sizeof *request);
    memcpy(request->ifr_name, wire->interface, sizeof wire->interface);
    return ioctl(wire->socket, what, request) < 0 ? unetni_wire_fail(wire, "cannot be used") : 0;
}

uint32_t unetni_wire_message_most(const struct unetni_wire *wire, uint32_t mtu)
{
    const uint32_t header = sizeof(struct unet_frame);

    if (mtu < header + UNET_INLINE_MAX) {
        fprintf(stderr, "unetni: %s: its MTU of %u bytes is too small; it has to be %u\n",
                wire->interface, mtu, header + UNET_INLINE_MAX);
        return 0;
    }
    return mtu - header < UNETNI_MESSAGE_MOST ? mtu - header : UNETNI_MESSAGE_MOST;
}
