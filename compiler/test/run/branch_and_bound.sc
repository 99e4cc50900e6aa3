// SPDX-License-Identifier: BSD-3-Clause
//
// A knapsack by branch and bound: pools of work with locks, cells on the heaps of all processors in
// lists of global pointers, the best value kept by a function that runs at its owner.
#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>
#include "../check.h"

enum { ITEMS = 12, CAPACITY = 60 };

typedef struct work {
    int level, weight, value;
    struct work *global next;
} work;
typedef struct {
    int lock, count;
    work *global head;
} pool;

static pool mine;
static volatile int best, open; /* those of processor 0 count */
static struct {
    int weight, value;
} items[ITEMS];

static void push(int proc, int level, int weight, int value)
{
    work *w = malloc(sizeof *w);
    pool *global p = toglobal(proc, &mine);

    *w = (work){level, weight, value};
    splitc_lock(&p->lock);
    w->next = p->head;
    p->head = w;
    p->count++;
    splitc_unlock(&p->lock);
}

static work *global pop(pool *global p)
{
    work *global w;

    if (!p->head)
        return NULL;
    splitc_lock(&p->lock);
    if ((w = p->head))
        p->head = w->next, p->count--;
    splitc_unlock(&p->lock);
    return w;
}

static void improve(volatile int *value, int other)
{
    if (other > *value)
        *value = other;
}

static int bound(int level)
{
    int sum = 0;

    while (level < ITEMS)
        sum += items[level++].value;
    return sum;
}

static void expand(work w)
{
    int with = w.weight + items[w.level].weight;

    fetch_add((int *global)toglobal(0, &open), 1 + (with <= CAPACITY));
    push(MYPROC, w.level + 1, w.weight, w.value);
    if (with <= CAPACITY)
        push((MYPROC + 1) % PROCS, w.level + 1, with, w.value + items[w.level].value);
}

static void search(void)
{
    while (*toglobal(0, &open) > 0) {
        work *global w = NULL;

        for (int i = 0; i < PROCS && !w; i++)
            w = pop(toglobal((MYPROC + i) % PROCS, &mine));
        splitc_poll(); /* others may want a function run here */
        if (!w)
            continue;
        if (w->level == ITEMS)
            atomic(improve, toglobal(0, &best), w->value);
        else if (w->value + bound(w->level) > *toglobal(0, &best))
            expand(*w);
        fetch_add((int *global)toglobal(0, &open), -1);
    }
}

static int by_table(void)
{
    int table[CAPACITY + 1] = {0};

    for (int i = 0; i < ITEMS; i++)
        for (int w = CAPACITY; w >= items[i].weight; w--)
            if (table[w - items[i].weight] + items[i].value > table[w])
                table[w] = table[w - items[i].weight] + items[i].value;
    return table[CAPACITY];
}

int splitc_main(void)
{
    for (int i = 0; i < ITEMS; i++) {
        items[i].weight = 3 + i * 7 % 11;
        items[i].value = 10 + i * 13 % 17;
    }
    on_one {
        open = 1;
        push(PROCS - 1, 0, 0, 0);
    }
    barrier();
    search();
    barrier();
    EXPECT(*toglobal(0, &best), by_table());
    EXPECT(mine.count, 0);
    EXPECT(!mine.head, 1);
    barrier();
    return failures;
}
