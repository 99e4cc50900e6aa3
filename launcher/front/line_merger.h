// SPDX-License-Identifier: BSD-3-Clause
//
// Puts the output of all ranks one after the other onto one file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace unetrun {

// One output file.  Takes the pieces of many writers in order of arrival.  If `tagged`, the rank
// stands in front of each line.
class LineMerger {
public:
    explicit LineMerger(bool tagged) : tagged_(tagged) {}

    // The bytes to write for `bytes` of a rank's stream.  If another writer has left a line
    // unfinished, a newline comes first.
    std::string merge(std::uint32_t rank, unsigned stream, std::string_view bytes);

    // The same for a line of unetrun itself, which has no tag.
    std::string merge_own(std::string_view line);

private:
    static constexpr std::uint64_t nobody = ~std::uint64_t{0};

    void append_tagged(std::string &text, std::uint32_t rank, bool at_start,
                       std::string_view bytes) const;

    bool tagged_;
    std::uint64_t open_ = nobody; // whose unfinished line was written last
};

} // namespace unetrun
