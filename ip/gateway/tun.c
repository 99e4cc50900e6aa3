/* SPDX-License-Identifier: BSD-3-Clause
 *
 * tun.c - a TUN interface, with address and MTU.
 */
#include "gateway/tun.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int tun_set_address(int control, struct ifreq *request, unsigned long what,
                           in_addr_t address)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {address}};

    memcpy(&request->ifr_addr, &to, sizeof to);
    return ioctl(control, what, request);
}

static int tun_configure(const char *name, struct in_addr address, unsigned prefix, uint32_t mtu)
{
    const in_addr_t mask = htonl(~(uint32_t)0 << (32 - prefix));
    struct ifreq request = {};
    const int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int result = 0;

    if (control < 0)
        return -errno;
    strcpy(request.ifr_name, name);
    if (tun_set_address(control, &request, SIOCSIFADDR, address.s_addr) < 0 ||
        tun_set_address(control, &request, SIOCSIFNETMASK, mask) < 0)
        result = -errno;
    request.ifr_mtu = (int)mtu;
    if (result == 0 && ioctl(control, SIOCSIFMTU, &request) < 0)
        result = -errno;
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    if (result == 0 && ioctl(control, SIOCSIFFLAGS, &request) < 0)
        result = -errno;
    close(control);
    return result;
}

int ip_tun_open(const char *name, struct in_addr address, unsigned prefix, uint32_t mtu)
{
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    int fd, result;

    if (strlen(name) >= sizeof request.ifr_name)
        return -ENAMETOOLONG;
    if (!*name || strchr(name, '%')) /* the kernel would choose a name */
        return -EINVAL;
    strcpy(request.ifr_name, name);
    fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    result = ioctl(fd, TUNSETIFF, &request) < 0 ? -errno : 0;
    if (result == 0)
        result = tun_configure(name, address, prefix, mtu);
    if (result == 0)
        return fd;
    close(fd);
    return result;
}
