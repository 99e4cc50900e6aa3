/* SPDX-License-Identifier: BSD-3-Clause
 *
 * main.c - options, starting and ending.
 */
#include "unetni/unetni.h"

#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/un.h>
#include <unistd.h>

static const char usage[] =
    "usage: unetni --interface NAME [OPTION...]\n"
    "\n"
    "Serves U-Net endpoints (backend ni) on a network interface to the processes of many users.\n"
    "\n"
    "  --interface NAME    the interface, as in eth0\n"
    "  --wire KIND         packet: raw Ethernet, needs CAP_NET_RAW (default)\n"
    "                      xdp: the same by AF_XDP, needs CAP_NET_ADMIN and CAP_BPF, too\n"
    "                      udp: a UDP socket\n"
    "                      atm: an ATM switch; the interface's name is any\n"
    "  --carrier CARRIER   of --wire atm: cells:ADDRESS:PORT (default: as UNET_ATM_CARRIER says)\n"
    "  --socket PATH       where clients connect (default " UNET_SERVICE_FOLDER "/NAME)\n"
    "  --group NAME        whose group the socket is (default: the service's own)\n"
    "  --mode OCTAL        permissions of the socket (default 660)\n"
    "  --spin US           microseconds to look for work before sleeping, up to 1000000 (default "
    "50)\n"
    "  --max-endpoints N   that one user may have (default 256)\n"
    "  --max-channels N    that one user may have, over all endpoints (default 65536)\n"
    "  --max-megabytes N   of memory that one user may share with the service (default 1024)\n"
    "  --max-rate N        megabits in a second that one user may send (default: no limit)\n"
    "  --version           print the version\n"
    "  --help              this text\n"
    "\n"
    "See unetni(8).\n";

struct options {
    const char *interface, *path, *carrier;
    const struct unetni_wire_ops *wire;
    gid_t group;
    unsigned long mode, spin_us, endpoints, channels, megabytes, megabits;
};

/* ---- options -------------------------------------------------------------------------------- */

static _Noreturn void refuse(const char *option, const char *wants, const char *value)
{
    fprintf(stderr, "unetni: --%s wants %s, not '%s'; see unetni --help\n", option, wants, value);
    exit(2);
}

static unsigned long number(const char *option, const char *value, int base, unsigned long most)
{
    char wants[64], *end;
    const unsigned long n = strtoul(value, &end, base);

    if (*value >= '0' && *value <= '9' && *end == '\0' && n <= most)
        return n;
    snprintf(wants, sizeof wants, base == 8 ? "an octal number up to %lo" : "a number up to %lu",
             most);
    refuse(option, wants, value);
}

static gid_t group_named(const char *name)
{
    const struct group *group = getgrnam(name);

    if (!group)
        refuse("group", "the name of a group", name);
    return group->gr_gid;
}

static const struct unetni_wire_ops *wire_named(const char *name)
{
    static const struct unetni_wire_ops *const wires[] = {&unetni_packet_wire, &unetni_xdp_wire,
                                                          &unetni_udp_wire, &unetni_atm_wire};

    for (unsigned i = 0; i < sizeof wires / sizeof *wires; i++)
        if (strcmp(wires[i]->name, name) == 0)
            return wires[i];
    refuse("wire", "packet, xdp, udp or atm", name);
}

static const struct option table[] = {{"interface", required_argument, NULL, 'i'},
                                      {"wire", required_argument, NULL, 'w'},
                                      {"carrier", required_argument, NULL, 'a'},
                                      {"socket", required_argument, NULL, 's'},
                                      {"group", required_argument, NULL, 'g'},
                                      {"mode", required_argument, NULL, 'm'},
                                      {"spin", required_argument, NULL, 'p'},
                                      {"max-endpoints", required_argument, NULL, 'e'},
                                      {"max-channels", required_argument, NULL, 'c'},
                                      {"max-megabytes", required_argument, NULL, 'b'},
                                      {"max-rate", required_argument, NULL, 'r'},
                                      {"version", no_argument, NULL, 'v'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

static _Noreturn void print(const char *text)
{
    fputs(text, stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        exit(0);
    fprintf(stderr, "unetni: cannot write to standard output: %s\n", strerror(errno));
    exit(1);
}

static void take_option(struct options *o, int option, const char *value)
{
    switch (option) {
    case 'i':
        o->interface = value;
        break;
    case 'w':
        o->wire = wire_named(value);
        break;
    case 'a':
        o->carrier = value;
        break;
    case 's':
        o->path = value;
        break;
    case 'g':
        o->group = group_named(value);
        break;
    case 'm':
        o->mode = number("mode", value, 8, 0777);
        break;
    case 'p':
        o->spin_us = number("spin", value, 10, 1000000);
        break;
    case 'e':
        o->endpoints = number("max-endpoints", value, 10, 32768);
        break;
    case 'c':
        o->channels = number("max-channels", value, 10, UINT32_MAX);
        break;
    case 'b':
        o->megabytes = number("max-megabytes", value, 10, 1ul << 24);
        break;
    case 'r':
        o->megabits = number("max-rate", value, 10, 1000000);
        break;
    case 'v':
        print("unetni " UNETNI_VERSION "\n");
    case 'h':
        print(usage);
    default:
        fputs("see unetni --help\n", stderr);
        exit(2);
    }
}

static struct options read_options(int argc, char **argv)
{
    struct options o = {.wire = &unetni_packet_wire,
                        .group = (gid_t)-1,
                        .mode = 0660,
                        .spin_us = 50,
                        .endpoints = 256,
                        .channels = 65536,
                        .megabytes = 1024};
    int option;

    while ((option = getopt_long(argc, argv, "", table, NULL)) >= 0)
        take_option(&o, option, optarg);
    if (optind < argc || !o.interface || !*o.interface) {
        fputs("unetni: --interface NAME is needed, and nothing but options; see unetni --help\n",
              stderr);
        exit(2);
    }
    if (o.carrier && o.wire != &unetni_atm_wire)
        refuse("carrier", "--wire atm", o.wire->name);
    return o;
}

/* ---- starting ---------------------------------------------------------------------------- */

/* Each endpoint takes a few. */
static void allow_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int open_signals(void)
{
    sigset_t ending;

    signal(SIGPIPE, SIG_IGN); /* clients close what they are rung by */
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    if (sigprocmask(SIG_BLOCK, &ending, NULL) < 0)
        return -1;
    return signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* systemd waits for this (sd_notify(3)). */
static void tell_ready(void)
{
    static const char ready[] = "READY=1";
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd;

    if (!path || strlen(path) >= sizeof at.sun_path)
        return;
    strcpy(at.sun_path, path);
    if (*path == '@')
        at.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    sendto(fd, ready, sizeof ready - 1, MSG_NOSIGNAL, (const struct sockaddr *)&at,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
    close(fd);
}

static int start(struct unetni_service *s, const struct options *o, const char *path)
{
    int error;

    unetni_service_init(s);
    s->limits = (struct unetni_limits){.endpoints = (unsigned)o->endpoints,
                                       .channels = (unsigned)o->channels,
                                       .bytes = (uint64_t)o->megabytes << 20,
                                       .rate = o->megabits * 125000};
    s->spin_ns = o->spin_us * 1000;
    s->wire.ops = o->wire;
    s->wire.carrier = o->carrier;
    s->signals = open_signals();
    if (s->signals < 0 || (size_t)snprintf(s->wire.interface, sizeof s->wire.interface, "%s",
                                           o->interface) >= sizeof s->wire.interface)
        refuse("interface", "the name of an interface", o->interface);
    error = o->wire->open(&s->wire);
    if (error == 0 && !o->path)
        error = unetni_service_make_folder();
    return error ? error : unetni_service_listen(s, path, (mode_t)o->mode, o->group);
}

int main(int argc, char **argv)
{
    static struct unetni_service service;
    const struct options o = read_options(argc, argv);
    char path[sizeof((struct sockaddr_un *)0)->sun_path];

    snprintf(path, sizeof path, UNET_SERVICE_FOLDER "/%s", o.interface);
    allow_files();
    if (start(&service, &o, o.path ? o.path : path) != 0)
        return 1;
    tell_ready();
    unetni_service_run(&service);
    unlink(o.path ? o.path : path);
    unetni_service_close(&service);
    return service.failed ? 1 : 0;
}
