/* SPDX-License-Identifier: BSD-3-Clause
// flags: -ansi
 */
#include <stdio.h>

int inline = 1, restrict = 2, typeof = 4;
__inline static int f(const char *__restrict s) { __typeof__(s) t = s; return *t; }
__extension__ typedef long long ll;
int main(void)
{
    int a = 8 //* a comment */ 2
    ;
    ll big = 3;
    printf("%d %d %d\n", inline + restrict + typeof, a, (int)big);
    return f("a") != 'a';
}
