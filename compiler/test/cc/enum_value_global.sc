int *global g;
enum e { A = *g };
