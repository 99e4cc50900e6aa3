#include <split-c/split-c.h>
#include "../check.h"

int value;

static int where(const void *global p)
{
    return p == NULL ? -1 : toproc(p);
}

static int *global wide(int *p)
{
    return p; // by return
}

static int *narrow(int *global p)
{
    return p; // the processor is dropped, with a warning
}

static void *any(void *p)
{
    return p;
}

int splitc_main(void)
{
    int *global g = &value; // by initialization
    int array[3] = {1, 2, 3};
    int *global h;
    double d;
    char c;

    value = 300 + MYPROC;
    barrier();
    h = array; // by assignment
    EXPECT(toproc(h), MYPROC);
    EXPECT(h[2], 3);
    EXPECT(where(&value), MYPROC); // by argument
    EXPECT(where(array + 1), MYPROC);
    EXPECT(where(0), -1);
    EXPECT(where(wide(&value)), MYPROC);
    EXPECT(where(any(&value)), MYPROC);
    EXPECT(narrow(toglobal(PROCS - 1, &value)) == &value, 1);
    EXPECT(g == &value, 1);
    EXPECT(&value == g, 1);
    EXPECT(h != &array[1], 1);
    d = *g;
    c = *g;
    EXPECT(d, 300 + MYPROC);
    EXPECT(c, (char)(300 + MYPROC));
    *g = 2.9;
    EXPECT(value, 2);
    *g = 'A';
    EXPECT(value, 65);
    return failures;
}
