int (*spread X)[2]::;
int *global (*Y[3])::(int);
