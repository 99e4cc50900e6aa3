// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

static int run(const char *code)
{
    static const void *const table[] = {&&inc, &&dec, &&dbl, &&end};
    static const int offsets[] = {&&inc - &&inc, &&dec - &&inc};
    int v = 0;
#define NEXT goto *table[*code++ - 'a']
    NEXT;
inc: v++; NEXT;
dec: v--; NEXT;
dbl: v *= 2; NEXT;
end: return v + (offsets[0] != 0);
}

#define FIND(list, n, x) ({ __label__ found; int i_ = 0; for (; i_ < n; i_++) if (list[i_] == x) goto found; i_ = -1; found: i_; })

int main(void)
{
    int list[] = {4, 5, 6};
    {
        __label__ again, out;
        int n = 0;
again:  if (n++ < 3) goto again;
        goto out;
out:    printf("%d\n", n);
    }
    printf("%d %d %d\n", run("aacad"), FIND(list, 3, 6), FIND(list, 3, 7));
    switch (list[0]) { case 1 ... 3: return 1; case 4: case 5 ... 9: break; default: return 2; last: ; }
    return 0;
}
