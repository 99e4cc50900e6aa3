// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

static int count(int n) { int i, j, k = 0; for (i = j = 0; i < n; ++i, j += 2) { if (i == 3) continue; if (j > 12) break; k += j; } return k; }
static int duff(char *to, const char *from, int n)
{
    int rounds = (n + 3) / 4;
    switch (n % 4) { case 0: do { *to++ = *from++; case 3: *to++ = *from++; case 2: *to++ = *from++; case 1: *to++ = *from++; } while (--rounds > 0); }
    return *from;
}
int main(void)
{
    char text[8] = "";
    int i = 0;
    ;;; {} { ; }
    if (i) ; else if (!i) i = 1; else i = 2;
    if (i) if (i > 1) i = 5; else i = 6;
    while (i-- > 2) ;
    do i++; while (i < 4);
    for (;;) { if (i++ > 7) break; }
    for (struct { int a; char *b; } s = {0, text}; s.a < 2; s.a++) i += s.a;
    switch (i) default: i++;
    switch (i) { int hidden; case 10: hidden = 3; i += hidden; break; case 'a': case 1L: return 1; }
    goto in; { in: i++; }
    duff(text, "duffed", 7);
    printf("%d %d %s\n", i, count(10), text);
    if (i) end: ; 
    return ((void)0, i);
}
