#include <stdio.h>

#define max(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
#define FIRST(x, ...) ({ int all_[] = {x, ##__VA_ARGS__}; all_[0]; })

int main(void)
{
    int i = 3, j = ({ int k = i * 2; k++; k; });
    struct { int a, b; } s = ({ typeof(s) t = {1, 2}; t; });
    ({ puts("void"); });
    printf("%d %d %d %d\n", max(i++, j--), i, j, ({ goto skip; skip: 5; }));
    for (i = ({ 0; }); i < ({ 2; }); i += ({ int one = 1; one; }))
        printf("%d%d\n", s.a, FIRST(s.b, 3, 4));
    if (({ i; }) == 2)
        return ({ int x = 7; x; });
    return 0;
}
