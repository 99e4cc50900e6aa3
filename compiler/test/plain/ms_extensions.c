// SPDX-License-Identifier: BSD-3-Clause
// flags: -fms-extensions
#include <stdio.h>

struct base { int id; };
typedef struct base base_t;
struct derived { struct base; int more; };
struct other { base_t; int extra; };

int main(void)
{
    struct derived d = {{3}, 4};
    struct other o;
    o.id = 5;
    o.extra = d.id + d.more;
    printf("%d %d\n", o.id, o.extra);
    return 0;
}
