/* A token goes around the ring three times: each rank sends it on when it is notified.
 *   splitcc vmmc_ring.sc -lvmmc -o vmmc_ring && unetrun -n 4 ./vmmc_ring */
#include <split-c/gam.h>
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vmmc/vmmc.h>

enum { ROUNDS = 3, NAME = 1, SECRET = 0x1997 };

struct ring {
    struct vmmc_imported *next;
    int token, seen;
};

static void need(int rc, const char *what)
{
    if (rc < 0) {
        fprintf(stderr, "vmmc_ring: %s: %s\n", what, strerror(-rc));
        exit(1);
    }
}

/* Of the buffer that the left neighbour writes: the token is in place. */
static void arrived(struct vmmc_exported *e, void *arg, const struct vmmc_notification *n)
{
    struct ring *ring = arg;

    (void)e;
    (void)n;
    ring->seen++;
    if (MYPROC == 0 && ring->seen == ROUNDS) {
        printf("the token was passed on %d times\n", ring->token);
        return;
    }
    ring->token++;
    need(vmmc_send(ring->next, 0, &ring->token, sizeof ring->token, VMMC_NOTIFY, 0), "vmmc_send");
}

int splitc_main(void)
{
    struct ring ring = {0};
    struct vmmc_exported *mine;
    struct vmmc *v;
    uint32_t first;
    struct gam *g = splitc_gam(VMMC_HANDLERS, &first);
    const int left = (MYPROC + PROCS - 1) % PROCS, right = (MYPROC + 1) % PROCS;

    need(vmmc_open(g, first, &v), "vmmc_open");
    need(vmmc_export(v, NAME, SECRET, left, &ring.token, sizeof ring.token, 0, arrived, &ring,
                     &mine),
         "vmmc_export");
    need(vmmc_import(v, right, NAME, SECRET, 10000, &ring.next, NULL), "vmmc_import");
    barrier(); /* all have imported */
    if (MYPROC == 0) {
        ring.token = 1;
        need(vmmc_send(ring.next, 0, &ring.token, sizeof ring.token, VMMC_NOTIFY, 0), "vmmc_send");
    }
    while (ring.seen < ROUNDS)
        need(vmmc_wait(v, -1), "vmmc_wait");
    barrier();
    vmmc_close(v);
    return 0;
}
