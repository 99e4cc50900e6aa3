#include <split-c/split-c.h>
#include "../check.h"

struct {
    int a;
    struct {
        short c;
    } in[2];
} object, *global to_object;
enum { RED, GREEN } color, *global to_color;
typedef struct {
    int n;
    struct {
        int m;
    } *global next;
} *global handle;
typedef union {
    long l;
    char c[8];
} *spread row;
struct node {
    struct node *global next, *plain;
    int key, *global data, *spread *rows[2];
} first, *global head;

int splitc_main(void)
{
    struct {
        int x;
    } local = {4}, *global to_local = toglobal(MYPROC, &local);
    struct {
        int n;
        void *global next;
    } target = {9, 0};
    handle h = (handle)toglobal(MYPROC, &target);
    row r = all_spread_malloc(PROCS, 8);
    int *global literal = (int *global){toglobal(MYPROC, &local.x)};
    int *global *p = &(int *global){literal};

    to_object = toglobal(MYPROC, &object);
    to_color = toglobal(MYPROC, &color);
    to_object->in[1].c = 3;
    to_object->a = 2;
    *to_color = GREEN;
    r[MYPROC].l = 0x0102;
    head = toglobal(MYPROC, &first);
    head->key = 8;
    head->next = head;
    head->data = &first.key;
    EXPECT(object.in[1].c + object.a, 5);
    EXPECT((*to_object).in[1].c, 3);
    EXPECT(color == GREEN, 1);
    EXPECT(to_local->x, 4);
    EXPECT(h->n, 9);
    EXPECT(h->next == NULL, 1);
    EXPECT(r[MYPROC].c[0], 2);
    EXPECT(*head->next->next->data, 8);
    EXPECT(**p, 4);
    EXPECT(*((struct { int *global p; }){literal}).p, 4);
    EXPECT(sizeof(struct { char c; int *global p; }), 16);
    all_spread_free(r);
    return failures;
}
