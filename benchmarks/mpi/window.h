/* SPDX-License-Identifier: BSD-3-Clause
 *
 * window.h - memory that other processors reach.
 */
#ifndef BENCHMARKS_MPI_WINDOW_H
#define BENCHMARKS_MPI_WINDOW_H

#include <mpi.h>
#include <stddef.h>

/* MPICH 4.0 finds the memory of others at the wrong place where lengths are no multiple of
 * 16. */
#define WINDOW_ALIGNMENT 64

/* An attribute of MPI_COMM_SELF, which MPI_Finalize deletes first: a program that ends early gives
 * its windows back, too. */
struct window {
    MPI_Win win;
    int key;
};

static inline int window_end(MPI_Comm self, int key, void *window, void *unused)
{
    (void)self, (void)key, (void)unused;
    return MPI_Win_free(&((struct window *)window)->win);
}

/* Collective: room for n things of that many bytes, counted in them. */
static inline void *window_allocate(long n, size_t bytes, struct window *window)
{
    MPI_Aint all = (MPI_Aint)(n * bytes + WINDOW_ALIGNMENT - 1) & -WINDOW_ALIGNMENT;
    void *at;

    MPI_Win_allocate(all, (int)bytes, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &window->win);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, window_end, &window->key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, window->key, window);
    return at;
}

/* Collective. */
static inline void window_free(struct window *window)
{
    MPI_Comm_delete_attr(MPI_COMM_SELF, window->key);
    MPI_Comm_free_keyval(&window->key);
}

#endif
