// SPDX-License-Identifier: BSD-3-Clause

#include "common/text.h"

#include <algorithm>

namespace unetrun {

std::string printable(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
    return text;
}

std::optional<std::vector<std::string>> quoted_words(const std::string &line)
{
    std::vector<std::string> words;
    char quote = 0;
    bool in_word = false;
    for (const char c : line) {
        if (quote == 0 && (c == ' ' || c == '\t' || c == '\r')) {
            in_word = false;
            continue;
        }
        if (!in_word)
            words.emplace_back();
        in_word = true;
        if (quote == 0 && (c == '\'' || c == '"'))
            quote = c;
        else if (c == quote)
            quote = 0;
        else
            words.back() += c;
    }
    if (quote != 0)
        return std::nullopt;
    return words;
}

} // namespace unetrun
