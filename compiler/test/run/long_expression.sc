#include <split-c/split-c.h>
#include "../check.h"

#define X4(e) e + e + e + e
#define X16(e) X4(e) + X4(e) + X4(e) + X4(e)
#define X64(e) X16(e) + X16(e) + X16(e) + X16(e)
#define X256(e) X64(e) + X64(e) + X64(e) + X64(e)
#define D4(e) (*&(*&(*&(*&(e)))))
#define D16(e) D4(D4(D4(D4(e))))
#define P4(e) ((((e))))
#define P64(e) P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(e))))))))))))))))

int cell;

int splitc_main(void)
{
    cell = MYPROC + 1;
    barrier();
    int *global g = toglobal(PROCS - 1, &cell);
    EXPECT(X256(*g), 256 * PROCS);
    EXPECT(D16(D16(D16(*g))), PROCS);
    EXPECT(P64(P64(*g)), PROCS);
    EXPECT(P64(*P64(P64(g))), PROCS);
    EXPECT(X64(D4(P4(*g)) * 2 - 1), 64 * (2 * PROCS - 1));
    barrier();
    return failures;
}
