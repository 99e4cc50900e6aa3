// flags: -ferror-limit=2
void f(int *global g)
{
    g * 1;
    g * 2;
    g * 3;
    g * 4;
}
