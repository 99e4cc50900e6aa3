int f(int *, int)
{
    return nothing;
}
