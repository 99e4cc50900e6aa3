// SPDX-License-Identifier: BSD-3-Clause
enum { FEW = -3 };
int A[-1]::;
int B[4]::[2 - 4];
int C[FEW][2]::;
int fine[0]::;
