// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

[[gnu::unused]] static int before;
[[]] [[deprecated("old"), gnu::aligned(16)]] static int several = 1;
static int after [[gnu::unused]] = 2;
static int row [[gnu::unused]] [2] = {3, 4};
struct [[gnu::packed]] tight { char c; int i [[gnu::unused]]; };
enum [[gnu::unused]] e { A [[gnu::unused]] = 5, B };
[[noreturn]] void stop(int code);
static int f [[gnu::noinline]] ([[maybe_unused]] int a, int b [[maybe_unused]]) { return b; }
typedef int di [[gnu::mode(DI)]];

int main(void)
{
    [[maybe_unused]] int local = 6, index[2] = {0, 1};
    switch (local) {
    case 6:
        local++;
        [[fallthrough]];
    default:
        local++;
    }
    if (local)
        goto end;
    [[gnu::unused]] end: ;
    for ([[maybe_unused]] int i = 0; i < 2; i++)
        local += row[index[i]];
    printf("%d %d %zu %d %d\n", several, after, sizeof(struct tight), B, f(1, 2));
    return local + sizeof(di) + _Alignof(several);
}
