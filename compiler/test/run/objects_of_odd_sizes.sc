// SPDX-License-Identifier: BSD-3-Clause
//
// Objects of no bytes to 20,000, packed, of 128 bits and of vectors, in every kind of access.
#include <split-c/split-c.h>
#include <complex.h>
#include <stdlib.h>
#include <string.h>
#include "../check.h"

typedef struct {
    int v[5000];
} big;
struct __attribute__((packed)) packed {
    char c;
    double d;
    int bits : 11;
    short s;
    int *global g;
};
struct empty {};
struct flexible {
    int n;
    double a[];
};
typedef float four __attribute__((vector_size(16)));
typedef struct {
    char c;
} tiny;

static big one, two;
static struct packed packed, list[2];
static struct empty empty;
static struct flexible *flexible;
static __int128 wide;
static four vector;
static _Complex float complex_number;
static long double long_number;
static tiny bytes[9];

static void big_ones(int next, int before)
{
    big *global g = toglobal(next, &one), copy;

    for (int i = 0; i < 5000; i++)
        one.v[i] = i * (MYPROC + 1);
    barrier();
    copy := *g;
    sync();
    EXPECT(copy.v[4999], 4999 * (next + 1));
    copy.v[0] = 5 + MYPROC;
    barrier();
    *toglobal(next, &two) :- copy;
    store_sync(sizeof(big));
    EXPECT(two.v[0], 5 + before);
    EXPECT(two.v[4999], 4999 * (MYPROC + 1));
    *g = copy;
    barrier();
    EXPECT(one.v[0], 5 + before);
    *toglobal(next, &two) := *g; /* from there to there */
    sync();
    barrier();
    EXPECT(memcmp(&one, &two, sizeof one), 0);
}

static void packed_ones(int next)
{
    struct packed *global g = toglobal(next, &packed), copy, *global in_list = toglobal(next, list);

    g->c = 'c';
    g->d = 2.5;
    g->bits = -700;
    g->s = 9;
    g->g = &toglobal(next, &one)->v[17];
    copy = *g;
    barrier();
    EXPECT(packed.d == 2.5 && packed.bits == -700 && copy.s == 9, 1);
    barrier();
    g->d *= 2;
    g->d++;
    g->bits -= 1;
    in_list++;
    *in_list = copy;
    in_list->d := 7.5;
    sync();
    barrier();
    EXPECT(packed.d == 6 && packed.bits == -701, 1);
    EXPECT(*packed.g, 17 * (MYPROC + 1));
    EXPECT(list[1].d == 7.5 && list[1].c == 'c', 1);
}

static void numbers(int next)
{
    __int128 *global w = toglobal(next, &wide), copy;
    four *global v = toglobal(next, &vector);

    *w = (__int128)1 << 100;
    *w += 5;
    (*w)--;
    *v = (four){1, 2, 3, 4};
    *v += *v;
    *toglobal(next, &complex_number) = 1 + 2.5f * I;
    *toglobal(next, &long_number) = 1.0L / 7;
    barrier();
    copy := *w;
    sync();
    EXPECT(wide >> 100, 1);
    EXPECT(copy - wide + (long)wide, 4);
    EXPECT(vector[0] + 10 * vector[3], 82);
    EXPECT(cimagf(complex_number) == 2.5f && long_number == 1.0L / 7, 1);
}

static void small_ones(int next, int before)
{
    struct empty *global e = toglobal(next, &empty), none = *e;
    tiny *global t = toglobal(next, bytes + 8);
    char across[24];
    double *global unaligned = (double *global)(double *)(across + 1);

    *e = none;
    while (t >= toglobal(next, bytes))
        (t--)->c = 'a' + MYPROC;
    flexible = malloc(sizeof *flexible + 3 * sizeof(double));
    flexible->n = 3;
    flexible->a[2] = MYPROC;
    barrier();
    EXPECT(bytes[0].c == 'a' + before && bytes[8].c == 'a' + before, 1);
    struct flexible *global f = toglobal(next, *toglobal(next, &flexible));
    EXPECT(f->a[f->n - 1], next);
    *unaligned = 1.25;
    *unaligned *= 2;
    EXPECT(memcmp(across + 1, &(double){2.5}, sizeof(double)), 0);
    bulk_put(toglobal(next, bytes), across, 0);
    bulk_store(toglobal(next, bytes), across, 0);
    sync();
    barrier();
    free(flexible);
}

int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS, before = (MYPROC + PROCS - 1) % PROCS;

    big_ones(next, before);
    packed_ones(next);
    numbers(next);
    small_ones(next, before);
    return failures;
}
