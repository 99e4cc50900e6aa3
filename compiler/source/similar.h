// SPDX-License-Identifier: BSD-3-Clause
//
// Which words are probably misspellings of others.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace splitcc {

// Returns the number of edits between two words, of which writing it in capitals is one.
size_t edits(std::string_view text, std::string_view word);

// Returns the number of edits from which on two words do not count as similar.
size_t edits_too_many(std::string_view text);

// Returns whether one of the two words is probably a misspelling of the other.
bool are_similar(std::string_view text, std::string_view word);

// Returns the word that `text` is probably a misspelling of, by so many edits at most; empty if
// there is none.
std::string most_similar(std::string_view text, const std::vector<std::string> &words, size_t most);

} // namespace splitcc
