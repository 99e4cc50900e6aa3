// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu11
#include <assert.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>

static _Thread_local int tls = 4;
_Thread_local static int after = 5;
extern __thread int old_tls;
__thread int old_tls;
alignas(32) static char buffer[3];
_Alignas(double) _Alignas(16) int twice;
struct s { char c; alignas(16) int i; _Static_assert(sizeof(int) == 4, "int"); };
_Static_assert(alignof(max_align_t) >= 8, "align");
static_assert(1, "yes");
noreturn static void leave(int code) { exit(code); }
_Noreturn void go(void);
int main(void)
{
    _Static_assert(sizeof(struct s) == 32, "s");
    tls += after + old_tls;
    printf("%d %zu %d\n", tls, alignof(struct s), (int)((long)buffer % 32 + (long)&twice % 16));
    assert(tls == 9);
    go();
}
void go(void) { leave(3); }
