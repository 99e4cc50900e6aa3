int (*A)[3]::;
int *(*B[2]::)[3];
int (C[2]::)[3];
int D(void)::;
