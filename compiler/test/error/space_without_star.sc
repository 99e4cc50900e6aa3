int global x;
int spread y;
global int z;
