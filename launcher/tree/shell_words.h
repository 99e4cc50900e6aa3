// SPDX-License-Identifier: BSD-3-Clause
//
// What a remote shell prints to its standard error, as lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace unetrun {

class ShellWords {
public:
    static constexpr std::size_t line_max = 400; // the rest of a longer line is dropped

    // Calls `on_line` for every line that the bytes complete, without blanks at its end; not for
    // empty lines.
    void feed(std::string_view bytes, const std::function<void(const std::string &)> &on_line);

private:
    std::string line_; // that is not complete
};

} // namespace unetrun
