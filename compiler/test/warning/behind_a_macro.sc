// flags: -std=gnu89
extern int bad, pr();
#define CHECK(c) if (c) ; else bad++, pr(5)
void f(int x, int *global p)
{
    CHECK(x == 9); (short)x = 7; CHECK(x == 3);
    CHECK(x == 9); (int *)p; CHECK(x == 3);
}
