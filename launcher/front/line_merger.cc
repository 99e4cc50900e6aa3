// SPDX-License-Identifier: BSD-3-Clause

#include "front/line_merger.h"

#include <algorithm>

namespace unetrun {

std::string LineMerger::merge(std::uint32_t rank, unsigned stream, std::string_view bytes)
{
    std::string text;
    if (bytes.empty())
        return text;
    const std::uint64_t writer = std::uint64_t{rank} << 1 | stream;
    const bool continues = open_ == writer;
    if (open_ != nobody && !continues)
        text += '\n';
    if (tagged_)
        append_tagged(text, rank, !continues, bytes);
    else
        text += bytes;
    open_ = bytes.back() == '\n' ? nobody : writer;
    return text;
}

std::string LineMerger::merge_own(std::string_view line)
{
    std::string text;
    if (open_ != nobody)
        text += '\n';
    open_ = nobody;
    return text.append(line) + '\n';
}

void LineMerger::append_tagged(std::string &text, std::uint32_t rank, bool at_start,
                               std::string_view bytes) const
{
    const std::string tag = "[" + std::to_string(rank) + "] ";
    while (!bytes.empty()) {
        const std::string_view line = bytes.substr(0, bytes.find('\n'));
        const std::size_t size = std::min(line.size() + 1, bytes.size());
        if (at_start)
            text += tag;
        text += bytes.substr(0, size);
        bytes.remove_prefix(size);
        at_start = true;
    }
}

} // namespace unetrun
