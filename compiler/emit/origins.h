// SPDX-License-Identifier: BSD-3-Clause
//
// Where the text of a translation comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "source/source.h"

namespace splitcc {

class Origins {
public:
    // From the byte `out` of the translation on, it is a copy of the source from `from` on.
    void copied(size_t out, uint32_t from) { add(out, from, kCopied); }
    // From there on, it is new text that stands for a construct.
    void made(size_t out, uint32_t construct) { add(out, 0, construct); }

    // The construct of what stands for nothing.
    static constexpr uint32_t kNowhere = UINT32_MAX - 1;
    // A construct of the source; its end is told when it is known.
    uint32_t construct(uint32_t begin);
    void ends(uint32_t construct, uint32_t end) { constructs_[construct].end = end; }

    // The word of the source that the byte was copied from, or the construct that it
    // stands for.
    std::optional<Range> source_of(uint32_t out, std::string_view source) const;

private:
    static constexpr uint32_t kCopied = UINT32_MAX;
    struct Stretch {
        uint32_t out, from, construct;
    };
    void add(size_t out, uint32_t from, uint32_t construct)
    {
        stretches_.push_back({static_cast<uint32_t>(out), from, construct});
    }

    std::vector<Stretch> stretches_; // by `out`
    std::vector<Range> constructs_;
};

} // namespace splitcc
