/* SPDX-License-Identifier: BSD-3-Clause
 *
 * logp.sc MILLISECONDS BYTES... - figures 3 and 4 of the paper: one way of a ping-pong (half_BYTES),
 * what a send and a receive take of a processor's time (send_, receive_), the time from one message
 * to the next in one direction (gap_), and with both sending at once (both_).  Nobody reads or
 * copies what has come.
 */
#include "pair.h"

enum {
    LONGEST = 1 << 20,
    NAME = 1,
    BURST = 4,            /* messages whose overheads are measured together */
    OVERHEAD_MOST = 8192, /* bytes of those; longer ones would not all be there in time */
    SIGN_NS = 10000,      /* from the sign that a burst comes to the burst */
    PAUSE_NS = 60000,     /* and until all of it has come */
    PAUSES = 50,          /* times as long as what is measured between them, about */
};

static char from[LONGEST], buffer[LONGEST];
static struct vmmc_exported *mine;
static struct vmmc_imported *theirs;
static uint64_t expected;
static size_t bytes;

static void send(size_t n)
{
    need(vmmc_send(theirs, 0, from, n, 0, 0), "vmmc_send");
}

static void await(uint64_t n)
{
    expected += n;
    pair_await(mine, expected);
}

static void rest(double ns)
{
    const double until = now_ns() + ns;

    while (now_ns() < until)
        ;
}

static double half(long n)
{
    double start;

    barrier();
    start = now_ns();
    for (long i = 0; i < n; i++) {
        on_one send(bytes);
        await(bytes);
        on_proc(1) send(bytes);
    }
    return now_ns() - start;
}

/* ---- overheads ---------------------------------------------------------------------------- */

static double burst(void)
{
    const double start = now_ns();

    for (int k = 0; k < BURST; k++)
        send(bytes);
    return now_ns() - start;
}

static double sends(long n)
{
    double spent = 0;

    barrier();
    for (long i = 0; i < n; i++) {
        on_one
        {
            spent += burst();
            await(1);
        }
        on_proc(1)
        {
            await(BURST * bytes);
            send(1);
        }
    }
    return spent;
}

static double receive_burst(void)
{
    double start;

    await(1);
    rest(PAUSE_NS);
    start = now_ns();
    await(BURST * bytes);
    return now_ns() - start;
}

static double receives(long n)
{
    double spent = 0;

    barrier();
    for (long i = 0; i < n; i++) {
        on_one
        {
            spent += receive_burst();
            send(1);
        }
        on_proc(1)
        {
            send(1);
            rest(SIGN_NS);
            burst();
            await(1);
        }
    }
    return spent;
}

/* ---- streams -------------------------------------------------------------------------------- */

static double one_way(long n)
{
    const double start = (barrier(), now_ns());

    on_one
    {
        for (long i = 0; i < n; i++)
            send(bytes);
        await(1);
    }
    on_proc(1)
    {
        await((uint64_t)n * bytes);
        send(1);
    }
    return now_ns() - start;
}

static double both_ways(long n)
{
    const double start = (barrier(), now_ns());

    for (long i = 0; i < n; i++)
        send(bytes);
    await((uint64_t)n * bytes);
    return now_ns() - start;
}

static void measure_size(const struct team *team, const char *text)
{
    struct team brief = *team;

    brief.budget_ns /= PAUSES;
    bytes = size_of(text, LONGEST);
    measure_pair(team, "half", bytes, 2, half, NULL);
    if (bytes <= OVERHEAD_MOST) {
        measure_pair(team, "send", bytes, BURST, sends, NULL);
        measure_pair(&brief, "receive", bytes, BURST, receives, NULL);
    }
    measure_pair(team, "gap", bytes, 1, one_way, NULL);
    measure_pair(team, "both", bytes, 1, both_ways, NULL);
}

int splitc_main(int argc, char **argv)
{
    const struct team team = {MYPROC == 0, 0, all_bcast_d, budget_of(argc > 1 ? argv[1] : "100")};

    pair_open();
    pair_export(NAME, buffer, sizeof buffer, 0, &mine, &theirs);
    memset(from, 1, sizeof from);
    for (int i = 2; i < argc; i++)
        measure_size(&team, argv[i]);
    barrier();
    vmmc_close(v);
    return 0;
}
