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
    // Gets whole lines, or a piece of a line longer than line_max.
    using Emit = std::function<void(std::string_view)>;

    // `hold` says whether an unfinished line waits for its end; a writer that is alone
    // cannot be torn and needs no waiting.
    explicit LineAssembler(bool hold) : hold_(hold) {}

    void feed(std::string_view bytes, const Emit &emit);
    void finish(const Emit &emit); // end of file: what is left comes out
    std::size_t held() const { return partial_.size(); }

private:
    bool hold_;
    std::string partial_;
};

} // namespace unetrun
