// SPDX-License-Identifier: BSD-3-Clause
#include "source/similar.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace splitcc {
namespace {

// Returns the number of edits between two words, where swapping two letters is one edit.
size_t distance(std::string_view a, std::string_view b)
{
    std::vector<size_t> row(b.size() + 1), above, two_above;
    for (size_t j = 0; j <= b.size(); j++)
        row[j] = j;
    for (size_t i = 1; i <= a.size(); i++) {
        two_above = std::exchange(above, row);
        row[0] = i;
        for (size_t j = 1; j <= b.size(); j++) {
            size_t substitute = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitute});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], two_above[j - 2] + 1);
        }
    }
    return row[b.size()];
}

// Returns whether two words differ in the case of letters only.
bool same_but_for_case(std::string_view a, std::string_view b)
{
    auto lower = [](unsigned char c) { return std::tolower(c); };
    return std::ranges::equal(a, b, {}, lower, lower);
}

} // namespace

size_t edits_too_many(std::string_view text)
{
    return text.size() > 64 ? 0 : text.size() < 3 ? 1 : text.size() < 4 ? 2 : text.size() / 3 + 1;
}

size_t edits(std::string_view text, std::string_view word)
{
    return same_but_for_case(text, word) ? text != word : distance(text, word);
}

bool are_similar(std::string_view text, std::string_view word)
{
    return text.size() < 2 * word.size() && edits(text, word) < edits_too_many(text);
}

std::string most_similar(std::string_view text, const std::vector<std::string> &words, size_t most)
{
    std::string found;
    size_t best = std::min(most + 1, edits_too_many(text));
    for (const std::string &word : words) {
        if (text.size() >= 2 * word.size()) // also spares long names
            continue;
        if (size_t d = edits(text, word); d < best) {
            best = d;
            found = word;
        }
    }
    return found;
}

} // namespace splitcc
