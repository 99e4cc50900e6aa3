/* What takes a double behind a word. */
#include <split-c/am.h>

int known_calls;
double known_sum;

void takes_real(int source, am_word a, double d)
{
    known_sum += source >= 0 ? a + d : 0;
    known_calls++;
}

am_handler known[] = {takes_real};
