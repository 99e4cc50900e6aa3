/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plasma.h - what the modules of the plasma code share.
 *
 * A program in the manner of 1994: old-style definitions, implicit ints, macros
 * that hide transfers, and definitions of the shared variables right in this header.
 */
#ifndef PLASMA_H
#define PLASMA_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <split-c/split-c.h>

#ifndef BLOCK
#define BLOCK 4                 /* of a matrix, in each direction */
#endif
#ifndef CELLS
#define CELLS 16                /* of the mesh, in each direction */
#endif
#ifndef PARTICLES
#define PARTICLES 40            /* on each processor at first */
#endif

#ifndef CLOSE
#define CLOSE 1e-9              /* how exact numbers have to be */
#endif

#define ROOM      (PARTICLES * 64)      /* for all those of 16 processors and some */
#define FORCE_EPS 0.05

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ABS(a)    ((a) < 0 ? -(a) : (a))
#define SQR(a)    ((a) * (a))
#define SWAP(type, a, b)          \
    do {                          \
        type swap_ = (a);         \
        (a) = (b);                \
        (b) = swap_;              \
    } while (0)

/* The processors of the torus, as neighbours in a ring. */
#define LEFT  ((MYPROC + PROCS - 1) % PROCS)
#define RIGHT ((MYPROC + 1) % PROCS)

#define FOR_MINE(i, n) for ((i) = MYPROC; (i) < (n); (i) += PROCS)
#define FOR_ALL(i, n)  for ((i) = 0; (i) < (n); (i)++)
#define FOR_2D(i, j, n, m) FOR_ALL(i, n) FOR_ALL(j, m)

/* Begin to fetch; the caller syncs.  Of a whole block, of a run of numbers, of one. */
#define FETCH_BLOCK(to, from, n) bulk_get((to), (from), SQR(n) * sizeof(double))
#define FETCH_RUN(to, from, n)   bulk_get((to), (from), (n) * sizeof(*(to)))
#define FETCH(to, from)          ((to) := (from))
#define FETCH_PAIR(a, x, b, y)   (FETCH(a, x), FETCH(b, y))
#define SEND(to, what)           ((to) :- (what))

/* What is at a place of a matrix in blocks, whoever has it. */
#define AT(A, i, j, b) A[(i) / (b)][(j) / (b)][(i) % (b)][(j) % (b)]

/* Note a failure, and go on. */
#define CHECK(what, condition)                                             \
    do {                                                                   \
        if (!(condition)) {                                                \
            complain(what, __FILE__, __LINE__);                            \
        }                                                                  \
    } while (0)
#define CHECK_CLOSE(what, a, b)                                            \
    do {                                                                   \
        double a_ = (a), b_ = (b);                                         \
        if (!(ABS(a_ - b_) <= CLOSE * MAX(1, ABS(b_)))) {                  \
            complain(what, __FILE__, __LINE__);                            \
            printf("    %.15g is not %.15g\n", a_, b_);                    \
        }                                                                  \
    } while (0)

#ifdef DEBUG
#define TRACE(args) printf args
#else
#define TRACE(args)
#endif

typedef struct vector {
    double x, y;
} vector;

typedef struct particle {
    vector at, speed, force;
    double charge;
    int number;
    unsigned marked : 1, steps : 12;
} particle;

typedef struct complex_number {
    double re, im;
} complex_number;

/* A node of a quad tree: its children may be on other processors. */
typedef struct tree_node *global tree;
typedef struct tree_node {
    vector centre, mass_at;
    double mass, half;
    int count, leaf;
    tree child[4];
} tree_node;

/* A sparse matrix in rows, and who has the vector's elements that a row needs. */
typedef struct sparse_row {
    int length;
    int *columns;
    double *values;
    double *global *where;
} sparse_row;

/* Tentative definitions: every module that includes this has them. */
int failures;
int verbose;
int seed;
long transfers;
char *phase_name;
particle mine[ROOM];
int how_many;

double *global mailbox;

/* These return no int. */
double seconds(), uniform(), norm();
double conjugate_gradient(), total_energy();
char *banner();
void *spread make_spread();
tree build_tree();

/* One that every module may inline; util.sc has it for those who do not. */
extern inline double square(double a) { return a * a; }
extern inline int modulo(int a, int n) { return (a % n + n) % n; }

#endif
