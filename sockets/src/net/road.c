/* SPDX-License-Identifier: BSD-3-Clause
 *
 * road.c - what all links between two processes have in common: one reliable endpoint.
 */
#include "net/road.h"
#include "net/thread.h"
#include "real/hidden.h"
#include "record/pause.h"
#include "record/record.h"
#include "stream/round.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unet/unet.h>

enum {
    MESSAGES = 64,       /* taken from the endpoint by one look */
    RECENT_NS = 2000,    /* where another lane has just looked there is nothing new */
    LOOKED_NS = 2000000, /* so long after one has looked another look is expected */
    MAKING_NS = 500000000,
};

struct message {
    uint32_t offset, bytes;
};

struct sockets_lane {
    struct sockets_road *road;
    uint32_t number, to;
    /* Under the road's lock. */
    struct message waiting[SOCKETS_LANE_WINDOW];
    uint32_t first;
    _Atomic uint32_t count;
    uint64_t looked_ns;
    _Atomic uint32_t sleepers;
};

struct sockets_road {
    struct sockets_lock lock; /* taken behind those of links */
    struct unet_endpoint *ep;
    uint16_t channel;
    _Atomic bool dead;
    uint32_t sent;
    _Atomic bool corked;            /* changed under the lock */
    struct sockets_lane *looked_by; /* who looked at the endpoint last, and when */
    uint64_t looked_ns;
    /* Under the lock of all roads, and lanes under both. */
    struct sockets_lane *lane[SOCKETS_ROAD_LANES];
    uint32_t lanes, numbers;
    struct sockets_road_name name;
    bool shared;
    struct sockets_road *next;
};

void (*sockets_road_wake)(void);

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER, making = PTHREAD_MUTEX_INITIALIZER;
static struct sockets_road *all;
static uint64_t self;
static uint32_t dies_after;
static _Atomic uint32_t corked; /* roads */
static _Atomic bool agent_ticks;

/* ---- this process ------------------------------------------------------------------------ */

void sockets_road_init(void)
{
    const char *text = getenv("UNETSOCK_NET_DIES");
    char *end;
    const unsigned long value = text ? strtoul(text, &end, 10) : 0;

    if (text && *text && !*end && value < UINT32_MAX)
        dies_after = (uint32_t)value;
}

uint64_t sockets_road_self(void)
{
    uint64_t mine;

    pthread_mutex_lock(&all_lock);
    if (self == 0 && getrandom(&self, sizeof(self), 0) != sizeof(self))
        self = 0;
    mine = self;
    pthread_mutex_unlock(&all_lock);
    return mine;
}

void sockets_road_after_fork(void)
{
    pthread_mutex_init(&all_lock, NULL);
    pthread_mutex_init(&making, NULL);
    all = NULL;
    self = 0;
    atomic_store(&corked, 0);
    atomic_store(&agent_ticks, false);
}

bool sockets_road_making_begin(void)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += MAKING_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return pthread_mutex_clocklock(&making, CLOCK_MONOTONIC, &until) == 0;
}

void sockets_road_making_end(bool begun)
{
    if (begun)
        pthread_mutex_unlock(&making);
}

/* ---- messages that share packets ------------------------------------------------------------ */

void sockets_road_agent_ticks(void)
{
    atomic_store(&agent_ticks, true);
}

bool sockets_road_agent_sleeps(void)
{
    atomic_store(&agent_ticks, false);
    return atomic_load(&corked) == 0;
}

/* Under the road's lock, and hidden, as the next one.  A thread may leave its round for long: then
 * the agent uncorks, so one of the two has to see the other. */
static void cork(struct sockets_road *road)
{
    atomic_fetch_add(&corked, 1);
    if (!atomic_load(&agent_ticks)) {
        atomic_fetch_sub(&corked, 1);
        return;
    }
    atomic_store(&road->corked, true);
    unet_cork(road->ep);
}

static void uncork(struct sockets_road *road)
{
    if (!atomic_load_explicit(&road->corked, memory_order_relaxed))
        return;
    unet_uncork(road->ep);
    unet_push_packets(road->ep, road->channel);
    atomic_store(&road->corked, false);
    atomic_fetch_sub(&corked, 1);
}

/* Never waits, as a signal's handler may end a round, too: whoever has a road's lock uncorks it,
 * and the agent what is left. */
void sockets_road_uncork_all(void)
{
    const bool hidden = sockets_hidden_begin();

    if (atomic_load(&corked) > 0 && pthread_mutex_trylock(&all_lock) == 0) {
        for (struct sockets_road *road = all; road; road = road->next) {
            if (!road->corked || !sockets_lock_try(&road->lock))
                continue;
            uncork(road);
            sockets_lock_give(&road->lock);
        }
        pthread_mutex_unlock(&all_lock);
    }
    sockets_hidden_end(hidden);
}

/* What this thread is about to send may wait for what it sends next. */
static void cork_for_round(struct sockets_road *road)
{
    if (!sockets_round_is_on())
        uncork(road);
    else if (!road->corked)
        cork(road);
}

/* ---- roads and lanes --------------------------------------------------------------------- */

static void put_buffer(const struct sockets_road *road, uint32_t offset)
{
    unet_free_put(road->ep, offset / SOCKETS_ROAD_BUFFER * SOCKETS_ROAD_BUFFER,
                  SOCKETS_ROAD_BUFFER);
}

static void *close_body(void *argument)
{
    struct sockets_road *road = argument;
    const bool hidden = sockets_hidden_begin();

    unet_close(road->ep);
    sockets_hidden_end(hidden);
    free(road);
    return NULL;
}

/* It may wait for acknowledgements, which must not keep whoever closes it: that is the thread that
 * serves all links, also those of the other end if that is in this process. */
static void close_road(struct sockets_road *road)
{
    if (!sockets_thread_start(close_body, road))
        close_body(road);
}

static void lock_road(struct sockets_road *road)
{
    bool stolen;

    sockets_lock_take(&road->lock, &stolen);
}

/* Under the lock of all.  A number is not given again soon, so that what is still on its way to a
 * lane of before finds none. */
static struct sockets_lane *add_lane(struct sockets_road *road)
{
    uint32_t at = 0;
    struct sockets_lane *lane;

    while (at < SOCKETS_ROAD_LANES && road->lane[at])
        at++;
    if (at == SOCKETS_ROAD_LANES || !(lane = calloc(1, sizeof(*lane))))
        return NULL;
    lane->road = road;
    lane->number = road->numbers++ * SOCKETS_ROAD_LANES + at;
    lock_road(road);
    road->lane[at] = lane;
    sockets_lock_give(&road->lock);
    road->lanes++;
    return lane;
}

struct sockets_lane *sockets_road_new(struct unet_endpoint *ep, uint16_t channel,
                                      const struct sockets_road_name *name)
{
    struct sockets_road *road = calloc(1, sizeof(*road));
    struct sockets_lane *lane = NULL;

    if (road) {
        road->ep = ep;
        road->channel = channel;
        road->name = *name;
        lane = add_lane(road);
    }
    if (!lane) {
        const bool hidden = sockets_hidden_begin();

        unet_close(ep);
        sockets_hidden_end(hidden);
        free(road);
    }
    return lane;
}

void sockets_road_share(struct sockets_lane *lane)
{
    struct sockets_road *road = lane->road;

    pthread_mutex_lock(&all_lock);
    road->shared = true;
    road->next = all;
    all = road;
    pthread_mutex_unlock(&all_lock);
}

static bool is_meant(const struct sockets_road *road, const struct sockets_road_name *name)
{
    if (!road->shared || atomic_load(&road->dead) || road->name.peer != name->peer)
        return false;
    return name->id == 0 || (road->name.id == name->id && road->name.side == name->side);
}

struct sockets_lane *sockets_lane_new(struct sockets_road_name *name)
{
    struct sockets_lane *lane = NULL;

    pthread_mutex_lock(&all_lock);
    for (struct sockets_road *road = all; road && !lane; road = road->next)
        if (is_meant(road, name) && (lane = add_lane(road)))
            *name = road->name;
    pthread_mutex_unlock(&all_lock);
    return lane;
}

uint32_t sockets_lane_number(const struct sockets_lane *lane)
{
    return lane->number;
}

void sockets_lane_leads_to(struct sockets_lane *lane, uint32_t number)
{
    lane->to = number;
}

static void remove_road(struct sockets_road *road)
{
    for (struct sockets_road **at = &all; *at; at = &(*at)->next)
        if (*at == road) {
            *at = road->next;
            return;
        }
}

void sockets_lane_free(struct sockets_lane *lane)
{
    struct sockets_road *road = lane->road;
    bool last, hidden;

    pthread_mutex_lock(&all_lock);
    lock_road(road);
    hidden = sockets_hidden_begin();
    uncork(road);
    sockets_hidden_end(hidden);
    for (; lane->count > 0; lane->count--)
        put_buffer(road, lane->waiting[lane->first++ % SOCKETS_LANE_WINDOW].offset);
    road->lane[lane->number % SOCKETS_ROAD_LANES] = NULL;
    if (road->looked_by == lane)
        road->looked_by = NULL;
    sockets_lock_give(&road->lock);
    last = --road->lanes == 0;
    if (last)
        remove_road(road);
    pthread_mutex_unlock(&all_lock);
    free(lane);
    if (last)
        close_road(road);
}

void sockets_road_retire(struct sockets_lane *lane)
{
    pthread_mutex_lock(&all_lock);
    lane->road->shared = false;
    pthread_mutex_unlock(&all_lock);
}

int sockets_lane_fd(const struct sockets_lane *lane)
{
    return lane->road->ep->fd;
}

/* ---- life and death ---------------------------------------------------------------------- */

bool sockets_lane_is_dead(struct sockets_lane *lane)
{
    struct sockets_road *road = lane->road;

    if (!atomic_load(&road->dead) && sockets_lock_try(&road->lock)) {
        if (unet_channel_state(road->ep, road->channel) == UNET_DEAD)
            atomic_store(&road->dead, true);
        sockets_lock_give(&road->lock);
    }
    return atomic_load(&road->dead);
}

void sockets_lane_kill(struct sockets_lane *lane)
{
    atomic_store(&lane->road->dead, true);
}

/* ---- messages ---------------------------------------------------------------------------- */

int sockets_lane_send(struct sockets_lane *lane, const struct iovec *iov, int n)
{
    struct sockets_road *road = lane->road;
    bool stolen, hidden;
    int error;

    memcpy(iov[0].iov_base, &lane->to, sizeof(lane->to));
    if (atomic_load(&road->dead))
        return -EPIPE;
    if (!sockets_lock_take(&road->lock, &stolen))
        return -EAGAIN; /* a signal's handler has interrupted who has it */
    hidden = sockets_hidden_begin();
    cork_for_round(road);
    if (__builtin_expect(dies_after != 0, 0) && road->sent >= dies_after)
        error = -EPIPE;
    else
        error = unet_sendv(road->ep, road->channel, 0, iov, (size_t)n);
    if (road->corked)
        atomic_fetch_add_explicit(&sockets_counters->shared, 1, memory_order_relaxed);
    else if (error == 0) /* nothing waits in a process that may be killed */
        unet_push_packets(road->ep, road->channel);
    sockets_hidden_end(hidden);
    road->sent += error == 0;
    sockets_lock_give(&road->lock);
    return error;
}

/* Where a message belongs; nowhere if the lane has gone, or who sends keeps to no window. */
static struct sockets_lane *lane_of(const struct sockets_road *road, const struct unet_desc *desc)
{
    struct sockets_lane *lane;
    uint32_t number;

    if (desc->kind != UNET_PIECES || desc->pieces != 1 || desc->length < sizeof(number))
        return NULL;
    memcpy(&number, (const char *)road->ep->segment + desc->piece[0].offset, sizeof(number));
    lane = road->lane[number % SOCKETS_ROAD_LANES];
    return lane && lane->number == number && lane->count < SOCKETS_LANE_WINDOW ? lane : NULL;
}

static void keep(struct sockets_lane *lane, const struct unet_desc *desc)
{
    const uint32_t at = lane->first + lane->count;

    lane->waiting[at % SOCKETS_LANE_WINDOW] = (struct message){desc->piece[0].offset, desc->length};
    lane->count++;
}

/* Take what the endpoint has.  Returns whether some of it is for a lane that nobody looks at. */
static bool collect(struct sockets_road *road, const struct sockets_lane *ours, uint64_t now)
{
    bool wake = false;

    for (int i = 0; i < MESSAGES; i++) {
        struct sockets_lane *lane;
        struct unet_desc desc;

        if (!unet_rx_peek(road->ep)) {
            unet_progress(road->ep);
            if (!unet_rx_peek(road->ep))
                break;
        }
        desc = road->ep->rx_desc;
        lane = lane_of(road, &desc);
        unet_rx_release(road->ep);
        if (lane)
            keep(lane, &desc);
        else if (desc.kind == UNET_PIECES)
            for (uint8_t piece = 0; piece < desc.pieces; piece++)
                put_buffer(road, desc.piece[piece].offset);
        wake |= lane && lane != ours &&
                (atomic_load(&lane->sleepers) > 0 || now - lane->looked_ns > LOOKED_NS);
    }
    return wake;
}

static bool is_worth_a_look(const struct sockets_road *road, const struct sockets_lane *lane,
                            uint64_t now)
{
    return road->looked_by == NULL || road->looked_by == lane || now - road->looked_ns > RECENT_NS;
}

void sockets_lane_take(struct sockets_lane *lane,
                       bool (*take)(void *argument, const char *message, size_t bytes),
                       void *argument)
{
    struct sockets_road *road = lane->road;
    const uint64_t now = sockets_now_ns();
    bool wake = false, hidden;

    if (!sockets_lock_try(&road->lock))
        return;
    hidden = sockets_hidden_begin();
    uncork(road);
    lane->looked_ns = now;
    if (lane->count == 0 && is_worth_a_look(road, lane, now)) {
        wake = collect(road, lane, now);
        road->looked_by = lane;
        road->looked_ns = now;
    }
    while (lane->count > 0) {
        const struct message message = lane->waiting[lane->first % SOCKETS_LANE_WINDOW];

        if (!take(argument, (const char *)road->ep->segment + message.offset, message.bytes))
            break;
        put_buffer(road, message.offset);
        lane->first++;
        lane->count--;
    }
    sockets_hidden_end(hidden);
    sockets_lock_give(&road->lock);
    if (wake)
        sockets_road_wake();
}

void sockets_lane_add_sleeper(struct sockets_lane *lane)
{
    atomic_fetch_add(&lane->sleepers, 1);
}

void sockets_lane_remove_sleeper(struct sockets_lane *lane)
{
    atomic_fetch_sub(&lane->sleepers, 1);
}

bool sockets_lane_has_more(const struct sockets_lane *lane)
{
    return lane->count > 0;
}
