// SPDX-License-Identifier: BSD-3-Clause
#include "driver/driver.h"

int main(int argc, char **argv)
{
    return splitcc::drive({argv + 1, argv + argc});
}
