#include "prototype_without_semicolon.h"
int *global first(int n)
int second(int m);
void third(void)
struct list {
    int length;
};
int fourth()
int x;
int fifth(int n) int sixth(int n);
int old(a, b) int a; char *b; { return a + *b; }
int older() { return old(x, "") + first(1)[0]; }
int splitc_main()
{
    struct list l = {second(1)};
    int seventh(int n)
    int y;
    y = l.length;
    return y + older();
}
