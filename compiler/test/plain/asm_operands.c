#include <stdio.h>

register long stack_pointer asm("rsp");
int renamed(int) asm("other_name");
int other_name_calls;
int renamed(int x) { return x + ++other_name_calls; }

int main(void)
{
    int a = 5, b = 7, sum;
    long v[2] = {1, 2};
    asm("addl %2, %0" : "=r"(sum) : "0"(a), "r"(b) : "cc");
    __asm__ __volatile__("" ::: "memory");
    asm volatile("movq %[from], %[to]" : [to] "=m"(v[0]) : [from] "r"(v[1] * 3));
    asm goto("jmp %l[there]" :::: there);
    puts("not here");
there:
    printf("%d %ld %d %d\n", sum, v[0], renamed(2), stack_pointer != 0);
    return 0;
}
