// SPDX-License-Identifier: BSD-3-Clause
#include "emit/origins.h"

#include <algorithm>

#include "source/spelling.h"

namespace splitcc {

uint32_t Origins::construct(uint32_t begin)
{
    constructs_.push_back({begin, begin + 1});
    return static_cast<uint32_t>(constructs_.size() - 1);
}

std::optional<Range> Origins::source_of(uint32_t out, std::string_view source) const
{
    auto after = std::upper_bound(stretches_.begin(), stretches_.end(), out,
                                  [](uint32_t at, const Stretch &s) { return at < s.out; });
    if (after == stretches_.begin())
        return {};
    const Stretch &stretch = *std::prev(after);
    if (stretch.construct != kCopied)
        return stretch.construct < constructs_.size()
                   ? std::optional(constructs_[stretch.construct])
                   : std::nullopt;
    const uint32_t begin = stretch.from + (out - stretch.out);
    auto word = [&](uint32_t i) {
        return i < source.size() && (is_word_char(source[i]) || is_universal(source, i));
    };
    uint32_t end = begin + 1;
    while (word(begin) && word(end))
        end++;
    return Range{begin, end};
}

} // namespace splitcc
