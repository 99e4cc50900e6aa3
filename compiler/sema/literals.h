// SPDX-License-Identifier: BSD-3-Clause
//
// Types and values of literals, and arithmetic on integer constants.
#pragma once

#include <optional>
#include <string_view>

#include "ast/ast.h"

namespace splitcc::literals {

// Set the type of a literal by its spelling, and the value if it is an integer.
void number(Types &types, std::string_view spelling, Expr *e);
void character(Types &types, std::string_view spelling, Expr *e);

// Returns the type of the elements of a string literal.
const Type *string_element(Types &types, std::string_view spelling);

// Returns the value that an object of that integer type has after `value` is stored into it.
int64_t wrap(int64_t value, const Type *type);

// Returns `a op b` in that type, where it is defined.
std::optional<int64_t> fold(Tok op, std::optional<int64_t> a, std::optional<int64_t> b,
                            const Type *type);

} // namespace splitcc::literals
