/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sort.sc - particles move to the processor whose part of the world they are in,
 * and are put in order there: counting, an exchange of counts, and bulk transfers.
 */
#include "plasma.h"

typedef int (*order)();

static particle arrivals[ROOM];
static int next_free;

/* The part of the world that is whose: stripes in x. */
inline int owner_of(at)
vector at;
{
    int p = (int)(at.x * PROCS);
    return p < 0 ? 0 : p >= PROCS ? PROCS - 1 : p;
}

static by_number(a, b)
particle *a, *b;
{
    return a->number - b->number;
}

static by_place(a, b)
particle *a, *b;
{
    return a->at.y < b->at.y ? -1 : a->at.y > b->at.y;
}

/* Put ours in order, whichever. */
arrange(compare)
order compare;
{
    qsort((void *)mine, how_many, sizeof(particle), (int (*)(const void *, const void *))compare);
}

static move_one(p)
particle *p;
{
    p->at.x += p->speed.x / 8;
    p->at.y += p->speed.y / 8;
    if (p->at.x < 0 || p->at.x > 1)
        p->at.x = p->at.x < 0 ? -p->at.x : 2 - p->at.x, p->speed.x = -p->speed.x;
    if (p->at.y < 0 || p->at.y > 1)
        p->at.y = p->at.y < 0 ? -p->at.y : 2 - p->at.y, p->speed.y = -p->speed.y;
    p->steps++;
}

/* First way: everyone reserves room where its particles go, then writes them. */
exchange_by_reserving()
{
    int i, *global free_there;
    particle *global there;

    next_free = 0;
    barrier();
    for (i = 0; i < how_many; i++) {
        int to = owner_of(mine[i].at), slot;
        free_there = toglobal(to, &next_free);
        slot = fetch_add(free_there, 1);
        there = toglobal(to, &arrivals[slot]);
        there[0] = mine[i];
        there->marked = 1;
    }
    barrier();
    memcpy(mine, arrivals, next_free * sizeof(particle));
    how_many = next_free;
    barrier();
}

/* Second way: a table of who sends how many to whom, and each fetches its own. */
exchange_by_table()
{
    int table[PROCS][PROCS]::, starts[PROCS][PROCS]::;
    int counts[PROCS], begin[PROCS], i, p, n = 0;
    particle *sorted = (particle *)malloc(how_many * sizeof(particle) + 1);
    particle *global *from = (particle *global *)malloc(PROCS * sizeof(particle *global));
    particle *global addresses[PROCS]::;

    memset(counts, 0, sizeof counts);
    for (i = 0; i < how_many; i++)
        counts[owner_of(mine[i].at)]++;
    for (p = 0; p < PROCS; p++) {
        begin[p] = n;
        n += counts[p];
    }
    for (p = 0; p < PROCS; p++) {
        table[MYPROC][p] := counts[p];
        starts[MYPROC][p] := begin[p];
    }
    for (i = 0; i < how_many; i++)
        sorted[begin[owner_of(mine[i].at)]++] = mine[i];
    addresses[MYPROC] = toglobal(MYPROC, sorted);
    sync();
    barrier();
    for (n = p = 0; p < PROCS; p++) {
        int many = table[p][MYPROC], start = starts[p][MYPROC];
        from[p] = addresses[p] + start;
        if (many == 0)
            continue;
        bulk_get(arrivals + n, from[p], many * sizeof(particle));
        n += many;
    }
    sync();
    barrier();
    memcpy(mine, arrivals, n * sizeof(particle));
    how_many = n;
    free(sorted);
    free(from);
}

static sum_of_numbers()
{
    int i, sum = 0;

    for (i = 0; i < how_many; i++)
        sum += mine[i].number;
    return all_reduce_to_all_add(sum);
}

static in_order(compare)
order compare;
{
    int i;

    for (i = 1; i < how_many; i++)
        if ((*compare)(mine + i - 1, mine + i) > 0)
            return 0;
    return 1;
}

check_exchange()
{
    int all = all_reduce_to_all_add(how_many), sum = sum_of_numbers(), way, i;
    static int (*ways[2])() = { exchange_by_reserving, exchange_by_table };

    for (way = 0; way < 4; way++) {
        for (i = 0; i < how_many; i++)
            move_one(&mine[i]);
        (*ways[way % 2])();
        for (i = 0; i < how_many; i++) {
            CHECK("a particle's processor", owner_of(mine[i].at) == MYPROC);
            CHECK("its mark", mine[i].marked == 1);
        }
        arrange(way & 1 ? by_place : by_number);
        CHECK("the order", in_order(way & 1 ? by_place : by_number));
        CHECK("how many there are", all_reduce_to_all_add(how_many) == all);
        CHECK("who they are", sum_of_numbers() == sum);
    }
}
