// SPDX-License-Identifier: BSD-3-Clause
//
// The C++ part of mixed.sc.
#include <split-c/split-c.h>

struct item {
    int value;
    splitc::global<item> next;
};

extern "C" double sum_of(splitc::spread<double> a, long n)
{
    double sum = 0;

    for (long i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

// The representation of a pointer is its word.
extern "C" splitc_ptr chain(splitc_ptr first, splitc_ptr second)
{
    const auto item_at = splitc::global<item>::from_word;

    item_at(first)->*&item::next = item_at(second);
    return first;
}
