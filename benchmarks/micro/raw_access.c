/* SPDX-License-Identifier: BSD-3-Clause
 *
 * raw_access.c - the loops of access.sc with plain C pointers.  Every access is one load or
 * store: relaxed atomics are no more, but the compiler leaves out none and joins none.
 */
#include "access.h"

#include "measure.h"

const struct node *raw_list;
const long *raw_chain;
long *raw_words;
long *raw_table;

#define LOAD(object) __atomic_load_n(&(object), __ATOMIC_RELAXED)
#define STORE(object, value) __atomic_store_n(&(object), value, __ATOMIC_RELAXED)

double raw_read_list(long n)
{
    const struct node *node = raw_list;
    double start = now_ns();

    for (long i = 0; i < n * NODES; i++)
        node = LOAD(node->here);
    result = (long)node;
    return now_ns() - start;
}

double raw_read_dependent(long n)
{
    const long *chain = raw_chain;
    double start = now_ns();
    long at = 0;

    for (long i = 0; i < n * WORDS; i++)
        at = LOAD(chain[at]);
    result = at;
    return now_ns() - start;
}

double raw_read_independent(long n)
{
    const long *words = raw_words;
    double start = now_ns();
    long sum = 0;

    for (; n > 0; n--)
        for (long i = 0; i < WORDS; i++)
            sum += LOAD(words[i]);
    result = sum;
    return now_ns() - start;
}

double raw_read_random(long n)
{
    const long *table = raw_table;
    const unsigned long mask = table_lines - 1;
    unsigned long place = 1;
    double start = now_ns();

    for (long i = 0; i < n * JUMPS; i++)
        place = random_step(place, LOAD(table[(place >> PLACE_SHIFT & mask) * LINE_WORDS]));
    result = (long)place;
    return now_ns() - start;
}

double raw_get(long n)
{
    const long *words = raw_words;
    double start = now_ns();

    for (; n > 0; n--)
        for (long i = 0; i < WORDS; i++)
            STORE(own_words[i], LOAD(words[i]));
    return now_ns() - start;
}

double raw_write(long n)
{
    long *words = raw_words;
    double start = now_ns();

    for (; n > 0; n--)
        for (long i = 0; i < WORDS; i++)
            STORE(words[i], i);
    return now_ns() - start;
}

double raw_put(long n)
{
    long *words = raw_words;
    double start = now_ns();

    for (; n > 0; n--)
        for (long i = 0; i < WORDS; i++)
            STORE(words[i], LOAD(own_words[i]));
    return now_ns() - start;
}

double raw_fetch_add(long n)
{
    long *words = raw_words;
    double start = now_ns();

    for (long i = 0; i < n; i++)
        __atomic_fetch_add(words, 1, __ATOMIC_SEQ_CST);
    return now_ns() - start;
}
