/* SPDX-License-Identifier: BSD-3-Clause
 *
 * interpreter.sc - a Python interpreter on every processor, whose scripts call the functions of
 * this program by ctypes:
 *
 *     splitcc -O2 -rdynamic interpreter.sc -l:libpython3.11.so.1.0 -o splitpython
 *     unetrun -n 4 ./splitpython mean.py
 */
#include <split-c/split-c.h>

extern int Py_BytesMain(int argc, char **argv); /* python3's main, in libpython */

#define LENGTH 1000

static double part[PROCS]::[LENGTH];

int procs(void)
{
    return PROCS;
}

int my_proc(void)
{
    return MYPROC;
}

int length(void)
{
    return LENGTH;
}

double *my_part(void)
{
    return tolocal(part[MYPROC]);
}

double element(int proc, int i)
{
    return part[proc][i];
}

void all_meet(void)
{
    barrier();
}

double all_add(double value)
{
    return all_reduce_to_all_dadd(value);
}

int splitc_main(int argc, char *argv[])
{
    return Py_BytesMain(argc, argv);
}
