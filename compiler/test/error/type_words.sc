unsigned double a;
long float b;
short long c;
signed unsigned d;
int int e;
int *global g;
