/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pvc_kernel.c - UNET_ATM_CARRIER and UNET_ATM_NODE, and the kernel's sockets.
 */
#include "datagram/atm/pvc.h"

#include <errno.h>
#include <linux/atm.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SOCKET_BYTES = 1 << 20, ITF_MOST = 32767, HOST_BYTES = 256 };

static const char pvc_carrier[] = "pvc:";

/* ---- settings ---------------------------------------------------------------------------- */

bool unet_pvc_is_carrier(void)
{
    const char *carrier = getenv("UNET_ATM_CARRIER");

    return carrier && strncmp(carrier, pvc_carrier, sizeof pvc_carrier - 1) == 0;
}

/* The number that a text begins with; `end` is behind it.  -1: there is none up to `most`. */
static long parse_number(const char *text, long most, const char **end)
{
    char *behind;
    long number;

    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    number = strtol(text, &behind, 10);
    *end = behind;
    return errno || number > most ? -1 : number;
}

static int parse_carrier(const char *text, struct pvc_settings *settings)
{
    const char *end;
    const long itf = parse_number(text, ITF_MOST, &end);

    if (itf < 0 || (*end != '\0' && strcmp(end, ",aal0") != 0))
        return -EINVAL;
    settings->itf = (int)itf;
    settings->raw = *end != '\0';
    return 0;
}

/* "NODE", or "HOST=NODE,HOST=NODE,...", where this host's name counts up to its first dot. */
static int parse_node(const char *text, const char *host, uint32_t *node)
{
    const size_t length = strcspn(host, ".");
    const char *end;
    long number;

    while (text && strchr(text, '=')) {
        const size_t name = strcspn(text, "=,");

        if (text[name] == '=' && strcspn(text, ".=,") == length &&
            strncmp(text, host, length) == 0) {
            text += name + 1;
            break;
        }
        text = strchr(text, ',');
        text = text ? text + 1 : NULL;
    }
    number = text ? parse_number(text, PVC_NODE_MOST, &end) : -1;
    if (number < 1 || (*end != '\0' && *end != ','))
        return -ENXIO;
    *node = (uint32_t)number;
    return 0;
}

/* Lines are "ITF TYPE ...", below one of headings. */
static int look_for_interface(int itf)
{
    FILE *file = fopen(unet_pvc_kernel->devices, "re");
    char line[256], type[32];
    int error = -ENODEV, number;

    if (!file)
        return errno == ENOENT ? -EAFNOSUPPORT : -errno;
    while (error == -ENODEV && fgets(line, sizeof line, file))
        if (sscanf(line, "%d %31s", &number, type) == 2 && number == itf)
            error = strcmp(type, "atmtcp") == 0 ? -EOPNOTSUPP : 0;
    fclose(file);
    return error;
}

int unet_pvc_settings(struct pvc_settings *settings)
{
    const char *node = getenv("UNET_ATM_NODE");
    char host[HOST_BYTES] = "";
    int error = parse_carrier(getenv("UNET_ATM_CARRIER") + sizeof pvc_carrier - 1, settings);

    gethostname(host, sizeof host - 1);
    if (error == 0)
        error = node ? parse_node(node, host, &settings->node) : -ENXIO;
    return error ? error : look_for_interface(settings->itf);
}

/* ---- sockets --------------------------------------------------------------------------------- */

static int socket_prepare(int fd, int aal)
{
    const int bytes = SOCKET_BYTES;
    struct atm_qos qos;

    memset(&qos, 0, sizeof qos);
    qos.aal = (unsigned char)aal;
    qos.txtp.traffic_class = qos.rxtp.traffic_class = ATM_UBR;
    qos.txtp.max_sdu = qos.rxtp.max_sdu = aal == ATM_AAL0 ? ATM_AAL0_SDU : PVC_SDU_MOST;
    if (setsockopt(fd, SOL_ATM, SO_ATMQOS, &qos, sizeof qos) < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    return 0;
}

static int socket_connect(int fd, const struct pvc_settings *settings, uint32_t vpi, uint32_t vci)
{
    struct sockaddr_atmpvc place;

    memset(&place, 0, sizeof place);
    place.sap_family = AF_ATMPVC;
    place.sap_addr.itf = (short)settings->itf;
    place.sap_addr.vpi = (short)vpi;
    place.sap_addr.vci = (int)vci;
    if (connect(fd, (struct sockaddr *)&place, sizeof place) == 0)
        return 0;
    /* Drivers that do not cut refuse AAL0 so; the VC itself is one that every adapter has. */
    return errno == EINVAL && settings->raw ? -EPROTONOSUPPORT : -errno;
}

static int kernel_open(const struct pvc_settings *settings, uint32_t vpi, uint32_t vci)
{
    const int aal = settings->raw ? ATM_AAL0 : ATM_AAL5;
    const int fd = socket(PF_ATMPVC, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, aal);
    int error;

    if (fd < 0)
        return -errno;
    error = socket_prepare(fd, aal);
    if (error == 0)
        error = socket_connect(fd, settings, vpi, vci);
    if (error == 0)
        return fd;
    close(fd);
    return error;
}

static const struct pvc_kernel kernel = {.devices = "/proc/net/atm/devices", .open = kernel_open};
const struct pvc_kernel *unet_pvc_kernel = &kernel;
