int f(int *global g)
{
    if *g
        return 1;
    while () {
    }
    do
        (*g)--;
    until (1);
    switch (*g) {
    case 1
        break;
    }
    goto 5;
    return *g;
}
