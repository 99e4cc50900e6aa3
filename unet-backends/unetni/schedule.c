/* SPDX-License-Identifier: BSD-3-Clause
 *
 * schedule.c - whose message is next: deficit round robin (Shreedhar and Varghese, SIGCOMM 1995).
 *
 * By bytes, among users and then among the endpoints of each, so that neither many endpoints nor
 * long messages get anybody more.  Who is served may overdraw by one frame and starts the next
 * turn with that debt, so no message need be looked at before it is taken.  Who has nothing to send
 * keeps no credit, but keeps his debt.
 *
 * Only endpoints that are awake are looked at.  One that had nothing for a while is put to sleep:
 * it costs nothing until its client rings, or something arrives for it, which often is answered.
 */
#include "unetni/unetni.h"

enum { TOKENS_NS = 100000 };

/* ---- turns ------------------------------------------------------------------------------ */

static void keep_debt(int64_t *deficit)
{
    if (*deficit > 0)
        *deficit = 0;
}

/* Until it has had its share, or its user his, or its queue is empty, or the wire is full. */
static unsigned serve_endpoint(struct unetni_service *s, struct unetni_endpoint *ep)
{
    unsigned count = 0;

    while (ep->deficit > 0 && ep->user->deficit > 0) {
        if (s->batch.count == UNETNI_BATCH && !unetni_send_flush(s))
            break;
        if (!unetni_send_one(s, ep)) {
            keep_debt(&ep->deficit);
            break;
        }
        count++;
    }
    if (count > 0) {
        ep->heard_ns = s->now_ns;
        unetni_send_publish(ep);
    }
    return count;
}

static void next_endpoint(struct unetni_user *user, struct unetni_endpoint *ep)
{
    TAILQ_REMOVE(&user->awake, ep, active);
    TAILQ_INSERT_TAIL(&user->awake, ep, active);
}

/* Of a user with a rate: a bucket of tokens, from which he may take a quantum too much. */
static bool has_tokens(const struct unetni_service *s, struct unetni_user *user)
{
    const uint64_t ns = s->now_ns - user->token_ns;

    if (s->limits.rate == 0)
        return true;
    if (ns >= TOKENS_NS) { /* less often, or what is rounded off would count */
        const uint64_t second = 1000000000, most = ns < second ? ns : second;

        user->tokens += (int64_t)((double)s->limits.rate * (double)most / (double)second);
        if (user->tokens > UNETNI_BURST)
            user->tokens = UNETNI_BURST;
        user->token_ns = s->now_ns;
    }
    return user->tokens > 0;
}

/* An endpoint whose turn his user's share cut short goes on first next time, with what it had left;
 * so a turn begins only where the last one is used up. */
static unsigned serve_user(struct unetni_service *s, struct unetni_user *user)
{
    unsigned count = 0, idle = 0;

    if (!has_tokens(s, user))
        return 0;
    s->throttled = false;
    if (user->deficit <= 0)
        user->deficit += UNETNI_USER_QUANTUM;
    while (user->deficit > 0 && idle < user->awake_count) {
        struct unetni_endpoint *ep = TAILQ_FIRST(&user->awake);
        unsigned served;

        if (ep->deficit <= 0)
            ep->deficit += UNETNI_ENDPOINT_QUANTUM;
        served = serve_endpoint(s, ep);
        count += served;
        if (ep->deficit > 0) /* the user has had his share, or the wire is full */
            return count;
        idle = served > 0 || ep->deficit < 0 ? 0 : idle + 1;
        next_endpoint(user, ep);
    }
    if (idle >= user->awake_count)
        keep_debt(&user->deficit);
    return count;
}

unsigned unetni_schedule_round(struct unetni_service *s)
{
    unsigned count = 0;

    s->throttled = false;
    if (s->batch.count > 0 && !unetni_send_flush(s))
        return 0;
    s->throttled = s->active_count > 0;
    for (unsigned i = s->active_count; i > 0 && s->batch.count < UNETNI_BATCH; i--) {
        struct unetni_user *user = TAILQ_FIRST(&s->active);

        count += serve_user(s, user);
        TAILQ_REMOVE(&s->active, user, active);
        TAILQ_INSERT_TAIL(&s->active, user, active);
    }
    if (s->batch.count > 0)
        unetni_send_flush(s);
    return count;
}

/* ---- who is looked at -------------------------------------------------------------------- */

void unetni_schedule_wake(struct unetni_service *s, struct unetni_endpoint *ep)
{
    struct unetni_user *user = ep->user;

    ep->heard_ns = s->now_ns;
    if (ep->awake)
        return;
    ep->awake = true;
    __atomic_store_n(ep->asleep, 0, __ATOMIC_RELAXED);
    TAILQ_INSERT_TAIL(&user->awake, ep, active);
    if (user->awake_count++ > 0)
        return;
    TAILQ_INSERT_TAIL(&s->active, user, active);
    s->active_count++;
}

void unetni_schedule_forget(struct unetni_service *s, struct unetni_endpoint *ep)
{
    struct unetni_user *user = ep->user;

    if (!ep->awake)
        return;
    ep->awake = false;
    keep_debt(&ep->deficit);
    TAILQ_REMOVE(&user->awake, ep, active);
    if (--user->awake_count > 0)
        return;
    keep_debt(&user->deficit);
    TAILQ_REMOVE(&s->active, user, active);
    s->active_count--;
}

/* The client is told to ring, and then its queue is looked at once more. */
static void rest(struct unetni_service *s, struct unetni_endpoint *ep)
{
    __atomic_store_n(ep->asleep, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* H, matches G in the client */
    if (unetni_send_waits(ep)) {
        __atomic_store_n(ep->asleep, 0, __ATOMIC_RELAXED);
        ep->heard_ns = s->now_ns;
    } else {
        unetni_schedule_forget(s, ep);
    }
}

void unetni_schedule_rest(struct unetni_service *s)
{
    struct unetni_endpoint *ep;

    LIST_FOREACH(ep, &s->endpoints, all)
    if (ep->awake && ep->in_batch == 0 && s->now_ns - ep->heard_ns >= s->spin_ns)
        rest(s, ep);
}
