#include <split-c/split-c.h>

struct row {
    int cell[4];
} row;

int splitc_main(void)
{
    struct row *global p = toglobal(0, &row);
    int i = 4;
    return p->cell[i];
    barrier();
    return 0;
}
