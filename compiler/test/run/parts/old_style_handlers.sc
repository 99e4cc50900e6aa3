/* Handlers as they were written before prototypes; who sends to them only declares that they are
 * functions. */
#include <split-c/am.h>

int seen_source, seen_words[4], seen_bytes, ends, in_table_sum;
double seen_real;

void far_words(source, a, b)
    int source, a, b;
{
    seen_source = source;
    seen_words[0] = a;
    seen_words[1] = b;
    ends++;
}

void far_block(source, address, n)
    int source;
    char *address;
    int n;
{
    seen_bytes = n;
    seen_words[2] = address[n - 1];
    ends++;
}

void far_real(source, a, d)
    int source, a;
    double d;
{
    seen_words[3] = a;
    seen_real = d;
    ends++;
}

void far_nothing()
{
    ends++;
}

int far_in_table(source, a, b)
    int source, a, b;
{
    in_table_sum += a + b;
    ends++;
    return 0;
}
