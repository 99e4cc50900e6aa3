#include <split-c/split-c.h>
void f(int *p, int x);
void g(void) { int x; f(toglobal(0, &x), 4); }
