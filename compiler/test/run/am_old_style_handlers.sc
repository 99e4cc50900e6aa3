// flags: -std=gnu89
// with: parts/old_style_handlers.sc
#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

/* Functions without prototypes take what they have parameters for of what is sent. */
extern int seen_source, seen_words[4], seen_bytes, ends, exact_sum;
extern double seen_real;
extern void far_words(), far_block(), far_real(), far_nothing();
extern void far_exactly(), far_ack();

int done_calls, sources, words[4], table_calls, sum;
char here[64], there[64];

done()
{
    done_calls++;
}

note_source(source)
{
    sources += source + 1;
}

void two(source, a, b)
    int source;
    short a;
    char *b;
{
    words[0] += a;
    words[1] = b == here;
}

void pong(source, a)
    int source, a;
{
    words[2] += a;
}

void add(source, a)
    int source, a;
{
    sum += a;
}

void ping(source, a)
    int source, a;
{
    am_reply_3(source, pong, a + 1, 5, 6);
}

void in_table()
{
    table_calls++;
}

void take_float(source, a, f)
    int source;
    char a;
    float f;
{
    words[3] = a + (int)(4 * f);
}

am_handler table[] = {done, in_table, note_source}, word_table[] = {add};

int splitc_main()
{
    int right = (MYPROC + 1) % PROCS, left = (MYPROC + PROCS - 1) % PROCS, i;

    here[7] = 'x';
    am_request_0(right, done);
    am_request_4(right, done, 1, 2, 3, 4);
    am_request_1_df(right, done, 1, 2.5);
    am_store(right, here, there, 8, done, 0);
    am_request_medium_2(right, done, here, 8, 1, 2);
    while (done_calls < 5)
        am_poll();

    am_request_2(right, note_source, 7, 8);
    am_request_2_df(right, note_source, 7, 8, 1.0);
    while (sources < 2 * (left + 1))
        am_poll();
    EXPECT(sources, 2 * (left + 1));

    am_request_2(right, two, 40, here);
    am_request_4(right, two, 2, here, 9, 9);
    while (words[0] < 42)
        am_poll();
    EXPECT(words[1], 1);

    am_request_2(right, ping, 10, 20);
    while (words[2] == 0)
        am_poll();
    EXPECT(words[2], 11);

    for (i = 0; i < 3; i++)
        am_request_1(right, table[i], 1);
    while (table_calls == 0 || done_calls < 6 || sources < 3 * (left + 1))
        am_poll();
    EXPECT(table_calls, 1);

    am_request_1_df(right, take_float, 40, 0.5);
    while (words[3] == 0)
        am_poll();
    EXPECT(words[3], 42);

    am_request_1_df(right, word_table[0], 77, 2.5);
    am_request_3_df(right, add, 3, 4, 5, 2.5);
    while (sum < 80)
        am_poll();
    EXPECT(sum, 80);

    am_request_2_df(right, far_exactly, 5, 6, 0.5);
    am_request_2_df(right, far_ack, 1, 2, 2.0);
    am_request_1_df(right, far_ack, 1, 2.0);
    am_request_0(right, far_ack);
    am_request_3(right, far_words, 11, -12, 13);
    am_request_medium_1(right, far_block, here, 8, 3);
    am_request_1_df(right, far_real, 77, 0.25);
    am_request_1(right, far_nothing, 1);
    while (ends < 8)
        am_poll();
    EXPECT(seen_source, left);
    EXPECT(exact_sum, 11);
    EXPECT(seen_words[0], 11);
    EXPECT(seen_words[1], -12);
    EXPECT(seen_bytes, 8);
    EXPECT(seen_words[2], 'x');
    EXPECT(seen_words[3], 77);
    EXPECT(seen_real == 0.25, 1);
    barrier();
    return failures;
}
