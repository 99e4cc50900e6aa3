struct a {
    int x;
};
enum a e;
enum b { ONE };
struct b s;
struct a {
    int y;
};
