/* SPDX-License-Identifier: BSD-3-Clause */
#include "random.h"

/* splitmix64 */
unsigned long random_at(unsigned long seed, unsigned long i)
{
    unsigned long z = seed + (i + 1) * 0x9e3779b97f4a7c15ul;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ z >> 27) * 0x94d049bb133111ebul;
    return z ^ z >> 31;
}

double random_real(unsigned long seed, unsigned long i)
{
    return (long)random_at(seed, i) * 0x1p-63;
}
