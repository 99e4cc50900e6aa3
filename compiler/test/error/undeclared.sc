int counter;

int f(void)
{
    int total = coutner + 1;
    total += unheard_of;
    total += unheard_of;
    return totl;
}
