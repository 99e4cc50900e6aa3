#define P4(e) ((((e))))
#define P64(e) P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(e))))))))))))))))
#define P1K(e) P64(P64(P64(P64(P64(P64(P64(P64(P64(P64(P64(P64(P64(P64(P64(P64(e))))))))))))))))
#define P16K(e) P1K(P1K(P1K(P1K(P1K(P1K(P1K(P1K(P1K(P1K(P1K(P1K(P1K(P1K(P1K(P1K(e))))))))))))))))

int f(int *global g)
{
    return P16K(*g);
}
