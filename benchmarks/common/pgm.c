/* SPDX-License-Identifier: BSD-3-Clause */
#include "pgm.h"

#include "common.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>

#define MAX_SIDE 1000000
#define MAX_GREY 65535

/* Numbers may stand on one line or on several. */
static long next_number(struct text *text, const char *what, long low, long high)
{
    if ((text_line_ends(text) || *text->at == '#') && !text_next_line(text, "#"))
        text_fail(text, "the file ends where %s should be; it is truncated", what);
    return text_integer(text, what, low, high);
}

static void read_text_pixels(struct text *text, struct pgm *pgm, long highest)
{
    for (long i = 0; i < pgm->width * pgm->height; i++)
        pgm->grey[i] = next_number(text, "a pixel", 0, highest);
    if (text_next_line(text, "#"))
        text_fail(text, "there are more pixels than %ld x %ld", pgm->width, pgm->height);
}

/* One byte a pixel, or two with the higher one first. */
static void read_binary_pixels(struct text *text, struct pgm *pgm, long highest)
{
    const unsigned char *pixel = (const unsigned char *)text->at + 1;
    long pixels = pgm->width * pgm->height, bytes = highest > 255 ? 2 : 1;
    long there = text->end - (const char *)pixel;

    if (there < pixels * bytes)
        text_fail(text, "the file has %ld of %ld bytes of pixels; it is truncated",
                  there < 0 ? 0 : there, pixels * bytes);
    for (long i = 0; i < pixels; i++)
        pgm->grey[i] = bytes == 2 ? pixel[2 * i] << 8 | pixel[2 * i + 1] : pixel[i];
}

struct pgm pgm_read(const char *file)
{
    struct text text = text_open(file);
    struct pgm pgm;
    char magic[8];
    long highest;

    text_next_line(&text, "");
    text_word(&text, magic, sizeof magic);
    if (strcmp(magic, "P5") != 0 && strcmp(magic, "P2") != 0)
        text_fail(&text, "this is no PGM image; one begins with P5 or P2");
    pgm.width = next_number(&text, "the width", 1, MAX_SIDE);
    pgm.height = next_number(&text, "the height", 1, MAX_SIDE);
    highest = next_number(&text, "the highest grey", 1, MAX_GREY);
    pgm.grey = allocate(pgm.width * pgm.height * sizeof *pgm.grey);
    if (magic[1] == '5')
        read_binary_pixels(&text, &pgm, highest);
    else
        read_text_pixels(&text, &pgm, highest);
    text_close(&text);
    return pgm;
}
