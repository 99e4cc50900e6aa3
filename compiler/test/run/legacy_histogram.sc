// flags: -std=gnu89
/*
 * histo.sc - histogram of keys over all processors, and a prefix sum of it.
 *
 * usage: histo [keys per processor] [buckets]
 */
#include <stdio.h>
#include <stdlib.h>
#include <split-c/split-c.h>

#define KEYS    200
#define BUCKETS 16
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define OWNER(b) ((b) % PROCS)

typedef struct bucket {
    int count;
    int *global next;
} Bucket;

static unsigned seed;
int verbose;
static nkeys = KEYS, nbuckets = BUCKETS;

static unsigned next_random()
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) & 0x7fff;
}

make_keys(keys, n)
int *keys;
{
    register int i;

    seed = 17 * MYPROC + 1;
    for (i = 0; i < n; i++)
        keys[i] = next_random() % nbuckets;
}

/* Count locally, then add each bucket into the one place where it lives. */
void local_count(n, keys, b, counts)
int n, *keys, b;
int *counts;
{
    int i;
    for (i = 0; i < b; i++)
        counts[i] = 0;
    for (i = 0; i < n; i++)
        counts[keys[i]]++;
}

add_up(b, counts, H)
int b;
int *counts;
int H[b]::;
{
    int i, turn;

    for (turn = 0; turn < PROCS; turn++) {
        for (i = 0; i < b; i++)
            if (OWNER(i + turn) == MYPROC)
                H[i] += counts[i];
        barrier();
    }
}

/* Everyone's counts arrive by stores; the owner adds. */
add_by_stores(b, counts, H)
int b, *counts;
int *spread H;
{
    int rows = (b + PROCS - 1) / PROCS;
    int inbox[PROCS]::[rows][PROCS];
    int i, p, mine;

    for (i = 0; i < b; i++)
        inbox[OWNER(i)][i / PROCS][MYPROC] :- counts[i];
    all_store_sync();
    for (i = MYPROC; i < b; i += PROCS) {
        int (*box)[PROCS] = tolocal(inbox[MYPROC]);
        for (mine = p = 0; p < PROCS; p++)
            mine += box[i / PROCS][p];
        H[i] = mine;
    }
    barrier();
}

prefix(b, H, S)
int b;
int *spread H, *spread S;
{
    int i, sum = 0, h;

    on_one {
        for (i = 0; i < b; i++) {
            h := H[i];
            sync();
            sum += h;
            S[i] = sum;
        }
    }
    barrier();
    return S[b - 1];
}

splitc_main(argc, argv)
int argc;
char *argv[];
{
    int *keys, *counts, *spread H, *spread G, *spread S, i, wrong = 0;

    if (argc > 1)
        nkeys = atoi(argv[1]);
    if (argc > 2)
        nbuckets = atoi(argv[2]);
    keys = (int *)malloc(nkeys * sizeof(int));
    counts = (int *)calloc(nbuckets, sizeof(int));
    H = all_spread_malloc(nbuckets, sizeof(int));
    G = all_spread_malloc(nbuckets, sizeof(int));
    S = all_spread_malloc(nbuckets, sizeof(int));
    for (i = MYPROC; i < nbuckets; i += PROCS)
        H[i] = G[i] = 0;
    make_keys(keys, nkeys);
    barrier();
    local_count(nkeys, keys, nbuckets, counts);
    add_up(nbuckets, counts, H);
    add_by_stores(nbuckets, counts, G);
    for (i = 0; i < nbuckets; i++)
        wrong += H[i] != G[i] || H[i] != all_reduce_to_all_add(counts[i]);
    if (prefix(nbuckets, H, S) != nkeys * PROCS)
        wrong++;
    on_one if (verbose || wrong)
        printf("histogram: %d wrong of %d buckets\n", wrong, nbuckets);
    all_spread_free(S);
    all_spread_free(G);
    all_spread_free(H);
    free(keys);
    return wrong != 0;
}
