/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mesh.sc - the fields on the mesh: a wave equation in strips with borders from the
 * neighbours, and the charge of the particles, deposited by everybody anywhere.
 */
#include "plasma.h"

#define STRIP(n) (((n) + PROCS - 1) / PROCS)

static double charge[CELLS][CELLS]::;
static int locks[PROCS]::;

/* A strip of lines for each processor, with an empty line around. */
static clear_strip(h, w, S)
int h, w;
double S[PROCS]::[h + 2][w + 2];
{
    int i, j;
    double (*s)[w + 2] = tolocal(S[MYPROC]);

    FOR_2D(i, j, h + 2, w + 2)
        s[i][j] = 0;
}

/* The lines of our neighbours next to ours; at the ends of the world there is none. */
#define BORDER(to, S, who, line, w)                              \
    do {                                                         \
        int column_;                                             \
        for (column_ = 0; column_ < (w) + 2; column_++)          \
            (to)[column_] := (S)[who][line][column_];            \
    } while (0)

static get_borders(h, w, S)
int h, w;
double S[PROCS]::[h + 2][w + 2];
{
    double (*s)[w + 2] = tolocal(S[MYPROC]);

    if (MYPROC > 0)
        BORDER(s[0], S, MYPROC - 1, h, w);
    if (MYPROC < PROCS - 1)
        BORDER(s[h + 1], S, MYPROC + 1, 1, w);
    sync();
    barrier();
}

/* One step of the wave; false if nothing moves any more. */
static wave_step(h, w, now, before, after)
int h, w;
double now[PROCS]::[h + 2][w + 2], before[PROCS]::[h + 2][w + 2], after[PROCS]::[h + 2][w + 2];
{
    int i, j, moves = 0;
    double (*u)[w + 2] = tolocal(now[MYPROC]), (*v)[w + 2] = tolocal(before[MYPROC]);
    double (*t)[w + 2] = tolocal(after[MYPROC]);

    get_borders(h, w, now);
    for (i = 1; i <= h; i++)
        for (j = 1; j <= w; j++) {
            double flow = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j];
            t[i][j] = 2 * u[i][j] - v[i][j] + flow / 8;
            moves |= t[i][j] != u[i][j];
        }
    return all_reduce_to_all_max(moves);
}

/* A drop falls at (line, column) of h * PROCS lines; the sum after some steps.
 * The arrays live while the steps are taken, however we leave. */
double wave(h, w, line, column, steps)
{
    double A[PROCS]::[h + 2][w + 2], B[PROCS]::[h + 2][w + 2];
    int step;
    double sum = 0;

    clear_strip(h, w, A), clear_strip(h, w, B);
    barrier();
    on_proc(line / h) {
        A[MYPROC][line % h + 1][column + 1] = 1;
        B[MYPROC][line % h + 1][column + 1] = 1;
    }
    barrier();
    for (step = 0; ; step++) {
        double C[PROCS]::[h + 2][w + 2];
        int i, j;

        if (step == steps)
            break;
        clear_strip(h, w, C);
        if (!wave_step(h, w, A, B, C))
            return -1;
        for (i = 1; i <= h; i++)
            for (j = 1; j <= w; j++) {
                B[MYPROC][i][j] = A[MYPROC][i][j];
                A[MYPROC][i][j] = C[MYPROC][i][j];
            }
        barrier();
        if (step % 3 == 1)
            continue;
        TRACE(("step %d\n", step));
    }
    on_one {
        int p, i, j;
        for (p = 0; p < PROCS; p++)
            FOR_2D(i, j, h, w)
                sum += (p * h + i + 1) * (j + 1) * A[p][i + 1][j + 1];
    }
    return all_bcast_d(sum);
}

/* The same in one piece, by each of us alone. */
static double wave_here(lines, w, line, column, steps)
{
    double a[lines + 2][w + 2], b[lines + 2][w + 2], c[lines + 2][w + 2], sum = 0;
    int i, j;

    memset(a, 0, sizeof a), memset(b, 0, sizeof b), memset(c, 0, sizeof c);
    a[line + 1][column + 1] = b[line + 1][column + 1] = 1;
    while (steps-- > 0) {
        for (i = 1; i <= lines; i++)
            for (j = 1; j <= w; j++)
                c[i][j] = 2 * a[i][j] - b[i][j] +
                          (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1] - 4 * a[i][j]) / 8;
        memcpy(b, a, sizeof a);
        memcpy(a, c, sizeof a);
    }
    FOR_2D(i, j, lines, w)
        sum += (i + 1) * (j + 1) * a[i + 1][j + 1];
    return sum;
}

check_wave()
{
    int h = STRIP(CELLS), lines = h * PROCS;

    CHECK_CLOSE("the wave", wave(h, CELLS, lines / 2, 3, 7),
                wave_here(lines, CELLS, lines / 2, 3, 7));
    CHECK_CLOSE("a wave at the edge", wave(h, 5, 0, 0, 4), wave_here(lines, 5, 0, 0, 4));
}

/* ---- the charge density ------------------------------------------------------------ */

clear_charge()
{
    int i, j;

    for_my_2d(i, j, CELLS, CELLS)
        charge[i][j] = 0;
    barrier();
}

/* Under a lock of the cell's owner: additions of many must not get lost. */
static add_charge(i, j, amount)
double amount;
{
    int owner = (i * CELLS + j) % PROCS;
    int *global lock = &locks[owner];

    splitc_lock(lock);
    charge[i][j] += amount;
    splitc_unlock(lock);
}

deposit()
{
    int i;

    for (i = 0; i < how_many; i++) {
        int line = MIN(CELLS - 1, (int)(mine[i].at.y * CELLS));
        int column = MIN(CELLS - 1, (int)(mine[i].at.x * CELLS));
        add_charge(line, column, mine[i].charge);
    }
    barrier();
}

double total_charge()
{
    double sum = 0, *spread p = (double *spread)charge, *spread end = p + CELLS * CELLS;

    for (p += MYPROC; p < end; p += PROCS)
        sum += *p;
    return all_reduce_to_all_dadd(sum);
}

check_charge()
{
    double sum = 0;
    int i;

    locks[MYPROC] = 0;
    clear_charge();
    for (i = 0; i < how_many; i++)
        sum += mine[i].charge;
    deposit();
    CHECK_CLOSE("the charge on the mesh", total_charge(), all_reduce_to_all_dadd(sum));
    barrier();
}
