/* SPDX-License-Identifier: BSD-3-Clause
 *
 * transfers.sc MILLISECONDS BYTES... - ping-pong between two processors: small sends beside stores
 * of GAM ("raw"), and messages redirected to where the receiver wants them beside the same copied
 * out of the default buffer ("raw"); "full_BYTES" is the percentage of receives that were
 * redirected in full, and "copy_BYTES" what the copy takes that redirection saves.  The receiver does not read what it has received, as in the paper; in "read_"
 * it does: caches of one node then hold what a receiver has to fetch from the sender's.
 */
#include "measure.h"

#include <errno.h>
#include <gam/gam.h>
#include <split-c/gam.h>
#include <split-c/split-c.h>
#include <string.h>
#include <vmmc/vmmc.h>

enum {
    LONGEST = 1 << 20,
    TIMED = 64 << 10, /* bytes from which on a copy takes long beside two looks at the clock */
    NAME = 1,
    SECRET = 2
};

static char from[LONGEST], buffer[LONGEST], user[LONGEST];
static struct gam *g;
static struct vmmc *v;
static struct vmmc_exported *mine;
static struct vmmc_imported *theirs;
static uint32_t on_landed;
static uint64_t landed, expected;
static size_t bytes;
static long receives, full;
static double copying_ns; /* of all `copies` */
static long copies;
static int reads;
static volatile unsigned long sink;

static void need(int rc, const char *what)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "transfers: %s: %s\n", what, strerror(-rc));
    exit(1);
}

static void landed_one(struct gam *ours, const struct gam_message *m)
{
    (void)ours;
    (void)m;
    landed++;
}

static void send_it(void)
{
    need(vmmc_send(theirs, 0, from, bytes, 0, 0), "vmmc_send");
}

static void await_it(void)
{
    expected += bytes;
    while (vmmc_arrived(mine) < expected)
        need(vmmc_poll(v), "vmmc_poll");
}

/* ---- small ones --------------------------------------------------------------------------- */

static double sends(long n)
{
    double start;

    barrier();
    start = now_ns();
    for (long i = 0; i < n; i++) {
        on_one send_it();
        await_it();
        on_proc(1) send_it();
    }
    return now_ns() - start;
}

static void store_it(void)
{
    need(gam_store(g, !MYPROC, from, user, bytes, on_landed, 0), "gam_store");
}

static void await_store(uint64_t count)
{
    while (landed < count)
        need(gam_poll(g), "gam_poll");
}

static double stores(long n)
{
    const uint64_t before = landed;
    double start;

    barrier();
    start = now_ns();
    for (long i = 1; i <= n; i++) {
        on_one store_it();
        await_store(before + (uint64_t)i);
        on_proc(1) store_it();
    }
    return now_ns() - start;
}

/* ---- redirected, or copied out of the default buffer --------------------------------------- */

static void read_it(void)
{
    unsigned long sum = 0;

    for (size_t k = 0; reads && k < bytes; k += 64)
        sum += (unsigned char)user[k];
    sink += sum;
}

static void post(void)
{
    need(vmmc_redirect(mine, 0, user, bytes), "vmmc_redirect");
}

static void take(void)
{
    struct vmmc_redirected r;

    await_it();
    need(vmmc_redirect_end(mine, &r), "vmmc_redirect_end");
    if (r.placed < bytes) {
        memcpy(user, buffer, r.first);
        memcpy(user + r.first + r.placed, buffer + r.first + r.placed, r.last);
    }
    read_it();
    receives++;
    full += r.placed == bytes;
}

/* Each posts before it sends, so that the answer is redirected. */
static double redirected(long n)
{
    double start;

    on_proc(1) post();
    barrier();
    start = now_ns();
    for (long i = 1; i <= n; i++) {
        on_one
        {
            post();
            send_it();
        }
        take();
        on_proc(1)
        {
            if (i < n)
                post();
            send_it();
        }
    }
    return now_ns() - start;
}

static void copy_out(void)
{
    const double start = bytes >= TIMED ? now_ns() : 0;

    memcpy(user, buffer, bytes);
    if (bytes < TIMED)
        return;
    copying_ns += now_ns() - start;
    copies++;
}

static double copied(long n)
{
    double start;

    barrier();
    start = now_ns();
    for (long i = 0; i < n; i++) {
        on_one send_it();
        await_it();
        copy_out();
        read_it();
        on_proc(1) send_it();
    }
    return now_ns() - start;
}

static void measure_size(const struct team *team, const char *text)
{
    char metric[64];

    bytes = strtoul(text, NULL, 10);
    if (bytes == 0 || bytes > LONGEST)
        need(-EINVAL, text);
    if (bytes <= VMMC_SMALL_MAX) {
        snprintf(metric, sizeof metric, "small_%zu", bytes);
        measure(team, metric, 1, sends, stores);
        return;
    }
    reads = 1;
    snprintf(metric, sizeof metric, "read_%zu", bytes);
    measure(team, metric, 1, redirected, copied);
    reads = 0;
    receives = full = copies = 0;
    copying_ns = 0;
    snprintf(metric, sizeof metric, "pingpong_%zu", bytes);
    measure(team, metric, 1, redirected, copied);
    on_one printf("full_%zu %.6g\n", bytes, 100.0 * (double)full / (double)receives);
    if (bytes >= TIMED)
        on_one printf("copy_%zu %.6g\n", bytes, copying_ns / (double)copies);
}

int splitc_main(int argc, char **argv)
{
    const struct team team = {MYPROC == 0, 0, all_bcast_d, budget_of(argc > 1 ? argv[1] : "100")};
    uint32_t first;

    if (PROCS != 2) {
        on_one fprintf(stderr, "transfers: runs on 2 processors\n");
        return 2;
    }
    g = splitc_gam(VMMC_HANDLERS + 1, &first);
    on_landed = first + VMMC_HANDLERS;
    need(gam_register(g, on_landed, landed_one), "gam_register");
    need(vmmc_open(g, first, &v), "vmmc_open");
    memset(from, 1, sizeof from);
    memset(buffer, 0, sizeof buffer);
    memset(user, 0, sizeof user);
    need(vmmc_export(v, NAME, SECRET, !MYPROC, buffer, sizeof buffer, VMMC_REDIRECTABLE, NULL, NULL,
                     &mine),
         "vmmc_export");
    need(vmmc_import(v, !MYPROC, NAME, SECRET, 10000, &theirs, NULL), "vmmc_import");
    for (int i = 2; i < argc; i++)
        measure_size(&team, argv[i]);
    barrier();
    vmmc_close(v);
    return 0;
}
