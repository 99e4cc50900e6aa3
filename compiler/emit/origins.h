// SPDX-License-Identifier: BSD-3-Clause
//
// The map from the emitted C back to the source, by which messages of the C compiler find their
// places.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "source/source.h"

namespace splitcc {

class Origins {
public:
    // Records that the translation from byte `out` on is a copy of the source from byte `from` on.
    void copied(size_t out, uint32_t from) { add(out, from, kCopied); }
    // Records that the translation from byte `out` on is new text which stands for a construct.
    void made(size_t out, uint32_t construct) { add(out, 0, construct); }

    // The construct of new text that stands for no construct of the source.
    static constexpr uint32_t kNowhere = UINT32_MAX - 1;
    // Adds a construct of the source that begins at `begin`.  Its end is set by ends().
    uint32_t construct(uint32_t begin);
    void ends(uint32_t construct, uint32_t end) { constructs_[construct].end = end; }

    // Returns the word of the source that byte `out` was copied from, or the construct that it
    // stands for, if there is one.
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

    std::vector<Stretch> stretches_; // sorted by `out`
    std::vector<Range> constructs_;
};

} // namespace splitcc
