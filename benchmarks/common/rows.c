/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"

#include "common.h"
#include "team.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HEAD_MAX 65536

struct npy rows_shape(const char *file)
{
    struct npy shape = {0};
    long length, n;
    int fd = open_input(file, &length);
    const char *problem;
    char *head;

    n = length < HEAD_MAX ? length : HEAD_MAX;
    head = allocate(n);
    problem = problem_of(read_at(fd, head, n, 0));
    if (!problem)
        problem = npy_parse(head, n, length, &shape);
    free(head);
    close(fd);
    all_require(problem, file, "save it as numpy.save(FILE, matrix.astype('<f8', 'C'))");
    return shape;
}

/* The first element that is not finite, or n. */
static long find_odd(const double *at, long n)
{
    long i = 0;

    while (i < n && isfinite(at[i]))
        i++;
    return i;
}

double *rows_read(const char *file, const struct npy *shape, long first, long n)
{
    long row = shape->columns * (long)sizeof(double), length, odd;
    double *at = allocate(n * row);
    int fd = open_input(file, &length);
    char problem[80];

    all_require(problem_of(read_at(fd, at, n * row, shape->data + first * row)), file,
                "it could not be read to its end");
    close(fd);
    odd = find_odd(at, n * shape->columns);
    snprintf(problem, sizeof problem, "element (%ld, %ld) is not finite",
             first + (shape->columns ? odd / shape->columns : 0),
             shape->columns ? odd % shape->columns : 0);
    all_require(odd < n * shape->columns ? problem : NULL, file, "put a number there");
    return at;
}

void rows_write(const char *file, const double *at, long first, long n, long rows, long columns)
{
    long row = columns * (long)sizeof(double);
    int fd = open_output(file, NPY_HEADER_BYTES + rows * row), error = 0;
    char head[NPY_HEADER_BYTES];

    npy_format(head, rows, columns);
    if (team_rank() == 0)
        error = write_at(fd, head, sizeof head, 0);
    if (!error)
        error = write_at(fd, at, n * row, NPY_HEADER_BYTES + first * row);
    close(fd);
    all_require(problem_of(error), file, "it is incomplete; see that there is room for it");
}
