/* The nodes of a typedef's dimensions are gone when the next declaration is read. */
#include <stdio.h>
#include <sys/stat.h>

typedef char name[20];
typedef char buffer[sizeof(struct stat)];
struct record {
    name first, others[3];
    buffer b;
    int last;
};
buffer one, some[2];

int main(void)
{
    printf("%zu %zu %d\n", sizeof(((struct record *)0)->others), sizeof(name),
           sizeof(some) == 2 * sizeof(struct stat) && sizeof(one) == sizeof(struct stat));
    return 0;
}
