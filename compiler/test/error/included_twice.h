struct node {
    int *global value;
};
