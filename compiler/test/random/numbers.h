// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "program.h"

namespace random_program {

struct Number {
    long whole = 0; // a value of an integer type; unsigned ones have the same bits
    double real = 0;
};

const Type *promoted(const Type *type);
const Type *promoted(const Node &n); // a bit-field has the type int
const Type *usual(const Type *a, const Type *b);
bool is_comparison(const std::string &token);
bool is_shift(const std::string &token);

long wrap(long n, int bits, bool is_signed);
Number convert(const Number &from, const Type &a, const Type &b);

// Both operands have that type; for a shift, the left one has.
Number binary(const std::string &token, const Number &a, const Number &b, const Type &type);

} // namespace random_program
