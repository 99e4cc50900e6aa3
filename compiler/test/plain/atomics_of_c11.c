// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu11
#include <stdatomic.h>
#include <stdio.h>

_Atomic int a = 3;
_Atomic(long) b;
_Atomic struct { int x, y; } pair;
int *_Atomic p;
atomic_uint c = ATOMIC_VAR_INIT(4);
static atomic_flag flag = ATOMIC_FLAG_INIT;
int main(void)
{
    int expected = 5;
    a++; a += 1; b = a; p = (int *)&expected;
    atomic_fetch_or(&c, 3);
    printf("%d %ld %u %d\n", a, b, atomic_load(&c), *p);
    printf("%d %d\n", atomic_compare_exchange_strong(&a, &expected, 9), a);
    printf("%d %d\n", atomic_flag_test_and_set(&flag), atomic_flag_test_and_set_explicit(&flag, memory_order_acquire));
    return atomic_is_lock_free(&a) ? atomic_exchange(&a, 0) : 1;
}
