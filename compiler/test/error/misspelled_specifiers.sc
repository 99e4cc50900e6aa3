typdef struct cell {
    int n;
    struct cell *global next;
} cell;
statc struct cell *global first;
extrn unsigned total;
unsinged int sum;

int f(cell *global c)
{
    typedf int number;
    statc int calls;
    cosnt number one = 1;
    Unsigned long l = c->n;

    calls += one;
    return c->next->n + first->n + total + sum + calls + l;
}

count
int g(void)
{
    return 0;
}
