// flags: -fcheck
// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <stdlib.h>
#include "../check.h"

#define FIELD(p, f) ((p)->f)

struct none { int n; char data[0]; };
struct one { int n; char data[1]; };
struct open { int n; char data[]; };

int splitc_main(void)
{
    struct none *global none = (struct none *)malloc(40);
    struct one *global one = (struct one *)malloc(40);
    struct open *global open = (struct open *)malloc(40);

    FIELD(none, data)[2] = 1;
    ((*none).data)[3] = 2;
    *&(none->data)[4] = 3;
    FIELD(one, data)[2] = 4;
    FIELD(open, data)[2] = 5;
    EXPECT(FIELD(none, data)[2] + none->data[3] + 2[none->data + 2], 6);
    EXPECT((one->data)[2] + *(open->data + 2), 9);
    return failures;
}
