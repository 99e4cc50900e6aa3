/* Rank 0 streams to rank 1, as ttcp does, and rank 1 has the bytes redirected to where it wants them.
 *   splitcc -O2 vmmc_ttcp.sc -lvmmc -o vmmc_ttcp && unetrun -n 2 ./vmmc_ttcp [BYTES [MESSAGES]] */
#include <split-c/gam.h>
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vmmc/vmmc.h>

enum { NAME = 1, SECRET = 0x1997 };

static struct vmmc *v;

static void need(int rc, const char *what)
{
    if (rc < 0) {
        fprintf(stderr, "vmmc_ttcp: %s: %s\n", what, strerror(-rc));
        exit(1);
    }
}

static unsigned char byte_of(long message, size_t k)
{
    return (unsigned char)(message * 31 + k * 7 + (k >> 8));
}

static void wait_for(const struct vmmc_exported *e, uint64_t bytes)
{
    while (vmmc_arrived(e) < bytes)
        need(vmmc_wait(v, -1), "vmmc_wait");
}

/* One byte to the sender: the next message may come. */
static void transmit(struct vmmc_imported *peer, const struct vmmc_exported *go, size_t n, long count)
{
    unsigned char *from = malloc(n);

    for (long i = 0; i < count; i++) {
        for (size_t k = 0; k < n; k++)
            from[k] = byte_of(i, k);
        wait_for(go, (uint64_t)i + 1);
        need(vmmc_send(peer, 0, from, n, 0, 0), "vmmc_send");
    }
    free(from);
}

/* What was not redirected is copied, which is always possible. */
static size_t take(struct vmmc_exported *e, const unsigned char *buffer, unsigned char *to)
{
    struct vmmc_redirected r;

    need(vmmc_redirect_end(e, &r), "vmmc_redirect_end");
    memcpy(to, buffer, r.first);
    memcpy(to + r.first + r.placed, buffer + r.first + r.placed, r.last);
    return r.placed;
}

static void receive(struct vmmc_imported *peer, struct vmmc_exported *e,
                    const unsigned char *buffer, size_t n, long count)
{
    unsigned char *to = malloc(n);
    size_t placed = 0;
    double begin = get_seconds();

    for (long i = 0; i < count; i++) {
        need(vmmc_redirect(e, 0, to, n), "vmmc_redirect");
        need(vmmc_send(peer, 0, "", 1, 0, 0), "vmmc_send");
        wait_for(e, (uint64_t)(i + 1) * n);
        placed += take(e, buffer, to);
        for (size_t k = 0; k < n; k++)
            if (to[k] != byte_of(i, k)) {
                fprintf(stderr, "vmmc_ttcp: byte %zu of message %ld is wrong\n", k, i);
                exit(1);
            }
    }
    begin = get_seconds() - begin;
    printf("%ld messages of %zu bytes, all right, %.0f %% redirected\n", count, n,
           100.0 * (double)placed / ((double)n * (double)count));
    fprintf(stderr, "%.1f MB/s, checks included\n", (double)n * (double)count / begin / 1e6);
    free(to);
}

int splitc_main(int argc, char **argv)
{
    const long n = argc > 1 ? atol(argv[1]) : 262144, count = argc > 2 ? atol(argv[2]) : 64;
    struct vmmc_exported *mine;
    struct vmmc_imported *peer;
    unsigned char *buffer;
    uint32_t first;
    struct gam *g = splitc_gam(VMMC_HANDLERS, &first);

    if (PROCS != 2 || n < 1 || count < 1) {
        on_one fprintf(stderr, "vmmc_ttcp: usage: unetrun -n 2 ./vmmc_ttcp [BYTES [MESSAGES]]\n");
        return 2;
    }
    buffer = malloc((size_t)n);
    need(vmmc_open(g, first, &v), "vmmc_open");
    need(vmmc_export(v, NAME, SECRET, 1 - MYPROC, buffer, (size_t)n, VMMC_REDIRECTABLE, NULL, NULL,
                     &mine),
         "vmmc_export");
    need(vmmc_import(v, 1 - MYPROC, NAME, SECRET, 10000, &peer, NULL), "vmmc_import");
    if (MYPROC == 0)
        transmit(peer, mine, (size_t)n, count);
    else
        receive(peer, mine, buffer, (size_t)n, count);
    barrier();
    vmmc_close(v);
    free(buffer);
    return 0;
}
