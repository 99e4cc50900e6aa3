int value(int *global);
int value(g) int *g; { return *g; }
