/* SPDX-License-Identifier: BSD-3-Clause */
#include "mtx.h"

#include "common.h"
#include "team.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_SIDE (1l << 40)

/* ---- headers ------------------------------------------------------------------------ */

/* One word of the first line, which has to be one of these; returns which. */
static int choose(struct text *text, const char *what, const char *const *choices)
{
    char word[32];

    text_word(text, word, sizeof word);
    for (int i = 0; choices[i]; i++)
        if (strcasecmp(word, choices[i]) == 0)
            return i;
    text_fail(text, "%s is '%s', which is not supported; see docs/benchmarks.md", what, word);
}

static const char *const banner[] = {"%%MatrixMarket", NULL};
static const char *const object[] = {"matrix", NULL};
static const char *const coordinate[] = {"coordinate", NULL};
static const char *const array[] = {"array", NULL};
static const char *const fields[] = {"real", "double", "integer", "pattern", NULL};
static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", NULL};
enum { PATTERN = 3, SYMMETRIC = 1, SKEW = 2 };

static struct mtx open_as(const char *file, const char *const *format)
{
    struct mtx mtx = {.text = text_open(file)};
    struct text *text = &mtx.text;
    int symmetry;

    if (!text_next_line(text, ""))
        text_fail(text, "the file is empty; a Matrix Market file begins with %s", banner[0]);
    if (strncasecmp(text->at, banner[0], strlen(banner[0])) != 0)
        text_fail(text, "this is no Matrix Market file; one begins with %s", banner[0]);
    choose(text, "the banner", banner);
    choose(text, "the object", object);
    choose(text, "the format", format);
    mtx.pattern = choose(text, "the field", fields) == PATTERN;
    symmetry = choose(text, "the symmetry", symmetries);
    mtx.symmetric = symmetry != 0;
    mtx.skew = symmetry == SKEW;
    text_end_line(text);
    if (!text_next_line(text, "%"))
        text_fail(text, "the file ends before its sizes");
    mtx.rows = text_integer(text, "the number of rows", 0, MAX_SIDE);
    mtx.columns = text_integer(text, "the number of columns", 0, MAX_SIDE);
    return mtx;
}

struct mtx mtx_open(const char *file)
{
    struct mtx mtx = open_as(file, coordinate);

    mtx.entries = text_integer(&mtx.text, "the number of entries", 0, LONG_MAX);
    text_end_line(&mtx.text);
    if (mtx.symmetric && mtx.rows != mtx.columns)
        text_fail(&mtx.text, "a symmetric matrix is square, not %ld x %ld", mtx.rows, mtx.columns);
    return mtx;
}

/* ---- entries -------------------------------------------------------------------------- */

int mtx_next(struct mtx *mtx, struct entry *entry)
{
    struct text *text = &mtx->text;

    if (mtx->read == mtx->entries) {
        if (text_next_line(text, "%"))
            text_fail(text, "there are more than the %ld entries announced", mtx->entries);
        return 0;
    }
    if (!text_next_line(text, "%"))
        text_fail(text, "the file ends after %ld of %ld entries; it is truncated", mtx->read,
                  mtx->entries);
    entry->row = text_integer(text, "the row", 1, mtx->rows) - 1;
    entry->column = text_integer(text, "the column", 1, mtx->columns) - 1;
    entry->value = mtx->pattern ? 1 : text_real(text, "the value");
    text_end_line(text);
    if (mtx->symmetric && entry->row < entry->column)
        text_fail(text, "a symmetric file has the lower triangle, not row %ld, column %ld",
                  entry->row + 1, entry->column + 1);
    mtx->read++;
    return 1;
}

void mtx_close(struct mtx *mtx)
{
    text_close(&mtx->text);
}

/* ---- vectors --------------------------------------------------------------------------- */

double *mtx_read_vector(const char *file, long n)
{
    struct mtx mtx = open_as(file, array);
    double *vector = allocate(n * sizeof *vector);

    text_end_line(&mtx.text);
    if (mtx.rows != n || mtx.columns != 1 || mtx.pattern || mtx.symmetric)
        text_fail(&mtx.text, "here a general real array of %ld x 1 is needed, not one of %ld x %ld",
                  n, mtx.rows, mtx.columns);
    for (long i = 0; i < n; i++) {
        if (!text_next_line(&mtx.text, "%"))
            text_fail(&mtx.text, "the file ends after %ld of %ld numbers; it is truncated", i, n);
        vector[i] = text_real(&mtx.text, "the number");
        text_end_line(&mtx.text);
    }
    if (text_next_line(&mtx.text, "%"))
        text_fail(&mtx.text, "there are more than the %ld numbers announced", n);
    mtx_close(&mtx);
    return vector;
}

#define NUMBER_BYTES 25 /* "%-24.16e" and the end of the line */

void mtx_write_vector(const char *file, const double *block, long n)
{
    char head[96], line[40];
    long mine = block_share(n, team_rank()), first = team_before(mine);
    long begin =
        snprintf(head, sizeof head, "%%%%MatrixMarket matrix array real general\n%ld 1\n", n);
    char *numbers = allocate(mine * NUMBER_BYTES);
    int fd = open_output(file, begin + n * NUMBER_BYTES), error = 0;

    for (long i = 0; i < mine; i++) {
        snprintf(line, sizeof line, "%-24.16e\n", block[i]);
        memcpy(numbers + i * NUMBER_BYTES, line, NUMBER_BYTES);
    }
    if (team_rank() == 0)
        error = write_at(fd, head, begin, 0);
    if (!error)
        error = write_at(fd, numbers, mine * NUMBER_BYTES, begin + first * NUMBER_BYTES);
    close(fd);
    free(numbers);
    all_require(problem_of(error), file, "it is incomplete; see that there is room for it");
}
