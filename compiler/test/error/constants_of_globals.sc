int A[3]::;
int *global g;

int x = A[0];
static double y = 1 + *g / 2.0;
struct point {
    int x, y;
} p = {1, A[2]};
enum { E = A[0] };
int z[A[1]][2];
struct bits {
    int b : A[2];
    int row[A[0] + 1];
};
int named[] = {[A[0]] = 2};
int *global h = A[2];
int written = *g = 3;
long sizes = sizeof(A[0]) + sizeof *g;
int *global later = &A[1];
_Static_assert(A[0] == 1, "one");

int f(int n)
{
    static int first = A[0];
    int each[A[0]];

    switch (n) {
    case A[1]:
        n = first;
    }
    return n + each[0];
}
