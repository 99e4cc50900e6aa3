#include <split-c/split-c.h>
#include "../check.h"

struct mix {
    char c;
    __int128 big;
    long double precise;
    _Complex double z;
    float f[3];
    unsigned long long u;
    void (*function)(void);
    char *text;
} mix;

int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS;
    struct mix *global g = toglobal(next, &mix);
    struct mix copy;

    mix.big = ((__int128)1 << 100) + MYPROC;
    mix.precise = 1.0L / 4 + MYPROC;
    mix.z = 3.0 + 4.0i;
    mix.text = "text";
    barrier();
    EXPECT(g->big >> 100, 1);
    EXPECT((long)g->big, next);
    EXPECT(4 * g->precise, 1 + 4 * next);
    EXPECT(__real__ g->z + __imag__ g->z, 7);
    EXPECT(g->text[1], 'e'); // same program, same address
    copy = *g;
    EXPECT((long)copy.big, next);
    barrier();
    g->big += (__int128)1 << 100;
    g->precise *= 2;
    g->z *= 2;
    g->c ^= 1;
    g->u = -1;
    barrier();
    EXPECT(mix.big >> 100, 2);
    EXPECT(4 * mix.precise, 2 * (1 + 4 * MYPROC));
    EXPECT(__imag__ mix.z, 8);
    EXPECT(mix.c, 1);
    EXPECT(mix.u + 1, 0);
    return failures;
}
