/* SPDX-License-Identifier: BSD-3-Clause
 *
 * streams.sc MILLISECONDS BYTES... - figures 5 to 8 of the paper: streams as of its sockets, over a
 * circular buffer of 128 KiB.  A receive that finds nothing posts its own memory, and is redirected;
 * beside it ("raw") one that copies out of the buffer.  Ping-pong (talk_BYTES), one direction as of
 * ttcp (ttcp_), and files of FILE_FACTOR times as many bytes (get_), which the receiver writes.
 *
 * The paper's adaptive delay of senders is left out.
 */
#include "pair.h"

#include <unistd.h>

enum {
    RING = 128 << 10,
    TOLD = RING / 4, /* bytes after which the sender is told that they are free again */
    DATA = 1,        /* names of exports */
    FREE = 2,
    FILE_FACTOR = 64,
};

static char from[RING], to[RING], ring[RING];
static struct vmmc_exported *data, *freed;
static struct vmmc_imported *their_data, *their_freed;
static uint64_t sent, taken, told;   /* bytes of the stream: to the other, of the other's, and of */
static volatile uint64_t given_back; /* those the last that was told; and of ours */
static int redirects;
static size_t bytes;
static FILE *file;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- a stream --------------------------------------------------------------------------------- */

static void stream_send(const char *at, size_t n)
{
    while (n > 0) {
        const size_t room = (size_t)(RING - (sent - given_back));
        const size_t part = least(least(n, room), RING - sent % RING);

        if (part == 0) {
            need(vmmc_poll(v), "vmmc_poll");
            continue;
        }
        need(vmmc_send(their_data, sent % RING, at, part, 0, 0), "vmmc_send");
        sent += part;
        at += part;
        n -= part;
    }
}

/* So many bytes into posted memory, but for those that came before it was posted. */
static void receive_redirected(char *at, size_t n)
{
    const char *there = ring + taken % RING;
    struct vmmc_redirected r;

    need(vmmc_redirect(data, taken % RING, at, n), "vmmc_redirect");
    pair_await(data, taken + n);
    need(vmmc_redirect_end(data, &r), "vmmc_redirect_end");
    if (r.placed < n) {
        memcpy(at, there, r.first);
        memcpy(at + r.first + r.placed, there + r.first + r.placed, r.last);
    }
}

/* Some of n bytes; returns how many. */
static size_t receive_some(char *at, size_t n)
{
    const uint64_t there = vmmc_arrived(data) - taken;
    const size_t allowed = (size_t)(RING - (taken - told)); /* to the sender */
    const size_t part = least(least(n, allowed), RING - taken % RING);

    if (there == 0 && redirects) {
        receive_redirected(at, part);
        return part;
    }
    if (there == 0)
        pair_await(data, taken + 1);
    n = least(part, vmmc_arrived(data) - taken);
    memcpy(at, ring + taken % RING, n);
    return n;
}

static void stream_receive(char *at, size_t n)
{
    while (n > 0) {
        const size_t part = receive_some(at, n);

        taken += part;
        at += part;
        n -= part;
        if (taken - told < TOLD)
            continue;
        told = taken;
        need(vmmc_send(their_freed, 0, &told, sizeof told, 0, 0), "vmmc_send");
    }
}

/* ---- what is measured -------------------------------------------------------------------------- */

static double talk(long n)
{
    const double start = (barrier(), now_ns());

    for (long i = 0; i < n; i++) {
        on_one stream_send(from, bytes);
        stream_receive(to, bytes);
        on_proc(1) stream_send(from, bytes);
    }
    return now_ns() - start;
}

static double ttcp(long n)
{
    const double start = (barrier(), now_ns());

    on_one
    {
        for (long i = 0; i < n; i++)
            stream_send(from, bytes);
        stream_receive(to, 1);
    }
    on_proc(1)
    {
        for (long i = 0; i < n; i++)
            stream_receive(to, bytes);
        stream_send(from, 1);
    }
    return now_ns() - start;
}

static void file_do(int writes, size_t at)
{
    const ssize_t done = writes ? pwrite(fileno(file), to, bytes, (off_t)at)
                                : pread(fileno(file), from, bytes, (off_t)at);

    need(done == (ssize_t)bytes ? 0 : -EIO, "a temporary file");
}

static double get(long n)
{
    const double start = (barrier(), now_ns());

    for (long i = 0; i < n * FILE_FACTOR; i++) {
        on_proc(1)
        {
            file_do(0, (size_t)(i % FILE_FACTOR) * bytes);
            stream_send(from, bytes);
        }
        on_one
        {
            stream_receive(to, bytes);
            file_do(1, (size_t)(i % FILE_FACTOR) * bytes);
        }
    }
    barrier();
    return now_ns() - start;
}

#define BOTH(name)                                                                                 \
    static double name##_redirected(long n)                                                        \
    {                                                                                              \
        redirects = 1;                                                                             \
        return name(n);                                                                            \
    }                                                                                              \
    static double name##_copied(long n)                                                            \
    {                                                                                              \
        redirects = 0;                                                                             \
        return name(n);                                                                            \
    }

BOTH(talk)
BOTH(ttcp)
BOTH(get)

static void measure_size(const struct team *team, const char *text)
{
    bytes = size_of(text, RING);
    measure_pair(team, "talk", bytes, 2, talk_redirected, talk_copied);
    measure_pair(team, "ttcp", bytes, 1, ttcp_redirected, ttcp_copied);
    for (size_t i = 0; i < FILE_FACTOR; i++)
        file_do(1, i * bytes);
    measure_pair(team, "get", bytes, FILE_FACTOR, get_redirected, get_copied);
}

int splitc_main(int argc, char **argv)
{
    const struct team team = {MYPROC == 0, 0, all_bcast_d, budget_of(argc > 1 ? argv[1] : "100")};

    pair_open();
    pair_export(DATA, ring, sizeof ring, VMMC_REDIRECTABLE, &data, &their_data);
    pair_export(FREE, (void *)&given_back, sizeof given_back, 0, &freed, &their_freed);
    file = tmpfile();
    need(file ? 0 : -errno, "a temporary file");
    memset(from, 1, sizeof from);
    for (int i = 2; i < argc; i++)
        measure_size(&team, argv[i]);
    barrier();
    vmmc_close(v);
    return 0;
}
