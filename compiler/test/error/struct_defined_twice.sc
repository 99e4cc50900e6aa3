struct node {
    int key;
};
typedef struct node {
    int key;
    struct node *global next;
} node_t;

int f(node_t *global n, int *global p)
{
    struct node local;
    local.key = ((struct node { int key; } *global)p)->key;
    local.key += ((struct node { int key; } *global)p)->key;
    return n->key + local.missing;
}
