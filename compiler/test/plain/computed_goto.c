#include <stdio.h>

int run(const char *code)
{
    static const void *const table[] = {&&add, &&sub, &&end};
    static int offsets[] = {&&sub - &&add, 0};
    int acc = 0;
#define NEXT goto *table[*code++ - '0']
    NEXT;
add:
    acc += 10;
    NEXT;
sub:
    acc -= 1;
    NEXT;
end:
    return acc + (offsets[1] & 0);
}

int main(void)
{
    printf("%d\n", run("00112"));
    {
        __label__ local, other;
        void *p = &&local;
        goto *p;
    other:
        puts("other");
    local:
        puts("local");
    }
    return 0;
}
