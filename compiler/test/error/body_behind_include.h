int f(int *global p);
