// SPDX-License-Identifier: BSD-3-Clause
//
// How wide text is where people read it: terminals and editors show tabs up to the next
// stop, East Asian characters in two columns, and accents above the letter before them.
#pragma once

#include <cstddef>
#include <string_view>

namespace splitcc {

// The columns that the byte at `i` of a line adds when it stands in `column` (from 0):
// those of a character of UTF-8 count with its first byte.
unsigned display_width(std::string_view line, size_t i, size_t column);

} // namespace splitcc
