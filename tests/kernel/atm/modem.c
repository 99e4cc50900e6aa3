/* SPDX-License-Identifier: BSD-3-Clause
 *
 * atm_modem SOCKET...: a switch of virtual paths whose ports are USB modems of virtual machines.
 *
 * QEMU's usb-redir finds on each Unix socket a USB device with a bulk endpoint either way, which
 * carry ATM cells: what Linux' xusbatm drives.  What port p sends with VPI q arrives at port q with
 * VPI p; ports count from 1.  Ends when all ports have been left, or by SIGTERM, and tells how many
 * cells it has switched.
 */
#include "datagram/atm/aal5.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <usbredirparser.h>

enum {
    PORTS = 8,
    QUEUE = 1 << 14,   /* cells that wait for a machine */
    READS = 256,       /* bulk reads that wait for cells */
    READ_MOST = 65536, /* bytes that one of them gets */
    OUT_ENDPOINT = 1,
    IN_ENDPOINT = 2,
    IN = 0x80,
    BULK_BYTES = 512,
    VENDOR = 0x16c0,
    PRODUCT = 0x05dc,
};

struct read {
    uint64_t id;
    uint32_t bytes;
};

struct port {
    uint32_t number;
    int listener, fd;
    struct usbredirparser *parser;
    uint8_t (*queue)[ATM_CELL];
    uint32_t put, taken; /* of the queue */
    struct read read[READS];
    uint32_t reads_put, reads_taken;
    uint8_t part[ATM_CELL]; /* of a cell that goes on in the next transfer */
    uint32_t part_bytes;
    bool left;
};

static struct port port[PORTS + 1]; /* from 1 on */
static uint32_t ports;
static unsigned long switched, dropped;
static volatile sig_atomic_t over;

static const uint8_t device_descriptor[] = {18,   1,    0, 2, 0xff, 0, 0, 64, 0xc0,
                                            0x16, 0xdc, 5, 0, 1,    0, 0, 0,  1};
static const uint8_t configuration_descriptor[] = {9,    2,  32, 0, 1, 1, 0,
                                                   0x80, 50, 9,  4, 0, 0, 2,
                                                   0xff, 0,  0,  0, 7, 5, OUT_ENDPOINT,
                                                   2,    0,  2,  0, 7, 5, IN | IN_ENDPOINT,
                                                   2,    0,  2,  0};
static const uint8_t qualifier_descriptor[] = {10, 6, 0, 2, 0xff, 0, 0, 64, 1, 0};

/* ---- cells ------------------------------------------------------------------------- */

/* Cells that wait go into the reads that wait. */
static void port_deliver(struct port *p)
{
    static uint8_t bytes[READ_MOST];

    while (p->put != p->taken && p->reads_put != p->reads_taken) {
        const struct read *read = &p->read[p->reads_taken++ % READS];
        const uint32_t most = (read->bytes < READ_MOST ? read->bytes : READ_MOST) / ATM_CELL;
        struct usb_redir_bulk_packet_header header = {.endpoint = IN | IN_ENDPOINT};
        uint32_t n = 0;

        for (; n < most && p->put != p->taken; n++)
            memcpy(bytes + (size_t)n * ATM_CELL, p->queue[p->taken++ % QUEUE], ATM_CELL);
        header.length = (uint16_t)(n * ATM_CELL);
        usbredirparser_send_bulk_packet(p->parser, read->id, &header, bytes, header.length);
    }
}

/* The HEC is not looked at: usbatm leaves it to the modem. */
static void port_switch(const struct port *from, const uint8_t *cell)
{
    uint32_t header;
    struct port *to;

    memcpy(&header, cell, sizeof header);
    header = __builtin_bswap32(header);
    to = atm_vpi(header) <= ports ? &port[atm_vpi(header)] : &port[0];
    if (to->number == 0 || to->fd < 0 || to->put - to->taken >= QUEUE) {
        dropped++;
        return;
    }
    memcpy(to->queue[to->put % QUEUE], cell, ATM_CELL);
    unet_atm_write_header(to->queue[to->put++ % QUEUE],
                          atm_header(from->number, atm_vci(header)) | (header & 0xf));
    switched++;
}

static void port_take(struct port *p, const uint8_t *bytes, uint32_t length)
{
    while (length > 0) {
        const uint32_t room = ATM_CELL - p->part_bytes, n = length < room ? length : room;

        memcpy(p->part + p->part_bytes, bytes, n);
        p->part_bytes += n;
        bytes += n, length -= n;
        if (p->part_bytes == ATM_CELL) {
            port_switch(p, p->part);
            p->part_bytes = 0;
        }
    }
}

/* ---- USB --------------------------------------------------------------------------- */

static void usb_log(void *arg, int level, const char *text)
{
    (void)arg;
    if (level <= usbredirparser_warning)
        fprintf(stderr, "atm_modem: %s\n", text);
}

static int usb_read(void *arg, uint8_t *bytes, int length)
{
    const ssize_t n = read(((struct port *)arg)->fd, bytes, (size_t)length);

    return n < 0 && errno == EAGAIN ? 0 : n <= 0 ? -1 : (int)n;
}

static int usb_write(void *arg, uint8_t *bytes, int length)
{
    const ssize_t n = write(((struct port *)arg)->fd, bytes, (size_t)length);

    return n < 0 && errno == EAGAIN ? 0 : (int)n;
}

static void endpoint_describe(struct usb_redir_ep_info_header *info, unsigned n, uint8_t type,
                              uint16_t bytes)
{
    info->type[n] = type;
    info->max_packet_size[n] = bytes;
}

static void usb_hello(void *arg, struct usb_redir_hello_header *hello)
{
    struct usb_redir_interface_info_header interface = {.interface_count = 1,
                                                        .interface_class = {0xff}};
    struct usb_redir_device_connect_header device = {.speed = usb_redir_speed_high,
                                                     .device_class = 0xff,
                                                     .vendor_id = VENDOR,
                                                     .product_id = PRODUCT,
                                                     .device_version_bcd = 0x0100};
    struct usb_redir_ep_info_header endpoints = {0};
    const struct port *p = arg;

    (void)hello;
    memset(endpoints.type, usb_redir_type_invalid, sizeof endpoints.type);
    endpoint_describe(&endpoints, 0, usb_redir_type_control, 64);
    endpoint_describe(&endpoints, 16, usb_redir_type_control, 64); /* in: from 16 on */
    endpoint_describe(&endpoints, OUT_ENDPOINT, usb_redir_type_bulk, BULK_BYTES);
    endpoint_describe(&endpoints, 16 + IN_ENDPOINT, usb_redir_type_bulk, BULK_BYTES);
    usbredirparser_send_interface_info(p->parser, &interface);
    usbredirparser_send_ep_info(p->parser, &endpoints);
    usbredirparser_send_device_connect(p->parser, &device);
}

static void usb_reset(void *arg)
{
    struct port *p = arg;

    p->reads_put = p->reads_taken = 0;
}

static void usb_set_configuration(void *arg, uint64_t id,
                                  struct usb_redir_set_configuration_header *header)
{
    struct usb_redir_configuration_status_header status = {usb_redir_success,
                                                           header->configuration};

    usbredirparser_send_configuration_status(((struct port *)arg)->parser, id, &status);
}

static void usb_get_configuration(void *arg, uint64_t id)
{
    struct usb_redir_configuration_status_header status = {usb_redir_success, 1};

    usbredirparser_send_configuration_status(((struct port *)arg)->parser, id, &status);
}

static void usb_set_setting(void *arg, uint64_t id, struct usb_redir_set_alt_setting_header *header)
{
    struct usb_redir_alt_setting_status_header status = {usb_redir_success, header->interface,
                                                         header->alt};

    usbredirparser_send_alt_setting_status(((struct port *)arg)->parser, id, &status);
}

static void usb_get_setting(void *arg, uint64_t id, struct usb_redir_get_alt_setting_header *header)
{
    struct usb_redir_alt_setting_status_header status = {usb_redir_success, header->interface, 0};

    usbredirparser_send_alt_setting_status(((struct port *)arg)->parser, id, &status);
}

/* What a request reads; NULL: there is no such thing. */
static const uint8_t *control_answer(const struct usb_redir_control_packet_header *header,
                                     int *length)
{
    static const uint8_t status[2];

    *length = 0;
    if (!(header->requesttype & IN))
        return status;
    if (header->requesttype == IN && header->request == 0)
        return *length = sizeof status, status;
    if (header->requesttype != IN || header->request != 6)
        return NULL;
    switch (header->value >> 8) {
    case 1:
        return *length = sizeof device_descriptor, device_descriptor;
    case 2:
        return *length = sizeof configuration_descriptor, configuration_descriptor;
    case 6:
        return *length = sizeof qualifier_descriptor, qualifier_descriptor;
    default:
        return NULL;
    }
}

static void usb_control(void *arg, uint64_t id, struct usb_redir_control_packet_header *header,
                        uint8_t *data, int data_length)
{
    const struct port *p = arg;
    int length;
    const uint8_t *answer = control_answer(header, &length);

    (void)data_length;
    header->status = answer ? usb_redir_success : usb_redir_stall;
    header->length = (uint16_t)(length < header->length ? length : header->length);
    usbredirparser_send_control_packet(p->parser, id, header, (uint8_t *)(uintptr_t)answer,
                                       header->length);
    usbredirparser_free_packet_data(p->parser, data);
}

static void port_read(struct port *p, uint64_t id, uint32_t bytes)
{
    p->read[p->reads_put++ % READS] = (struct read){id, bytes};
    port_deliver(p);
}

static void usb_bulk(void *arg, uint64_t id, struct usb_redir_bulk_packet_header *header,
                     uint8_t *data, int length)
{
    struct port *p = arg;

    if (header->endpoint & IN) {
        port_read(p, id, header->length | (uint32_t)header->length_high << 16);
        return;
    }
    port_take(p, data, (uint32_t)length);
    header->status = usb_redir_success;
    usbredirparser_send_bulk_packet(p->parser, id, header, NULL, 0);
    usbredirparser_free_packet_data(p->parser, data);
    for (uint32_t i = 1; i <= ports; i++)
        if (port[i].fd >= 0)
            port_deliver(&port[i]);
}

static void usb_cancel(void *arg, uint64_t id)
{
    struct port *p = arg;
    struct usb_redir_bulk_packet_header header = {.endpoint = IN | IN_ENDPOINT,
                                                  .status = usb_redir_cancelled};
    uint32_t kept = p->reads_taken;

    for (uint32_t i = p->reads_taken; i != p->reads_put; i++)
        if (p->read[i % READS].id != id)
            p->read[kept++ % READS] = p->read[i % READS];
    p->reads_put = kept;
    usbredirparser_send_bulk_packet(p->parser, id, &header, NULL, 0);
}

static void usb_nothing(void *arg)
{
    (void)arg;
}

static void usb_filter(void *arg, struct usbredirfilter_rule *rules, int count)
{
    (void)arg;
    (void)count;
    free(rules);
}

static void port_set_functions(struct port *p)
{
    struct usbredirparser *u = p->parser;

    u->priv = p;
    u->log_func = usb_log;
    u->read_func = usb_read;
    u->write_func = usb_write;
    u->hello_func = usb_hello;
    u->reset_func = usb_reset;
    u->set_configuration_func = usb_set_configuration;
    u->get_configuration_func = usb_get_configuration;
    u->set_alt_setting_func = usb_set_setting;
    u->get_alt_setting_func = usb_get_setting;
    u->control_packet_func = usb_control;
    u->bulk_packet_func = usb_bulk;
    u->cancel_data_packet_func = usb_cancel;
    u->filter_reject_func = usb_nothing;
    u->filter_filter_func = usb_filter;
    u->device_disconnect_ack_func = usb_nothing;
}

/* ---- ports ------------------------------------------------------------------------- */

static void port_attach(struct port *p)
{
    uint32_t capabilities[USB_REDIR_CAPS_SIZE] = {0};

    p->fd = accept4(p->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (p->fd < 0)
        return;
    p->parser = usbredirparser_create();
    port_set_functions(p);
    usbredirparser_caps_set_cap(capabilities, usb_redir_cap_connect_device_version);
    usbredirparser_caps_set_cap(capabilities, usb_redir_cap_ep_info_max_packet_size);
    usbredirparser_caps_set_cap(capabilities, usb_redir_cap_64bits_ids);
    usbredirparser_caps_set_cap(capabilities, usb_redir_cap_32bits_bulk_length);
    usbredirparser_init(p->parser, "atm_modem", capabilities, USB_REDIR_CAPS_SIZE,
                        usbredirparser_fl_usb_host);
}

static void port_leave(struct port *p)
{
    usbredirparser_destroy(p->parser);
    close(p->fd);
    p->fd = -1;
    p->left = true;
}

static void port_serve(struct port *p, short events)
{
    bool good = !(events & (POLLHUP | POLLERR));

    if (good && events & POLLIN)
        good = usbredirparser_do_read(p->parser) != usbredirparser_read_io_error;
    if (!good)
        port_leave(p);
}

static void port_open(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct port *p;

    if (ports == PORTS || strlen(path) >= sizeof address.sun_path) {
        fprintf(stderr, "atm_modem: %s: there may be %d sockets, with paths of up to %zu bytes\n",
                path, PORTS, sizeof address.sun_path - 1);
        exit(2);
    }
    p = &port[++ports];
    p->number = ports;
    p->fd = -1;
    p->queue = malloc(QUEUE * sizeof *p->queue);
    memcpy(address.sun_path, path, strlen(path));
    unlink(path);
    p->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!p->queue || p->listener < 0 ||
        bind(p->listener, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(p->listener, 1) < 0) {
        perror(path);
        exit(1);
    }
}

/* What was written for one port may have been caused by another. */
static void flush_all(void)
{
    for (uint32_t i = 1; i <= ports; i++)
        if (port[i].fd >= 0 && usbredirparser_has_data_to_write(port[i].parser) &&
            usbredirparser_do_write(port[i].parser) < 0)
            port_leave(&port[i]);
}

static void serve(void)
{
    struct pollfd fd[PORTS];

    for (uint32_t i = 1; i <= ports; i++) {
        const struct port *p = &port[i];
        const bool waits = p->fd >= 0 && usbredirparser_has_data_to_write(p->parser);

        fd[i - 1] = (struct pollfd){.fd = p->fd < 0 ? p->listener : p->fd,
                                    .events = (short)(POLLIN | (waits ? POLLOUT : 0))};
    }
    if (poll(fd, ports, -1) < 0)
        return;
    for (uint32_t i = 1; i <= ports; i++)
        if (fd[i - 1].revents && port[i].fd < 0)
            port_attach(&port[i]);
        else if (fd[i - 1].revents)
            port_serve(&port[i], fd[i - 1].revents);
    flush_all();
}

static bool all_left(void)
{
    for (uint32_t i = 1; i <= ports; i++)
        if (!port[i].left || port[i].fd >= 0)
            return false;
    return true;
}

static void stop(int signal)
{
    (void)signal;
    over = 1;
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = stop};

    if (argc < 2) {
        fputs("usage: atm_modem SOCKET...\n", stderr);
        return 2;
    }
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    unet_aal5_init();
    for (int i = 1; i < argc; i++)
        port_open(argv[i]);
    puts("ready");
    fflush(stdout);
    while (!over && !all_left())
        serve();
    printf("atm: %lu cells switched, %lu dropped\n", switched, dropped);
    return 0;
}
