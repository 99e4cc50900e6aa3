struct node {
    int key;
    struct node *next;

static void insert(struct node *n, int key)
{
    if (n) {
        n->key = key;
    }
}

typedef union {
    int a;
    char b[4];
int use(struct node *n)
{
    insert(n, 1);
    return 0;
}

void within(void)
{
    struct local {
        int a;
    int nested(void)
    {
        return 0;
    }
    nested();
}

int last(void)
{
    return nothing;
}
