#include <split-c/split-c.h>
#include <varargs.h>

void report(level, va_alist)
int level;
va_dcl
{
}
