// SPDX-License-Identifier: BSD-3-Clause
# 1 "made_by_a_generator.y"
# 7 "made_by_a_generator.y"
extern int puts(const char *text);
#line 20 "other.y"
int line = __LINE__;
const char *file = __FILE__;
int splitc_main(void)
{
    int *global g = &line;
    return *g == 20 && file[0] == 'o' ? 0 : 1;
}
