// SPDX-License-Identifier: BSD-3-Clause
//
// What <split-c/split-c.h> gives a C++ program, on any number of processors.
#include <cstdio>
#include <split-c/split-c.h>
#include <unistd.h> // whose sync() is another

using splitc::global;
using splitc::spread;

namespace {

struct node {
    int key;
    double values[3];
    global<node> next;
};

struct vector {
    double x, y;
    vector operator+(const vector &other) const { return {x + other.x, y + other.y}; }
};

int failures;

void check(bool fine, const char *what)
{
    if (fine)
        return;
    std::printf("processor %d of %d: %s\n", MYPROC, PROCS, what);
    failures++;
}
#define CHECK(condition) check(condition, #condition)

int right()
{
    return (MYPROC + 1) % PROCS;
}

int own_int; // at one address everywhere

void reads_and_writes()
{
    const global<int> theirs(right(), &own_int);
    global<const int> seen = theirs;

    own_int = -1;
    splitc::barrier();
    *theirs = MYPROC;
    splitc::barrier();
    CHECK(own_int == (MYPROC + PROCS - 1) % PROCS);
    CHECK(*seen == MYPROC);
    splitc::barrier();
    *theirs += 10;
    *theirs -= 4;
    *theirs *= 3;
    *theirs /= 2;
    CHECK(*seen == (MYPROC + 6) * 3 / 2);
    CHECK(&*theirs == theirs);
    CHECK(theirs.proc() == right() && theirs.local() == &own_int);
    CHECK(global<int>(&own_int).proc() == MYPROC);
    CHECK(!global<int>(nullptr) && !global<int>(static_cast<int *>(nullptr)) && theirs);
    splitc::barrier();
}

void spread_arrays()
{
    const long n = 5 * PROCS + 3;
    const spread<long> a = splitc::all_spread_malloc<long>(n);
    const spread<vector> v = splitc::all_spread_malloc<vector>(n);
    vector total = {0, 0};
    spread<long> p = a;
    long sum = 0;

    for (long i = MYPROC; i < n; i += PROCS) {
        a[i] = i;
        v[i] = {1.0 * i, 2.0 * i};
    }
    splitc::barrier();
    for (long i = 0; i < n; i++, ++p) {
        CHECK(p.proc() == i % PROCS && p - a == i && p == a + i && (i == 0 || a < p));
        sum += *p;
        total = total + v[i];
    }
    CHECK(sum == n * (n - 1) / 2 && total.x == sum && total.y == 2 * sum);
    p -= n;
    CHECK(p == a && p + 1 != a && &a[2] == global<long>(a + 2));
    splitc::barrier();
    splitc::all_spread_free(v);
    splitc::all_spread_free(a);
}

void blocks()
{
    const spread<int[4]> a = splitc::all_spread_malloc<int[4]>(2 * PROCS);

    for (int i = 0; i < 4; i++) {
        a[right()][i] = 100 * MYPROC + i;
        a[PROCS + right()][i] = -i;
    }
    splitc::barrier();
    const int *mine = *(a + MYPROC).local();
    CHECK(mine[3] == 100 * ((MYPROC + PROCS - 1) % PROCS) + 3 && mine[4 + 3] == -3);
    CHECK(a[2 * PROCS - 1][2] == -2);
    splitc::barrier();
    splitc::all_spread_free(a);
}

void structures()
{
    const spread<node> nodes = splitc::all_spread_malloc<node>(PROCS);
    const global<node> mine(nodes + MYPROC);
    int hops = 0;

    mine->*&node::key = MYPROC;
    mine->*&node::next = global<node>(nodes + right());
    mine.member(&node::values)[0][2] = 0.5 * MYPROC;
    splitc::barrier();
    for (global<node> g = mine; hops < PROCS; g = g->*&node::next, hops++) {
        const node whole = *g;

        CHECK(g->*&node::key == (MYPROC + hops) % PROCS);
        CHECK(whole.key == g.proc() && whole.values[2] == 0.5 * whole.key);
    }
    splitc::barrier();
    splitc::all_spread_free(nodes);
}

void split_phase()
{
    const spread<double> a = splitc::all_spread_malloc<double>(2 * PROCS);
    double first = 0, here[2] = {3, 4}, back[2] = {0, 0};
    const global<double> theirs(a + right());

    splitc::put(theirs, 1.0 + MYPROC);
    splitc::sync();
    splitc::get(first, theirs);
    splitc::sync();
    CHECK(splitc::is_sync() && first == 1.0 + MYPROC);
    splitc::barrier();
    splitc::store(theirs, 7);
    splitc::store_sync(sizeof(double));
    CHECK(*(a + MYPROC).local() == 7);
    splitc::barrier();
    splitc::bulk_write(theirs, here, sizeof here);
    splitc::bulk_get(back, global<const double>(theirs), sizeof back);
    splitc::sync();
    CHECK(back[0] == 3 && back[1] == 4);
    splitc::bulk_put(theirs, here + 1, sizeof(double));
    splitc::sync();
    splitc::bulk_read(back, a + right(), sizeof back);
    CHECK(back[0] == 4 && back[1] == 4);
    splitc::barrier();
    splitc::bulk_store(theirs, here, sizeof here);
    splitc::all_store_sync();
    CHECK((a + MYPROC).local()[0] == 3);
    splitc::barrier();
    splitc::all_spread_free(a);
}

void together()
{
    const spread<int> counter = splitc::all_spread_malloc<int>(2);
    const spread<long> wide = splitc::all_spread_malloc<long>(1);
    const global<int> first(counter), lock(counter + 1);
    const double seconds = splitc::get_seconds();

    if (MYPROC == 0)
        *first = 0, *lock = 0, wide[0] = 0;
    splitc::barrier();
    for (int i = 0; i < 10; i++) {
        splitc::fetch_add(first, 1);
        splitc::fetch_add(global<long>(wide), 1L << 33);
        splitc::lock(lock);
        splitc::unlock(lock);
    }
    splitc::barrier();
    CHECK(*first == 10 * PROCS && wide[0] == (10L << 33) * PROCS);
    CHECK(splitc::all_reduce_to_all_add(MYPROC) == PROCS * (PROCS - 1) / 2);
    CHECK(splitc::all_reduce_to_all_dmax(1.5 * MYPROC) == 1.5 * (PROCS - 1));
    CHECK(splitc::all_scan_ladd(1) == MYPROC + 1);
    CHECK(splitc::all_bcast_d(MYPROC == 0 ? 2.5 : 0) == 2.5);
    CHECK(splitc::get_seconds() >= seconds);
    splitc::barrier();
    if (MYPROC == 0) {
        CHECK(splitc::cmp_and_swap(first, 10 * PROCS, 1) == 10 * PROCS);
        CHECK(splitc::exchange(first, 0) == 1 && splitc::test_and_set(first) == 0);
        CHECK(splitc::trylock(lock) && !splitc::trylock(lock));
    }
    splitc::barrier();
}

} // namespace

int splitc_main(int argc, char **argv)
{
    CHECK(argc == 2 && argv[1][0] == 'x');
    reads_and_writes();
    spread_arrays();
    blocks();
    structures();
    split_phase();
    together();
    failures = splitc::all_reduce_to_all_add(failures);
    if (MYPROC == 0 && failures == 0)
        std::puts("fine");
    return failures != 0;
}
