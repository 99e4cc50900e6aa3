#include <split-c/split-c.h>
int f(int n)
{
    switch (n) {
    case PROCS - 1:
        return 1;
    case sizeof PROCS:
        return 2;
    case 1 ... MYPROC:
        return 3;
    }
    return 0;
}
