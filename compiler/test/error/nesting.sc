#define P4(e) ((((e))))
#define P64(e) P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(P4(e))))))))))))))))
#define P256(e) P64(P64(P64(P64(e))))

int f(int *global g)
{
    return P256(P256(P256(P256(P256(*g)))));
}
