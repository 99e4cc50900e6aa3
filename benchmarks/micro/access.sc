/* SPDX-License-Identifier: BSD-3-Clause
 *
 * access.sc MILLISECONDS TABLE_MIB - processor 0 reads and writes what processor 1 owns:
 * static, heap, stack and spread objects, in cache, and a large table at random places.
 * raw_access.c does the same through plain pointers, in turn.
 */
#include "access.h"
#include "measure.h"

#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>

struct object {
    struct node list[NODES];
    long chain[WORDS];
    long words[WORDS];
};

static struct object static_object;
static struct node *global list;
static long *global chain;
static long *global words;
static long *global table;

unsigned long table_lines;
long own_words[WORDS];
volatile long result;

/* ---- through global pointers ------------------------------------------------------- */

static double read_list(long n)
{
    struct node *global node = list;
    double start = now_ns();

    for (long i = 0; i < n * NODES; i++)
        node = (struct node *global)node->next;
    result = (long)tolocal(node);
    return now_ns() - start;
}

static double read_dependent(long n)
{
    const long *global from = chain;
    double start = now_ns();
    long at = 0;

    for (long i = 0; i < n * WORDS; i++)
        at = from[at];
    result = at;
    return now_ns() - start;
}

static double read_independent(long n)
{
    const long *global from = words;
    double start = now_ns();
    long sum = 0;

    for (; n > 0; n--)
        for (long i = 0; i < WORDS; i++)
            sum += from[i];
    result = sum;
    return now_ns() - start;
}

static double read_random(long n)
{
    const long *global from = table;
    const unsigned long mask = table_lines - 1;
    unsigned long place = 1;
    double start = now_ns();

    for (long i = 0; i < n * JUMPS; i++)
        place = random_step(place, from[(place >> PLACE_SHIFT & mask) * LINE_WORDS]);
    result = (long)place;
    return now_ns() - start;
}

static double get(long n)
{
    const long *global from = words;
    double start = now_ns();

    for (; n > 0; n--) {
        for (long i = 0; i < WORDS; i++)
            own_words[i] := from[i];
        sync();
    }
    return now_ns() - start;
}

static double write(long n)
{
    long *global to = words;
    double start = now_ns();

    for (; n > 0; n--)
        for (long i = 0; i < WORDS; i++)
            to[i] = i;
    return now_ns() - start;
}

static double put(long n)
{
    long *global to = words;
    double start = now_ns();

    for (; n > 0; n--) {
        for (long i = 0; i < WORDS; i++)
            to[i] := own_words[i];
        sync();
    }
    return now_ns() - start;
}

static double store(long n)
{
    long *global to = words;
    double start = now_ns();

    for (; n > 0; n--)
        for (long i = 0; i < WORDS; i++)
            to[i] :- own_words[i];
    return now_ns() - start;
}

static double add(long n)
{
    long *global to = words;
    double start = now_ns();

    for (long i = 0; i < n; i++)
        fetch_add_l(to, 1);
    return now_ns() - start;
}

/* ---- objects ---------------------------------------------------------------------------- */

/* A list and a chain of indices, each one circle: the steps are prime to the lengths. */
static void fill(struct object *global object)
{
    for (long i = 0; i < NODES; i++) {
        struct node *global next = object->list + (i + 97) % NODES;

        object->list[i].next = (unsigned long)next;
        object->list[i].here = splitc_near((splitc_ptr)next);
    }
    for (long i = 0; i < WORDS; i++)
        object->chain[i] = (i + 777) % WORDS;
}

/* Processor 0 reads and writes processor 1's object from now on. */
static void use(struct object *theirs)
{
    struct object *global object = toglobal(1, theirs);

    list = object->list;
    chain = object->chain;
    words = object->words;
    raw_list = splitc_near((splitc_ptr)list);
    raw_chain = splitc_near((splitc_ptr)chain);
    raw_words = splitc_near((splitc_ptr)words);
    on_proc(1) memset(theirs, 0, sizeof *theirs);
    barrier();
    on_one fill(object);
    barrier();
}

static void measure_reads(const struct team *team, const char *kind, struct object *theirs)
{
    char metric[64];

    use(theirs);
    snprintf(metric, sizeof metric, "read_list_%s", kind);
    measure(team, metric, NODES, read_list, raw_read_list);
    snprintf(metric, sizeof metric, "read_dependent_%s", kind);
    measure(team, metric, WORDS, read_dependent, raw_read_dependent);
    snprintf(metric, sizeof metric, "read_independent_%s", kind);
    measure(team, metric, WORDS, read_independent, raw_read_independent);
}

static void measure_others(const struct team *team)
{
    measure(team, "get", WORDS, get, raw_get);
    measure(team, "write", WORDS, write, raw_write);
    measure(team, "put", WORDS, put, raw_put);
    measure(team, "store", WORDS, store, raw_put);
    measure(team, "fetch_add", 1, add, raw_fetch_add);
    all_store_sync();
}

static void measure_random(const struct team *team, long bytes)
{
    void *spread block = all_spread_malloc(PROCS, bytes);

    table_lines = bytes / (LINE_WORDS * sizeof(long));
    table = (long *global)toglobal(1, (long *)tolocal((char *spread)block));
    raw_table = splitc_near((splitc_ptr)table);
    on_proc(1) memset((void *)tolocal((char *spread)block), 0, bytes);
    barrier();
    measure(team, "read_random", JUMPS, read_random, raw_read_random);
    all_spread_free(block);
}

/* Where processor 1 has it: heaps and stacks need not have the same addresses. */
static struct object *on_1(struct object *mine)
{
    static struct object *spread_address;

    spread_address = mine;
    barrier();
    return *toglobal(1, &spread_address);
}

int splitc_main(int argc, char **argv)
{
    struct team team = {MYPROC == 0, 1, all_bcast_d, budget_of(argc > 1 ? argv[1] : "100")};
    long mib = argc > 2 ? atol(argv[2]) : 64; /* a power of two */
    struct object stack_object, *heap_object = malloc(sizeof *heap_object);
    void *spread block = all_spread_malloc(PROCS, sizeof(struct object));

    measure_reads(&team, "static", &static_object);
    measure_reads(&team, "heap", on_1(heap_object));
    measure_reads(&team, "stack", on_1(&stack_object));
    measure_reads(&team, "spread", (struct object *)tolocal((char *spread)block));
    measure_others(&team);
    measure_random(&team, mib << 20);
    all_spread_free(block);
    free(heap_object);
    return 0;
}
