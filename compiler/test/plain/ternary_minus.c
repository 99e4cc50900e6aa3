#include <stdio.h>

int main(void)
{
    int a = 1, b = 2;
    int global = 3, *spread = &b;
    printf("%d %d %d %d\n", a ? b :-1, a ?b:-b, global, *spread);
    switch (b) {
    case 2:-1;
        puts("two");
    }
    struct { unsigned x:3, :0, y:5; } s = {x:5, .y = 7};
    printf("%d %d\n", s.x, s.y);
    return 0;
}
