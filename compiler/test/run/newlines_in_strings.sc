// flags: -std=gnu89
#include <split-c/split-c.h>
#include <string.h>
#include "../check.h"

char *usage = "first
  second \"quoted\" // no comment
third";

#define CALL(f, arguments) f arguments
int line_of_this = __LINE__;

static int length(char *s)
{
    return strlen(s);
}

splitc_main()
{
    char *two = "no /* comment */ here
", c = '"';

    EXPECT(strcmp(usage, "first\n  second \"quoted\" // no comment\nthird"), 0);
    EXPECT(strcmp(two, "no /* comment */ here\n"), 0);
    int n = length("a
b" "c");
    EXPECT(n, 4);
    n = CALL(length, ("ab
cd"));
    EXPECT(n, 5);
    EXPECT(c, 34);
    EXPECT(line_of_this, 11);
    return failures;
}
