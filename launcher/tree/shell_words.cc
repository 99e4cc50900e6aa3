// SPDX-License-Identifier: BSD-3-Clause

#include "tree/shell_words.h"

#include <utility>

namespace unetrun {

namespace {

std::string without_blanks_at_end(std::string line)
{
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
        line.pop_back();
    return line;
}

} // namespace

void ShellWords::feed(std::string_view bytes,
                      const std::function<void(const std::string &)> &on_line)
{
    for (const char c : bytes)
        if (c == '\n') {
            const std::string line = without_blanks_at_end(std::exchange(line_, {}));
            if (!line.empty())
                on_line(line);
        } else if (line_.size() < line_max) {
            line_ += c;
        }
}

} // namespace unetrun
