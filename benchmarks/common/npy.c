/* SPDX-License-Identifier: BSD-3-Clause */
#include "npy.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6

/* What follows a key of the header's dictionary, blanks skipped; or NULL. */
static const char *value_of(const char *dictionary, const char *quoted_key)
{
    const char *at = strstr(dictionary, quoted_key);

    if (!at)
        return NULL;
    at += strlen(quoted_key);
    at += strspn(at, " ");
    if (*at != ':')
        return NULL;
    return at + 1 + strspn(at + 1, " ");
}

static int begins(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

/* "(rows, columns)" */
static int parse_shape(const char *text, struct npy *npy)
{
    char close = 0;

    return text && sscanf(text, "( %18ld , %18ld %c", &npy->rows, &npy->columns, &close) == 3 &&
           (close == ')' || close == ',') && npy->rows >= 0 && npy->rows <= INT_MAX &&
           npy->columns >= 0 && npy->columns <= INT_MAX;
}

static const char *parse_dictionary(const char *dictionary, struct npy *npy)
{
    if (!begins(value_of(dictionary, "'descr'"), "'<f8'"))
        return "its elements are not little-endian doubles ('<f8')";
    if (!begins(value_of(dictionary, "'fortran_order'"), "False"))
        return "it is in Fortran order";
    if (!parse_shape(value_of(dictionary, "'shape'"), npy))
        return "it has not two dimensions";
    return NULL;
}

/* The bytes before the data, and those before the dictionary; 0 if unknown. */
static size_t measure(const unsigned char *head, size_t n, size_t *dictionary)
{
    if (n < MAGIC_BYTES + 6 || memcmp(head, MAGIC, MAGIC_BYTES) != 0)
        return 0;
    switch (head[6]) {
    case 1:
        *dictionary = 10;
        return 10 + head[8] + ((size_t)head[9] << 8);
    case 2:
        *dictionary = 12;
        return 12 + head[8] + ((size_t)head[9] << 8) + ((size_t)head[10] << 16) +
               ((size_t)head[11] << 24);
    default:
        return 0;
    }
}

static int length_fits(const struct npy *npy, long file_length)
{
    long elements;

    return !__builtin_mul_overflow(npy->rows, npy->columns, &elements) &&
           elements <= (file_length - npy->data) / (long)sizeof(double);
}

const char *npy_parse(const char *head, size_t n, long file_length, struct npy *npy)
{
    size_t dictionary, data = measure((const unsigned char *)head, n, &dictionary);
    const char *problem;
    char *text;

    if (data == 0)
        return "it is no .npy file of version 1 or 2";
    if (data > n)
        return "its header is longer than the file, or than 64 KiB";
    text = strndup(head + dictionary, data - dictionary);
    if (!text)
        return "no memory for its header";
    npy->data = (long)data;
    problem = parse_dictionary(text, npy);
    free(text);
    if (!problem && !length_fits(npy, file_length))
        problem = "it is shorter than its header says";
    return problem;
}

void npy_format(char head[NPY_HEADER_BYTES], long rows, long columns)
{
    int n;

    memset(head, ' ', NPY_HEADER_BYTES);
    memcpy(head, MAGIC "\1\0", MAGIC_BYTES + 2);
    head[8] = NPY_HEADER_BYTES - 10;
    head[9] = 0;
    n = snprintf(head + 10, NPY_HEADER_BYTES - 10,
                 "{'descr': '<f8', 'fortran_order': False, 'shape': (%ld, %ld), }", rows, columns);
    head[10 + n] = ' ';
    head[NPY_HEADER_BYTES - 1] = '\n';
}
