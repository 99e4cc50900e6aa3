struct s { int *global g; };
void f(int *global g)
{
    struct s x = {.h = g};
}
