int in_plain_c(int *p, int by)
{
    return *p += by;
}
