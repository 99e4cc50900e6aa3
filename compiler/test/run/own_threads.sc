#include <split-c/split-c.h>
#include <pthread.h>
#include <stdlib.h>
#include "../check.h"

// A program's own threads compute; what they made can be reached from everywhere.
enum { THREADS = 4, WORDS = 1000, ROUNDS = 200 };

static long sums[THREADS];
static long *heap[THREADS], *stacks[THREADS];
static pthread_barrier_t made, read_by_all;
static long *global tables[PROCS]::[2 * THREADS];

static void *work(void *argument)
{
    long self = (long)argument, local = 1000 * MYPROC + self;

    for (int round = 0; round < ROUNDS; round++) { // beside the thread of control
        free(heap[self]);
        heap[self] = malloc((WORDS + round) * sizeof *heap[self]);
    }
    for (long i = 0; i < WORDS; i++)
        sums[self] += heap[self][i] = (self + 1) * i;
    stacks[self] = &local;
    pthread_barrier_wait(&made);
    pthread_barrier_wait(&read_by_all);
    free(heap[self]);
    return NULL;
}

static void look_at(int proc)
{
    for (long i = 0; i < THREADS; i++) {
        long *global words = tables[proc][i];

        EXPECT(*toglobal(proc, &sums[i]), (i + 1) * (WORDS * (WORDS - 1) / 2));
        EXPECT(words[WORDS - 1], (i + 1) * (WORDS - 1));
        EXPECT(*tables[proc][THREADS + i], 1000 * proc + i);
    }
}

int splitc_main(void)
{
    pthread_t threads[THREADS];
    int next = (MYPROC + 1) % PROCS;

    pthread_barrier_init(&made, NULL, THREADS + 1);
    pthread_barrier_init(&read_by_all, NULL, THREADS + 1);
    for (long i = 0; i < THREADS; i++)
        EXPECT(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    for (int round = 0; round < ROUNDS; round++) {
        void *mine = malloc(64 + round);

        EXPECT(all_reduce_to_all_add(round), round * PROCS);
        free(mine);
    }
    pthread_barrier_wait(&made);
    for (int i = 0; i < THREADS; i++) {
        tables[MYPROC][i] = heap[i];
        tables[MYPROC][THREADS + i] = stacks[i];
    }
    barrier();
    look_at(next);
    barrier();
    pthread_barrier_wait(&read_by_all);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return failures;
}
