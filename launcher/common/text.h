// SPDX-License-Identifier: BSD-3-Clause
//
// Texts from outside: made fit for the user's terminal, and as words.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace unetrun {

// Replaces control characters, which ranks, hosts and file names may contain: the text becomes one
// line without escape sequences.
std::string printable(std::string text);

// The words of a line, between blanks that are not within quotes of either kind.  Nothing if a
// quote is not closed.
std::optional<std::vector<std::string>> quoted_words(const std::string &line);

} // namespace unetrun
