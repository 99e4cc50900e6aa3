// SPDX-License-Identifier: BSD-3-Clause
//
// How names and strings are spelled, in sources and in C.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

namespace splitcc {

// Whether the character may stand in a word: a name, a keyword or a number.
inline bool is_word_char(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80);
}

// Whether a universal character name (\u00e9, \U000000e9) begins there.  gcc's preprocessor
// writes every letter beyond ASCII so.
inline bool is_universal(std::string_view text, size_t at)
{
    return at + 1 < text.size() && text[at] == '\\' && (text[at + 1] == 'u' || text[at + 1] == 'U');
}

// The name with its universal character names as letters in UTF-8.
std::string decoded(std::string_view spelling);

// The text as a C string literal, or as a file name in a line marker.
std::string c_string(std::string_view text);

} // namespace splitcc
