#include <split-c/split-c.h>
#include "../check.h"

/* Objects at some offset from a pointer: the processor is the pointer's, each part is
 * evaluated once. */
struct inner {
    char tag;
    long value[3];
};

struct outer {
    int number;
    struct inner in[4];
    struct outer *global next;
} outers[5];

static int calls;

static struct outer *global counted(struct outer *global p)
{
    calls++;
    return p;
}

static long index_of(long i)
{
    calls++;
    return i;
}

int splitc_main(void)
{
    int there = PROCS - 1;
    struct outer *global p = toglobal(there, outers), *global middle = p + 2;
    struct outer copy;
    struct inner in;
    long got = 0;
    char small = -1;

    on_proc(there) for (int i = 0; i < 5; i++)
    {
        outers[i].number = i;
        outers[i].next = toglobal(there, &outers[(i + 1) % 5]);
        for (int j = 0; j < 12; j++)
            outers[i].in[j / 3].value[j % 3] = 100 * i + j;
    }
    barrier();
    EXPECT(middle[-1].in[2].value[1], 107);
    EXPECT(middle[small].number, 1);
    EXPECT(small[middle].number, 1);
    EXPECT((*(middle - 2)).number, 0);
    EXPECT((*(2 + middle)).in->value[2], 402);
    EXPECT((p + 1)->in[1].value[0], 103);
    EXPECT(*(p[3].in[3].value + 2), 311);
    EXPECT(*(2 + p->in->value), 2);
    EXPECT(p->next->next->next[-1].number, 2);
    EXPECT((&p[4])->in[0].value[0], 400);
    EXPECT((1 ? p : middle)[1].number, 1);
    in = p[2].in[1];
    EXPECT(in.value[2], 205);
    copy = *(p + 3);
    EXPECT(copy.in[0].value[0], 300);
    got := (p + 1)->in[2].value[0];
    sync();
    EXPECT(got, 106);
    barrier();

    on_one {
        calls = 0;
        counted(p)[index_of(1)].in[index_of(2)].value[0] += 10;
        EXPECT(calls, 3);
        EXPECT(p[1].in[2].value[0], 116);
        counted(p + 1)->in[index_of(2)].value[0]++;
        EXPECT(calls, 5);
        EXPECT((*(p + index_of(1))).in[2].value[0]--, 117);
        EXPECT(calls, 6);
        p[4].number = 44;
        *(p + 3)->in->value = 33;
        (p + 2)->in[1].value[1] := 22L;
        p[0].in[0].value[1] :- 11L;
        sync();
    }
    all_store_sync();
    EXPECT(p[4].number, 44);
    EXPECT(p[3].in[0].value[0], 33);
    EXPECT(p[2].in[1].value[1], 22);
    EXPECT(p->in->value[1], 11);
    EXPECT(p[1].in[2].value[0], 116);
    barrier();
    return failures;
}
