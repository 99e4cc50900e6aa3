/* Handlers as they were written before prototypes; who sends to them only declares that they are
 * functions. */
#include <split-c/am.h>

int seen_source, seen_words[4], seen_bytes, ends, exact_sum;
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

void far_ack()
{
    ends++;
}

void far_exactly(int source, am_word a, am_word b, double d)
{
    exact_sum += (int)(a + b) * (source >= 0 && d == 0.5);
    ends++;
}

am_handler own[] = {far_exactly};
