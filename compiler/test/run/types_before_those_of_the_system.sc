// flags: -std=gnu89
//
// The program's types may have the names of those of system headers that it includes later, and
// headers go on to mean their own.
typedef struct key {
    int k;
} key_t;
typedef unsigned char uint;
typedef struct {
    short first, last;
} div_t, *quad_t;
typedef unsigned short ushort; /* the same */
extern key_t first_key;
#include <split-c/split-c.h>
#include <stdlib.h>
#include <sys/types.h>
typedef char id_t;
#include <sys/wait.h>
#include <sys/ipc.h>
#include "../check.h"

typedef unsigned char uint;
key_t first_key = {5}, keys[4]::;
int (*wait_for)(idtype_t, __id_t, siginfo_t *, int) = waitid;
ldiv_t (*divide)(long, long) = ldiv;

sum(n, a, q)
key_t a[n]::;
quad_t q;
{
    int i, s = q->first - q->last;

    for (i = 0; i < n; i++)
        s += a[i].k;
    return s;
}

splitc_main()
{
    div_t pair;
    key_t *global g = toglobal(0, &first_key), copy;
    uint small = 300;
    id_t id = (id_t)300;
    int i;

    for_my_1d(i, 4)
        keys[i].k = i;
    barrier();
    pair.first = 70;
    pair.last = 60;
    copy := *g;
    sync();
    EXPECT(sum(4, keys, &pair), 16);
    EXPECT(copy.k + (*g).k, 10);
    EXPECT(small + id, 88);
    EXPECT(sizeof(div_t) + sizeof(key_t) + sizeof(quad_t), 16);
    EXPECT(divide(7, 2).rem, 1);
    EXPECT(ftok("/there/is/no/such/file", 1) == -1, 1);
    {
        int key_t = 3, *uint = &key_t;

        EXPECT(key_t * *uint, 9);
    }
    return failures;
}
