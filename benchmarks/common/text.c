/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include "common.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLANKS " \t\r\v\f"

struct text text_open(const char *file)
{
    struct text text = {.file = file};
    long length;
    int fd = open_input(file, &length);

    text.all = allocate(length + 1);
    all_require(problem_of(read_at(fd, text.all, length, 0)), file,
                "it could not be read to its end");
    close(fd);
    text.all[length] = 0;
    text.end = text.all + length;
    return text;
}

void text_close(struct text *text)
{
    free(text->all);
}

void text_fail(const struct text *text, const char *format, ...)
{
    char problem[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(problem, sizeof problem, format, arguments);
    va_end(arguments);
    all_quit(1, "%s:%ld: %s", text->file, text->line, problem);
}

static const char *skip_blanks(struct text *text)
{
    text->at += strspn(text->at, BLANKS);
    return text->at;
}

/* To the beginning of the next line; false at the end of the file. */
static int step(struct text *text)
{
    const char *newline;

    if (text->line++ == 0) {
        text->at = text->all;
        return text->at < text->end;
    }
    newline = memchr(text->at, '\n', text->end - text->at);
    text->at = newline ? newline + 1 : text->end;
    return text->at < text->end;
}

int text_next_line(struct text *text, const char *comments)
{
    while (step(text))
        if (!text_line_ends(text) && !strchr(comments, *text->at))
            return 1;
    return 0;
}

int text_line_ends(struct text *text)
{
    const char *at = skip_blanks(text);

    return at == text->end || *at == '\n';
}

void text_end_line(struct text *text)
{
    if (!text_line_ends(text))
        text_fail(text, "there is more on the line than belongs there, from '%.12s' on", text->at);
}

void text_word(struct text *text, char *word, int n)
{
    size_t length = text_line_ends(text) ? 0 : strcspn(text->at, BLANKS "\n");

    snprintf(word, n, "%.*s", (int)length, text->at);
    text->at += length;
}

/* The number ends where a blank, or the line, does. */
static int is_whole(const struct text *text, const char *end)
{
    return end > text->at && (end == text->end || strchr(BLANKS "\n", *end));
}

static void must_begin(struct text *text, const char *what)
{
    if (text_line_ends(text))
        text_fail(text, "the line ends where %s should be", what);
}

static int word_length(const struct text *text)
{
    int length = (int)strcspn(text->at, BLANKS "\n");

    return length < 40 ? length : 40;
}

long text_integer(struct text *text, const char *what, long low, long high)
{
    char *end;
    long value;

    must_begin(text, what);
    errno = 0;
    value = strtol(text->at, &end, 10);
    if (!is_whole(text, end))
        text_fail(text, "%s is a whole number, not '%.*s'", what, word_length(text), text->at);
    if (errno || value < low || value > high)
        text_fail(text, "%s is from %ld to %ld, not %.*s", what, low, high, word_length(text),
                  text->at);
    text->at = end;
    return value;
}

double text_real(struct text *text, const char *what)
{
    char *end;
    double value;

    must_begin(text, what);
    value = strtod(text->at, &end);
    if (!is_whole(text, end) || !isfinite(value))
        text_fail(text, "%s is a finite number, not '%.*s'", what, word_length(text), text->at);
    text->at = end;
    return value;
}
