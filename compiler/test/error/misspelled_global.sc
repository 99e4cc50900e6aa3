// SPDX-License-Identifier: BSD-3-Clause
int *gobal g;
int *spraed s;
int *globl f(int *golbal g);
int *other x;
