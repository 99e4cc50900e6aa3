struct s {
    int n;
    int A[4]::;
    double d;
};
