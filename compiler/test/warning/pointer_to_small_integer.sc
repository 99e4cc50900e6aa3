#include <split-c/split-c.h>

unsigned hash(int *global g, int *spread s)
{
    int k = (int)g;
    unsigned u = ((unsigned)s >> 4) % 31;
    short low = (short)(long)g; /* what is meant */

    if ((_Bool)g && (long)s != 0)
        u ^= (unsigned long)g % 31;
    return u + k + low;
}
