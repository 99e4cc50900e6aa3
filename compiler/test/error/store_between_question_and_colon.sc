void f(int *global g, int *global h, int n)
{
    n ? *g :- 1 : (void)0;
    n ? *g :- 1 : *h :- 2;
    n ? (*g :- 1) : (*h :- 2);
    n = n ? *g :- 1;
    n = n ? n > 1 ? *g :- 1 : 2;
    n = n ? n > 1 ? *g :- 1 :- 2;
    switch (n) {
    case 1 ? 2 :- 3:
        n = 1;
    }
}
