// SPDX-License-Identifier: BSD-3-Clause
//
// Objects of other processors with tables of functions, which take and return far pointers; far
// pointers sorted and searched by the C library.
#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>
#include "../check.h"

typedef struct object object;
typedef object *global far;
typedef far (*maker)(int);

struct table {
    const char *name;
    long (*visit)(far, void *);
    far (*copy)(far);
    struct {
        int *global (*slot)(far);
    } in;
};

struct object {
    const struct table *table; /* at the same address everywhere */
    int number;
    int data[3];
    far next;
    maker make;
};

static object objects[10];
static int used;
static far first;

static far make(int number);

static long visit(far o, void *count)
{
    ++*(int *)count;
    return o->number + (o->next ? o->next->table->visit(o->next, count) : 0);
}

static far copy(far o)
{
    far c = make(o->number);

    c->data[1] = o->data[1];
    return c;
}

static int *global slot(far o)
{
    return o->data + 1;
}

static const struct table plain = {.name = "plain", .visit = visit, .copy = copy, .in.slot = slot};

static far make(int number)
{
    object *o = &objects[used++];

    *o = (object){&plain, number, {number, number * number}, NULL, make};
    return o;
}

static int by_place(const void *a, const void *b)
{
    far x = *(far const *)a, y = *(far *)b;

    return toproc(x) != toproc(y) ? toproc(x) - toproc(y) : x < y ? -1 : x > y;
}

static far (*chosen(int which))(far)
{
    return which ? copy : (far (*)(far))0;
}

static int *global *position(int *global places[], int n, int *global key)
{
    for (int i = 0; i < n; i++)
        if (places[i] == key)
            return places + i;
    return NULL;
}

int splitc_main(void)
{
    far a = make(1), b = make(2), c = make(3);
    int next = (MYPROC + 1) % PROCS, count = 0;

    a->next = b, b->next = c;
    first = a;
    barrier();
    far o = *toglobal(next, &first), list[] = {c, o, b, o->next, a, o->next->next};
    EXPECT(o->table->visit(o, &count), 6);
    EXPECT((*o->next->table->visit)(o->next, &count) + 10 * count, 55);
    int *global place = o->table->in.slot(o->next);
    EXPECT(*place, 4);
    EXPECT(place == &o->next->data[1], 1);
    far d = o->table->copy(o->next->next);
    EXPECT(d->data[1] + 100 * toproc(d), 9 + 100 * MYPROC);
    EXPECT(chosen(1)(d)->number, 3);
    EXPECT(!chosen(0), 1);
    far (*(*choose)(int))(far) = chosen;
    EXPECT(choose(1) == copy, 1);
    EXPECT(strcmp(o->table->name, "plain"), 0);
    EXPECT(o->make(9)->number, 9);
    int *global places[] = {NULL, place, toglobal(next, &count)};
    EXPECT(position(places, 3, place) - places, 1);
    EXPECT(!position(places, 3, toglobal(next, &used)), 1);
    if (PROCS > 1) { /* else they are the same objects */
        qsort(list, 6, sizeof *list, by_place);
        for (int i = 1; i < 6; i++)
            EXPECT(by_place(list + i - 1, list + i) < 0, 1);
        far *found = bsearch(&b, list, 6, sizeof(far), by_place);
        EXPECT(found && *found == b, 1);
    }
    barrier();
    return failures;
}
