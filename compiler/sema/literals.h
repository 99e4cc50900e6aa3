// SPDX-License-Identifier: BSD-3-Clause
//
// The types and values of literals, and arithmetic on integer constants.
#pragma once

#include <optional>
#include <string_view>

#include "ast/ast.h"

namespace splitcc::literals {

// Set the type, and for integers the value, of a literal from its spelling.
void number(Types &types, std::string_view spelling, Expr *e);
void character(Types &types, std::string_view spelling, Expr *e);

// The element type of a string literal with that spelling.
const Type *string_element(Types &types, std::string_view spelling);

// The value as an object of that integer type holds it.
int64_t wrap(int64_t value, const Type *type);

// a op b in that type, where it is defined.
std::optional<int64_t> fold(Tok op, std::optional<int64_t> a, std::optional<int64_t> b,
                            const Type *type);

} // namespace splitcc::literals
