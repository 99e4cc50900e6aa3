int (*A)[3]::;
int D(void)::;
int *(*valid[2]::)[3];
int (also_valid[2]::)[3];
