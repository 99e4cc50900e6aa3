/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pgm.h - grey images: PGM files, binary (P5) or text (P2).
 */
#ifndef BENCHMARKS_PGM_H
#define BENCHMARKS_PGM_H

#include <stdint.h>

struct pgm {
    long width, height;
    uint16_t *grey; /* row by row; from malloc */
};

/* Every processor reads the whole file.  What is wrong in it ends the program. */
struct pgm pgm_read(const char *file);

#endif
