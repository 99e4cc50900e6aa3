// flags: -std=gnu89
#include <split-c/am.h>
#include <split-c/split-c.h>
#include <string.h>
#include "../check.h"

/* A client of Generic Active Messages as they were written: K&R, words that are pointers, calls
 * that count their arguments, and nothing of Split-C's but what tells how it went. */

int me, procs;

/* ---- words ---- */

int counted[5];

void hear0(source)
{
    counted[0]++;
}

void hear1(source, a)
    int source, a;
{
    counted[1] += a;
}

void hear2(source, flag, a)
    int source, *flag, a;
{
    *flag += a;
}

void ask2(source, flag, a)
    int source, *flag, a;
{
    am_reply(source, hear2, flag, a + 1);
}

void hear4(source, a, b, c, d)
    int source, a, b, c, d;
{
    counted[4] += a * b * c * d;
}

void ask4(source, a, b, c, d)
    int source, a, b, c, d;
{
    am_reply(source, hear4, a, b, c, d);
}

double sum;

void hear_df(int source, am_word a, double d)
{
    sum += a + d;
}

void ask_df(int source, am_word a, am_word b, double d)
{
    am_reply_df(source, hear_df, a + b, d);
}

words(dest)
{
    int flag = 0;

    am_request(dest, hear0);
    am_request(dest, hear1, 7);
    am_request(dest, ask2, &flag, 4);
    am_request(dest, ask4, 2, 3, 5, 7);
    am_request_df(dest, ask_df, 3, 4, 0.5);
    while (flag == 0 || counted[4] == 0 || sum == 0 || counted[0] == 0 || counted[1] == 0)
        am_poll();
    EXPECT(flag, 5);
    EXPECT(counted[4], 210);
    EXPECT(sum == 7.5, 1);
    barrier();
    EXPECT(counted[0], 1);
    EXPECT(counted[1], 7);
}

/* ---- medium messages ---- */

int mediums;

void hear_medium0(int source, void *buffer, int n)
{
    mediums += n == 5 && ((char *)buffer)[4] == 'e';
}

void hear_medium4(int source, void *buffer, int n, int a, int b, int c, int d)
{
    mediums += n == 3 && a == 1 && b == 2 && c == 3 && d == 4 && ((char *)buffer)[0] == 'x';
}

void hear_medium2(int source, void *buffer, int n, int a, int *flag)
{
    *flag += n == 4 && a == 9 && ((char *)buffer)[3] == 'd';
}

void ask_medium3(int source, void *buffer, int n, int a, int *flag, int c)
{
    mediums += n == 6 && c == 11;
    am_reply_medium(source, hear_medium2, buffer, 4, a, flag);
}

mediums_of_every_kind(dest)
{
    int flag = 0;

    am_request_medium(dest, hear_medium0, "abcde", 5);
    am_request_medium(dest, hear_medium4, "xyz", 3, 1, 2, 3, 4);
    am_request_medium(dest, ask_medium3, "abcdef", 6, 9, &flag, 11);
    while (!flag || mediums < 3)
        am_poll();
    EXPECT(flag, 1);
    barrier();
    EXPECT(mediums, 3);
}

/* ---- transfers in replies ---- */

enum { LARGEST = 300000 };
static char block[LARGEST], landed[LARGEST + 1];

void hear_block(int source, void *address, int n, int *flag)
{
    (*flag)++;
}

/* The source of a large one stays as it is. */
void ask_block(int source, int n, int *flag, void *to)
{
    int i;

    for (i = 0; i < LARGEST; i++)
        block[i] = i * 7 + 1;
    am_reply_xfer(source, block, to, n, hear_block, (am_word)flag);
}

transfers(dest)
{
    static int sizes[] = {0, 1, 8000, 10000, LARGEST};
    int i, k, wrong = 0;

    for (k = 0; k < 5; k++) {
        int flag = 0;

        memset(landed, 0, sizeof landed);
        am_request(dest, ask_block, sizes[k], &flag, landed);
        while (!flag)
            am_poll();
        EXPECT(flag, 1);
        for (i = 0; i < sizes[k]; i++)
            wrong += landed[i] != (char)(i * 7 + 1);
        EXPECT(wrong, 0);
        EXPECT(landed[sizes[k]], 0);
    }
    barrier();
}

int splitc_main(int argc, char **argv)
{
    int size;

    am_enable(2, argc, argv);
    EXPECT(am_enable(), 0);
    me = am_my_proc();
    procs = am_procs();
    EXPECT(procs, PROCS);
    EXPECT(am_cluster_size(), PROCS);
    size = am_max_size();
    EXPECT(size >= 65536 && 10 * size > size, 1);
    words((me + 1) % procs);
    mediums_of_every_kind((me + 1) % procs);
    transfers((me + 1) % procs);
    am_disable();
    return failures;
}
