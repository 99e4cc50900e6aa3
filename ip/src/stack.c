/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stack.c - the stack: opening, routes, waiting, and TCP's clock.
 *
 * lwIP is driven by its raw interface from the one thread that calls us.  Debian's build has a
 * thread of its own (NO_SYS is 0), which tcpip_init would start; lwip_init starts none, and then
 * lwIP asks for no lock.  lwIP's own timers are not run either: TCP's tick comes from here, so that
 * it can be as short as the network's round trips allow.
 */
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <lwip/init.h>
#include <lwip/ip4_frag.h>
#include <lwip/priv/tcp_priv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unet/unet_rest.h>

enum {
    TIMER_MS_DEFAULT = 5,
    TIMER_MS_MAX = 250,
    MS = 1000000,        /* ns */
    QUIET_NS = 10000,    /* after an arrival, until nothing more is expected to come at once */
    HEAP_KEPT = 4 << 20, /* bytes, of which windows of several streams are made */
};

static struct ip_stack *the_stack; /* lwIP's state is the process' */

uint64_t ip_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

uint32_t ip_random(void)
{
    uint32_t number;

    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = (uint32_t)ip_now();
    return number;
}

/* ---- opening ------------------------------------------------------------ */

void ip_endpoint_config(struct unet_config *config)
{
    if (!config->segment_bytes)
        config->segment_bytes = 2u << 20;
    if (!config->send_slots)
        config->send_slots = 256;
    if (!config->recv_slots)
        config->recv_slots = 512;
    if (!config->free_slots)
        config->free_slots = 1024;
    config->trains = true;
}

static int stack_mtu(const struct unet_endpoint *ep, uint32_t wanted, uint32_t *mtu)
{
    uint32_t most = ep->packet_bytes < UNET_MESSAGE_MAX ? ep->packet_bytes : UNET_MESSAGE_MAX - 1;

    if (most > IP_MTU_DEFAULT && !wanted)
        most = IP_MTU_DEFAULT;
    *mtu = wanted ? wanted : most;
    return *mtu < IP_MTU_MIN || *mtu > most ? -EINVAL : 0;
}

/* lwIP's segments come from malloc and go, a window at a time: glibc would give their pages back to
 * the kernel, and fault them in again.  It keeps twice as much as the longest block that it has
 * mapped and that was freed (mallopt(3), M_MMAP_THRESHOLD). */
static void heap_keep(void)
{
    void *volatile block = malloc(HEAP_KEPT / 2);

    free(block);
}

/* The first sequence number of a connection is lwIP's count of ticks added up: nobody guesses it
 * when that starts anywhere. */
static void start_lwip(void)
{
    static bool started;

    if (!started) {
        lwip_init();
        heap_keep();
    }
    started = true;
    tcp_ticks = ip_random();
}

int ip_open(struct unet_endpoint *ep, const struct ip_config *config, struct ip_stack **stack)
{
    const in_addr_t address = ntohl(config->address.s_addr);
    struct ip_stack *s;
    uint32_t mtu;
    int result;

    if (the_stack)
        return -EBUSY;
    if (ep->config.polled)
        return -EOPNOTSUPP;
    if (address == INADDR_ANY || IN_MULTICAST(address) || IN_BADCLASS(address) ||
        config->timer_ms > TIMER_MS_MAX)
        return -EINVAL;
    result = stack_mtu(ep, config->mtu, &mtu);
    if (result < 0)
        return result;
    s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->ep = ep;
    s->timer_ns = (config->timer_ms ? config->timer_ms : TIMER_MS_DEFAULT) * (uint64_t)MS;
    s->next_timer = s->next_second = ip_now();
    start_lwip();
    result = ip_link_open(s, mtu);
    if (result < 0) {
        ip_link_close(s);
        free(s);
        return result;
    }
    ip_link_set_address(s, config->address);
    *stack = the_stack = s;
    return 0;
}

void ip_close(struct ip_stack *stack)
{
    if (!stack)
        return;
    while (stack->sockets) {
        if (stack->sockets->tcp && !stack->sockets->listening)
            ip_stream_abort(stack->sockets, ECONNABORTED);
        ip_socket_close(stack->sockets);
    }
    while (tcp_active_pcbs)
        tcp_abort(tcp_active_pcbs);
    while (tcp_tw_pcbs)
        tcp_abort(tcp_tw_pcbs);
    ip_link_flush(stack);
    ip_link_close(stack);
    free(stack->route);
    free(stack);
    the_stack = NULL;
}

struct in_addr ip_address(const struct ip_stack *stack)
{
    return (struct in_addr){netif_ip4_addr(&stack->netif)->addr};
}

uint32_t ip_mtu(const struct ip_stack *stack)
{
    return stack->mtu;
}

const struct ip_stats *ip_stats(const struct ip_stack *stack)
{
    return &stack->stats;
}

/* ---- routes ------------------------------------------------------------- */

/* Of ourselves, and of what is no single neighbour, there is none: lwIP would hand such packets to
 * its thread, which does not run. */
const struct ip_route *ip_route_find(const struct ip_stack *stack, uint32_t address)
{
    if (address == ntohl(netif_ip4_addr(&stack->netif)->addr) || address == INADDR_ANY ||
        address >> 24 == IN_LOOPBACKNET || IN_MULTICAST(address) || IN_BADCLASS(address))
        return NULL;
    for (uint32_t i = 0; i < stack->routes; i++)
        if ((address & stack->route[i].mask) == stack->route[i].network)
            return &stack->route[i];
    return NULL;
}

int ip_route_add(struct ip_stack *stack, struct in_addr address, unsigned prefix, uint16_t channel)
{
    const uint32_t mask = prefix ? ~(uint32_t)0 << (32 - (prefix & 31)) % 32 : 0;
    struct ip_route new, *grown;
    uint32_t at = 0;

    if (prefix > 32 || channel == 0 || channel > stack->ep->config.channels)
        return -EINVAL;
    new = (struct ip_route){ntohl(address.s_addr) & mask, mask, channel};
    while (at < stack->routes && stack->route[at].mask >= mask) {
        if (stack->route[at].mask == mask && stack->route[at].network == new.network) {
            stack->route[at] = new;
            return 0;
        }
        at++;
    }
    grown = realloc(stack->route, (stack->routes + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    stack->route = grown;
    memmove(&grown[at + 1], &grown[at], (stack->routes - at) * sizeof *grown);
    grown[at] = new;
    stack->routes++;
    return 0;
}

/* ---- time --------------------------------------------------------------- */

/* One tick at most: time in which this process did not run, and so took in no acknowledgement, is
 * no time that a segment was not acknowledged. */
static void run_timers(struct ip_stack *stack, uint64_t now)
{
    if (now < stack->next_timer)
        return;
    stack->next_timer = now + stack->timer_ns;
    tcp_tmr();
    if (now < stack->next_second)
        return;
    stack->next_second = now + IP_TMR_INTERVAL * (uint64_t)MS;
    ip_reass_tmr();
}

/* What is owed is sent once nothing more comes at once. */
static void stack_settle(struct ip_stack *stack)
{
    stack->owing = false;
    ip_windows_settle();
}

int ip_progress(struct ip_stack *stack)
{
    uint64_t now;
    int count;

    unet_progress(stack->ep);
    count = ip_link_receive(stack);
    now = ip_now();
    if (count > 0)
        stack->quiet_from = now + QUIET_NS;
    else if (stack->owing && now >= stack->quiet_from)
        stack_settle(stack);
    run_timers(stack, now);
    if (stack->stalled && ip_link_has_room(stack)) {
        stack->stalled = false;
        ip_streams_retry();
    }
    ip_link_flush(stack);
    return count;
}

/* ---- waiting ------------------------------------------------------------ */

static int until_ms(uint64_t now, uint64_t then)
{
    const uint64_t ms = then > now ? (then - now + MS - 1) / MS : 0;

    return ms > 60000 ? 60000 : (int)ms;
}

/* Until a message comes, TCP's clock ticks, or the deadline.  Who sleeps sends the acknowledgements
 * that it has delayed: nothing that it does now will carry them. */
static void stack_sleep(struct ip_stack *stack, uint64_t now, uint64_t deadline)
{
    int ms = deadline ? until_ms(now, deadline) : -1, result;

    if (tcp_active_pcbs || tcp_tw_pcbs || stack->tx_unsent != stack->tx_head) {
        const int tick = until_ms(now, stack->next_timer);

        stack_settle(stack);
        ip_link_flush(stack);
        if (ms < 0 || tick < ms)
            ms = tick;
    }
    result = unet_wait(stack->ep, ms);
    if (result == 0)
        ip_streams_lost(stack);
}

/* Progress until ready(s), or with no `ready` until something has arrived. */
static int stack_wait(struct ip_stack *stack, bool (*ready)(const struct ip_socket *s),
                      const struct ip_socket *s, int timeout_ms)
{
    const struct unet_rest_policy *policy =
        stack->ep->ops->network ? &unet_rest_network : &unet_rest_memory;
    uint64_t deadline = 0, now;

    for (uint32_t looks = 0;; looks++) {
        const int count = ip_progress(stack);

        if (count > 0)
            looks = 0;
        if (ready ? ready(s) : count > 0)
            return count;
        if (timeout_ms == 0)
            return -EAGAIN;
        if (unet_rest_after(policy, looks))
            continue;
        now = ip_now();
        if (timeout_ms > 0 && !deadline)
            deadline = now + (uint64_t)timeout_ms * MS;
        if (deadline && now >= deadline)
            return -ETIMEDOUT;
        stack_sleep(stack, now, deadline);
    }
}

int ip_block(struct ip_stack *stack, bool (*ready)(const struct ip_socket *s),
             const struct ip_socket *s, int timeout_ms)
{
    const int result = stack_wait(stack, ready, s, timeout_ms);

    return result < 0 ? result : 0;
}

int ip_wait(struct ip_stack *stack, int timeout_ms)
{
    const int result = stack_wait(stack, NULL, NULL, timeout_ms);

    return result < 0 ? 0 : result;
}

int ip_flush(struct ip_stack *stack, int timeout_ms)
{
    return ip_block(stack, ip_streams_flushed, NULL, timeout_ms);
}
