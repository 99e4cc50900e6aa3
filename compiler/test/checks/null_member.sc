#include <split-c/split-c.h>

struct list {
    int value;
    struct list *global next;
};
struct list *global head;

int splitc_main(void)
{
    while (head->value >= 0)
        head = head->next;
    barrier();
    return 0;
}
