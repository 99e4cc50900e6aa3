// SPDX-License-Identifier: BSD-3-Clause
//
// How many columns text takes on a screen: a tab leads to the next multiple of eight, East Asian
// characters take two columns, and combining characters none.
#pragma once

#include <cstddef>
#include <string_view>

namespace splitcc {

// Returns the number of columns that byte `i` of the line adds if it is shown in `column`, from 0.
// The first byte of a character in UTF-8 has all of the character's columns.
unsigned display_width(std::string_view line, size_t i, size_t column);

} // namespace splitcc
