int *const global p;
int *global const q;
int *volatile spread r;
