int f(void)[3]::;
int (*g(void))[2]::;
int *A[2]::(void);
