itn x;
vodi f(void)
{
    fro(x);
    return;
}
