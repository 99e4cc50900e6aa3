/* SPDX-License-Identifier: BSD-3-Clause
 *
 * access.h - what access.sc reads and writes through global pointers, and raw_access.c
 * through plain ones: the same objects in the same mapping.
 */
#ifndef MICRO_ACCESS_H
#define MICRO_ACCESS_H

enum {
    NODES = 256,  /* of a chain: 16 KiB, so that what is measured is the access, not the cache */
    WORDS = 2048, /* of an array: 16 KiB, too */
    JUMPS = 1024, /* random reads of a unit */
};

struct node {
    unsigned long next;      /* a global pointer */
    const struct node *here; /* a plain one to the same node */
    long unused[6];          /* one cache line */
};

/* The next of random places; nothing of it can be guessed, as the value read is part of it. */
static inline unsigned long random_step(unsigned long place, long value)
{
    return (place + (unsigned long)value) * 6364136223846793005ul + 1442695040888963407ul;
}

enum { PLACE_SHIFT = 20, LINE_WORDS = 8 };

/* What the plain pointers point to; set by access.sc. */
extern const struct node *raw_list;
extern long *raw_words;
extern const long *raw_chain; /* each word is the index of the next */
extern long *raw_table;
extern unsigned long table_lines; /* a power of two */
extern long own_words[WORDS];
extern volatile long result; /* so that nothing is optimised away */

double raw_read_list(long n);
double raw_read_dependent(long n);
double raw_read_independent(long n);
double raw_read_random(long n);
double raw_get(long n);
double raw_write(long n);
double raw_put(long n);
double raw_fetch_add(long n);

#endif
