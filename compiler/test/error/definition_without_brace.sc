int f(int n)
    int x;
    x = n;
    if (x) {
        x++;
    }
    return x;
}
int g() { return f(1); }
int h(int n)
    return n;
}
int *global k() { return n; }
