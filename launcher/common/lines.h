// SPDX-License-Identifier: BSD-3-Clause
//
// Lines of many writers onto one stream without tearing any: the daemon assembles each
// rank's bytes into whole lines, the front end puts them one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace unetrun {

// Lines up to this length stay whole; longer ones pass in pieces of about this size.
constexpr std::size_t line_max = 1 << 20;

// One line, whatever a rank or a file's name would make of it: no line ends, no escape
// sequences.
std::string printable(std::string text);

// One writer's bytes, cut at ends of lines.
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

// One output file: the pieces of many writers in order of arrival, each line in one
// piece and, if asked for, with its rank in front.
class LineMerger {
public:
    explicit LineMerger(bool tagged) : tagged_(tagged) {}

    // What to write for `bytes` of a rank's stream.  Where another writer left a line
    // open, it is closed first.
    std::string merge(std::uint32_t rank, unsigned stream, std::string_view bytes);

    // The same for a line of unetrun's own, which has no tag.
    std::string merge_own(std::string_view line);

private:
    static constexpr std::uint64_t nobody = ~std::uint64_t{0};

    void append_tagged(std::string &text, std::uint32_t rank, bool at_start,
                       std::string_view bytes) const;

    bool tagged_;
    std::uint64_t open_ = nobody; // whose unfinished line was written last
};

} // namespace unetrun
