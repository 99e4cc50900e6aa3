#include <signal.h>
#include <stdio.h>

int (*(*table[2])(int, int (*)(int)))(void);
static int one(void) { return 1; }
static int (*give(int n, int (*f)(int)))(void) { return n && f ? one : 0; }
void (*sig(int, void (*)(int)))(int);
int (*(*deep)[3])[2], a3[3][2], (*rows[3])[2] = {a3, a3 + 1, a3 + 2};
int f(int (int), int [3], char *const *restrict), ((g))(int), *((*h));
typedef int fn(int), *ip, arr[2], (*pfn)(fn *);
const volatile unsigned long int long_one = 1, *const lp = &long_one;
long unsigned const static int ordered = 4;
int typedef late;
struct list { struct list *next; fn *f; struct { ip p; } in[2]; } *head, tail = {&tail};
extern fn id;
int id(int x) { return x; }
static int use(fn x, arr y) { return x(2) + y[1]; }

int main(void)
{
    late n = 2;
    arr v = {3, 4};
    ip p = v, *pp = &p;
    table[1] = give;
    deep = &rows;
    (*deep)[1][0][1] = 6;
    tail.f = id;
    printf("%d %d %d %d\n", table[1](1, id)(), a3[1][1], use(id, v), **pp);
    printf("%d %d\n", head == 0 ? tail.next->f(8) : 0, (int)(*lp + ordered));
    { int fn = 3, ip = fn * n; typedef char late; late c = 'c'; printf("%d %zu\n", ip, sizeof c); }
    return (late)n;
}
