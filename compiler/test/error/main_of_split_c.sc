// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int main(int argc, char *argv[])
{
    barrier();
    return argc + argv[0][0];
}
