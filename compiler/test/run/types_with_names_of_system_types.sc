// flags: -std=gnu89
#include <split-c/split-c.h>
#include <stdlib.h>
#include <sys/types.h>
#include "../check.h"

typedef unsigned long key_t; /* <stdlib.h> has all of these today */
typedef unsigned long key_t;
typedef struct quad {
    struct quad *global kid[4];
    key_t key;
} quad_t;
typedef struct {
    double x, y;
    int *global cell;
} div_t, *ldiv_t;
typedef int int8_t;
typedef unsigned short ushort; /* the same */

quad_t *global root, pool[4];
key_t keys[6]::;
div_t part;
ldiv_t parts = &part;

quad_t *global make(key)
key_t key;
{
    quad_t *q = &pool[key & 3];

    q->key = key;
    return (quad_t *global)q;
}

key_t sum(n, a)
int n;
key_t a[n]::;
{
    key_t s = 0;
    int i;

    for (i = 0; i < n; i++)
        s += a[i];
    return s;
}

plain(n) /* without anything of Split-C */
{
    struct { int quad_t; } div_t;

    div_t.quad_t = n;
    return div_t.quad_t + sizeof(quad_t) - sizeof(quad_t);
}

splitc_main()
{
    div_t *global far = (div_t *global)parts;
    quad_t q;
    key_t v;
    int8_t wide = 1000;
    ushort short_one = -1;
    int i;

    for_my_1d(i, 6)
        keys[i] = i + (1L << 40);
    barrier();
    root = make((key_t)3);
    root->kid[1] = make(2);
    q = *root;
    v := keys[1];
    sync();
    far->x = sizeof(key_t);
    EXPECT(q.kid[1]->key, 2);
    EXPECT(v == 1 + (1L << 40), 1);
    EXPECT(sum(6, keys) == 15 + (6L << 40), 1);
    EXPECT(part.x, 8);
    EXPECT(wide, 1000);
    EXPECT(short_one, 65535);
    EXPECT(sizeof(quad_t), 40);
    EXPECT(plain(4), 4);
    return failures;
}
