// SPDX-License-Identifier: BSD-3-Clause
//
// How names and strings are spelled, in the source and in the emitted C.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

namespace splitcc {

// Returns whether the character can be part of a name, a keyword or a number.
inline bool is_word_char(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80);
}

// Returns whether a universal character name (\u00e9, \U000000e9) begins at `at`.  gcc's
// preprocessor writes all letters outside ASCII like that.
inline bool is_universal(std::string_view text, size_t at)
{
    return at + 1 < text.size() && text[at] == '\\' && (text[at + 1] == 'u' || text[at + 1] == 'U');
}

// Returns the name with its universal character names replaced by letters in UTF-8.
std::string decoded(std::string_view spelling);

// Returns the text as a C string literal; file names in line markers have the same form.
std::string c_string(std::string_view text);

} // namespace splitcc
