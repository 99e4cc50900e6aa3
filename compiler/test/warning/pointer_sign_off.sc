// SPDX-License-Identifier: BSD-3-Clause
void f(unsigned char *bytes, unsigned *global far)
{
    char *global text = bytes;
    int *global numbers = far;
    (void)text, (void)numbers;
}
