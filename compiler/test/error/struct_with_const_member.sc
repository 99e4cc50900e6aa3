struct key {
    const int id;
    int open;
};

struct pair {
    int n;
    struct key both[2][2];
};

union either {
    int n;
    struct {
        const char first;
    };
};

struct padded {
    const int : 8;
    const int *p;
    int n;
};

void f(struct key *global k, struct pair *global p, union either *global e, struct padded *global s)
{
    struct key key, keys[2];
    struct pair pair;
    struct padded padded;

    *k = key;
    p->both[1][0] = *k;
    *e = *e;
    *p := pair;
    p->both[0][1] :- key;
    keys[1] := *k;
    pair := *p;
    k->open = p->n;
    *s = padded;
    padded := *s;
}
