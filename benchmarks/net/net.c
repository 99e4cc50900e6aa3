/* SPDX-License-Identifier: BSD-3-Clause
 *
 * net.c - messages between two networks.
 *
 *   net MODE MILLISECONDS INTERFACE PID PID [BYTES...]
 *
 * MODE is udp, tcp, packets (sockets alone), our_udp, our_udp_streams, our_udp_header, our_eth or
 * our_ofi; or tcp_puts, our_udp_puts, our_eth_puts or our_ofi_puts for transfers that are complete
 * at the other side; or, for round trips and streams against the size of their messages, udp_sizes,
 * tcp_sizes, our_shm_sizes, our_udp_sizes, our_eth_sizes, our_atm_sizes or our_ni_sizes; or
 * eth_endpoint and ni_endpoint for round trips of endpoints that poll and that block (the latter
 * with a folder of services' sockets for BYTES); or eth_alone and ni_alone, where one process has
 * both sides, and the second core is the service's; or crowd, for polls with many peers.  The sides
 * live in the networks of these two processes (0: in ours) and use the interface of that name
 * there. Streams have messages of so many bytes.
 */
#include "net.h"

#include "../micro/network.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int side;
uint8_t *landing;
const char *interface;
const char *network[2];
size_t message_bytes;

static struct shared {
    uint32_t arrived;
    double told;
    uint8_t blob[2][BLOB];
} * shared;

void die(const char *what)
{
    fprintf(stderr, "net: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- meeting --------------------------------------------------------------------------- */

static uint32_t meetings;

void arrive(void)
{
    __atomic_add_fetch(&shared->arrived, 1, __ATOMIC_ACQ_REL);
    meetings++;
}

bool both_are_here(void)
{
    return __atomic_load_n(&shared->arrived, __ATOMIC_ACQUIRE) >= 2 * meetings;
}

void meet(void)
{
    arrive();
    while (!both_are_here())
        sched_yield();
}

void exchange(const void *mine, void *theirs)
{
    memcpy(shared->blob[side], mine, BLOB);
    meet();
    memcpy(theirs, shared->blob[!side], BLOB);
    meet();
}

static double keep(double mine)
{
    return mine;
}

static double share(double mine)
{
    if (side == 0)
        shared->told = mine;
    meet();
    mine = shared->told;
    meet();
    return mine;
}

struct team team_of(double budget_ns)
{
    return (struct team){.measures = side == 0, .share = share, .budget_ns = budget_ns};
}

void measure_sizes(const struct team *team, const char *prefix, long per_unit, batch_fn *batch,
                   int count, char **sizes)
{
    char metric[64];

    for (int i = 0; i < count; i++) {
        message_bytes = strtoul(sizes[i], NULL, 10);
        snprintf(metric, sizeof metric, "%s_%zu", prefix, message_bytes);
        measure(team, metric, per_unit, batch, NULL);
    }
}

/* ---- two processes ------------------------------------------------------------------------ */

uint32_t own_ip(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifreq request = {0};
    struct sockaddr_in address;

    strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
    if (fd < 0 || ioctl(fd, SIOCGIFADDR, &request) < 0)
        die(interface);
    close(fd);
    memcpy(&address, &request.ifr_addr, sizeof address);
    return address.sin_addr.s_addr;
}

static void pin(int number)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(number, &one);
    sched_setaffinity(0, sizeof one, &one); /* where there is only one, both are there */
}

struct mode {
    const char *name;
    mode_fn *fn;
    bool alone; /* without a second process */
};

static const struct mode *mode_of(const char *name)
{
    static const struct mode modes[] = {
        {"udp", measure_udp, false},
        {"udp_sizes", measure_udp_sizes, false},
        {"tcp", measure_tcp, false},
        {"tcp_sizes", measure_tcp_sizes, false},
        {"tcp_puts", measure_tcp_puts, false},
        {"packets", measure_packets, false},
        {"our_udp", measure_our_udp, false},
        {"our_udp_streams", measure_our_udp_streams, false},
        {"our_udp_header", measure_our_udp_header, false},
        {"our_eth", measure_our_eth, false},
        {"our_ofi", measure_our_ofi, false},
        {"our_udp_puts", measure_our_udp_puts, false},
        {"our_eth_puts", measure_our_eth_puts, false},
        {"our_ofi_puts", measure_our_ofi_puts, false},
        {"our_shm_sizes", measure_shm_sizes, false},
        {"our_udp_sizes", measure_our_udp_sizes, false},
        {"our_eth_sizes", measure_our_eth_sizes, false},
        {"our_atm_sizes", measure_our_atm_sizes, false},
        {"our_ni_sizes", measure_our_ni_sizes, false},
        {"eth_endpoint", measure_eth_endpoint, false},
        {"ni_endpoint", measure_ni_endpoint, false},
        {"eth_alone", measure_eth_alone, .alone = true},
        {"ni_alone", measure_ni_alone, .alone = true},
        {"crowd", measure_crowd, .alone = true},
    };

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(name, modes[i].name) == 0)
            return &modes[i];
    }
    fprintf(stderr, "net: no mode '%s'\n", name);
    exit(2);
}

static void *shared_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        die("memory");
    return memory;
}

/* The other side ends with us, however we end. */
static int await_other(pid_t other)
{
    int status;

    return waitpid(other, &status, 0) == other && status == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct team team;
    const struct mode *mode;
    double budget;
    pid_t other;

    if (argc < 6) {
        fprintf(stderr, "usage: net MODE MILLISECONDS INTERFACE PID PID [BYTES...]\n");
        return 2;
    }
    mode = mode_of(argv[1]);
    budget = budget_of(argv[2]);
    interface = argv[3];
    shared = shared_memory(sizeof *shared);
    landing = aligned_alloc(4096, LONGEST);
    if (!landing)
        die("memory");
    memset(landing, 1, LONGEST);
    network[0] = argv[4];
    network[1] = argv[5];
    if (mode->alone) {
        pin(0);
        team = (struct team){.measures = 1, .share = keep, .budget_ns = budget};
        mode->fn(&team, argc - 6, argv + 6);
        return 0;
    }
    other = fork();
    if (other < 0)
        die("fork");
    side = other == 0;
    if (side == 1)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    else
        signal(SIGCHLD, SIG_DFL);
    enter_network(network[side]);
    pin(side);
    team = team_of(budget);
    mode->fn(&team, argc - 6, argv + 6);
    meet();
    fflush(stdout);
    if (side == 1)
        _exit(0);
    return await_other(other);
}
