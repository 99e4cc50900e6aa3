/* SPDX-License-Identifier: BSD-3-Clause
 *
 * module.c - the door to the kernel module: /dev/unet and its ioctls.
 */
#include "fe/user/fe.h"

#include "core/local.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int module_call(struct fe_endpoint *fe, unsigned long command, uintptr_t argument)
{
    const int result = ioctl(fe->fd, command, argument);

    return result < 0 ? -errno : result;
}

/* The trap. */
static int module_service(struct fe_endpoint *fe)
{
    return module_call(fe, UNET_FE_SEND, 0);
}

static void module_kick(struct fe_endpoint *fe)
{
    unet_fe_service(fe);
}

/* It cannot be unloaded while the file is open. */
static void module_look(struct fe_endpoint *fe)
{
    (void)fe;
}

/* The module wakes us by making the file readable. */
static int module_sleep(struct unet_ni *ni, int ms)
{
    struct pollfd bell = {.fd = fe_of(&ni->ep)->fd, .events = POLLIN};

    if (poll(&bell, 1, ms) < 0)
        return -errno;
    if (bell.revents)
        unet_bell_drain(bell.fd);
    return bell.revents != 0;
}

/* A polled endpoint has no descriptor to sleep on. */
static int module_open(struct fe_endpoint *fe, struct unet_fe_create *layout)
{
    struct unet_endpoint *ep = &fe->ni.ep;
    int error = unet_local_interface(unet_local_wish("auto"), layout->interface);

    if (error)
        return error;
    strcpy(ep->interface, layout->interface);
    fe->fd = open(UNET_FE_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fe->fd < 0)
        return errno == ENOENT || errno == ENXIO ? -ENODEV : -errno;
    error = module_call(fe, UNET_FE_CREATE, (uintptr_t)layout);
    if (error)
        return error;
    if (!ep->config.polled)
        ep->fd = ep->bell[0] = ep->bell[1] = fe->fd;
    return unet_fe_map(fe, fe->fd, MAP_POPULATE, layout);
}

static void module_close(struct fe_endpoint *fe)
{
    fe->ni.ep.bell[0] = fe->ni.ep.bell[1] = -1; /* it is the same file */
    if (fe->fd >= 0)
        close(fe->fd);
}

static const struct fe_door module_door = {
    .ops = &unet_fe_ops,
    .kind = {.link_bytes = sizeof(struct unet_link),
             .memory = UNET_NI_NONE,
             .rings = true,
             .retry_ms = 1,
             .look_ms = 100,
             .sleep = module_sleep,
             .tell = unet_fe_tell},
    .capabilities = UNET_CAP_REMOTE | UNET_CAP_RANGES,
    .open = module_open,
    .close = module_close,
    .call = module_call,
    .kick = module_kick,
    .service = module_service,
    .look = module_look,
};

static int fe_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    return unet_fe_open(&module_door, config, endpoint);
}

static const struct unet_remedy fe_remedies[] = {
    {-ENODEV, "the kernel module has to be loaded on every node (modprobe unet_fe), "
              "and " UNET_INTERFACE_NAMES "an interface of every node, or be auto"},
    {-EACCES, "who is in the group unet may open /dev/unet, if docs/unet_fe.md was followed"},
    {-ENOBUFS, "the limit of locked memory is too low: ulimit -l"},
    {-EDQUOT, "the module's limits (max_endpoints, max_megabytes) are too low: see unet(4)"},
    {0, NULL}};

const struct unet_ops unet_fe_ops = {
    .name = "fe",
    .network = true,
    .remedies = fe_remedies,
    .open = fe_open,
    .close = unet_fe_close,
    .address = unet_ni_address,
    .connect = unet_fe_connect,
    .disconnect = unet_fe_disconnect,
    .state = unet_fe_state,
    .kick = unet_fe_kick,
    .progress = unet_fe_progress,
    .wait = unet_ni_wait,
    .ranges = &unet_fe_range_ops,
};
