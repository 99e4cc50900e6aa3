// SPDX-License-Identifier: BSD-3-Clause
//
// Cuts the bytes that one rank writes at the ends of lines, so that lines of different ranks are
// not torn where they meet.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace unetrun {

// Lines up to this length stay whole; longer ones pass in pieces of about this size.
constexpr std::size_t line_max = 1 << 20;

class LineAssembler {
public:
    // Gets whole lines, or a piece of a line that is longer than line_max.
    using Emit = std::function<void(std::string_view)>;

    // `hold`: an unfinished line waits for its end.  If there is only one writer, it need not.
    explicit LineAssembler(bool hold) : hold_(hold) {}

    void feed(std::string_view bytes, const Emit &emit);
    void finish(const Emit &emit); // the end of the file: emits what is left
    std::size_t held() const { return partial_.size(); }

private:
    bool hold_;
    std::string partial_;
};

} // namespace unetrun
