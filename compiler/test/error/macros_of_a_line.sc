#include <stdio.h>
#define BAD 12
#define GLUE(a, b) a##b
#define VAR(a) a##1

void f(int x)
{
    x = EOF + GLUE(un, knowl) + EOF;
    x = EOF + GLUE(un, knowm) + BAD;
    x = EOF + EOF + VAR(missing) + 1;
    x = BAD + VAR(missed) + EOF;
}
#include "one_line.h"
#include "one_line.h"
