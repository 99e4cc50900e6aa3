/* SPDX-License-Identifier: BSD-3-Clause
 *
 * text.h - text files of numbers.  Every processor reads the whole file, so all of them
 * find the same mistakes: each call that finds one ends the program with one message
 * that names the file and the line.
 */
#ifndef BENCHMARKS_TEXT_H
#define BENCHMARKS_TEXT_H

struct text {
    const char *file;
    char *all; /* from malloc, ends with a 0 */
    const char *end;
    const char *at; /* what is read next */
    long line;      /* where that is; the first is 1 */
};

struct text text_open(const char *file);
void text_close(struct text *text);

/* Go to the first line, or to the next one, that is neither blank nor begins with one of
 * these characters; false at the end of the file. */
int text_next_line(struct text *text, const char *comments);

/* The next word of the line, at most n - 1 characters; empty at its end. */
void text_word(struct text *text, char *word, int n);

/* The next number of the line; `what` says for messages what it is. */
long text_integer(struct text *text, const char *what, long low, long high);
double text_real(struct text *text, const char *what); /* finite */

/* Is there nothing left on the line?  And: there must not be. */
int text_line_ends(struct text *text);
void text_end_line(struct text *text);

/* End with "PROGRAM: FILE:LINE: " and this. */
void text_fail(const struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#endif
