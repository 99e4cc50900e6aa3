int *global spread p;
int *spread spread spread q;
void f(int *global global g, int *global spread);
