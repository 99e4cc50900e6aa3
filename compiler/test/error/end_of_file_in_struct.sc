// SPDX-License-Identifier: BSD-3-Clause
struct s {
    int a;
    int *global g