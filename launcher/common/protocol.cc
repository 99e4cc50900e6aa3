// SPDX-License-Identifier: BSD-3-Clause

#include "common/protocol.h"

#include <algorithm>

#include "common/text.h"

namespace unetrun {

namespace {

struct Header {
    std::uint32_t type = 0;
    std::uint32_t length = 0;
    std::uint32_t node = 0;
    template <class Archive> void fields(Archive &archive) { archive(type, length, node); }
};

constexpr std::size_t excerpt_max = 60;

// The beginning of a stream that is none of ours, fit to be shown.
std::string excerpt(std::string_view bytes)
{
    return printable(std::string(bytes.substr(0, std::min(excerpt_max, bytes.find('\n')))));
}

} // namespace

bool Tree::valid() const
{
    return fanout > 0 && node < hosts.size() && (here < hosts.size() || here == every_node) &&
           (rsh.empty() || !unetrun.empty());
}

bool Job::valid() const
{
    const auto exists = [this](std::uint32_t n) { return n < hosts.size(); };
    return !id.empty() && !arguments.empty() && !node_of.empty() &&
           std::all_of(node_of.begin(), node_of.end(), exists);
}

std::vector<std::uint32_t> Job::ranks_of(std::uint32_t of) const
{
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < node_of.size(); rank++)
        if (node_of[rank] == of)
            ranks.push_back(rank);
    return ranks;
}

std::string protocol_version()
{
    return UNETRUN_VERSION;
}

std::string encode(const Frame &frame)
{
    if (frame.body.size() > frame_body_max)
        throw Failure(exit_trouble, "a message of " + std::to_string(frame.body.size()) +
                                        " bytes is too long for the launcher's protocol");
    Encoder header;
    header(frame.type, static_cast<std::uint32_t>(frame.body.size()), frame.node);
    return header.take() + frame.body;
}

void FrameReader::feed(std::string_view bytes)
{
    bytes_.erase(0, taken_);
    taken_ = 0;
    bytes_ += bytes;
}

std::optional<Frame> FrameReader::next()
{
    const std::string_view left = std::string_view(bytes_).substr(taken_);
    if (left.size() < frame_header_size)
        return std::nullopt;
    Header header;
    Decoder decoder(left.substr(0, frame_header_size));
    header.fields(decoder);
    if (header.type == 0 || header.type > static_cast<std::uint32_t>(FrameType::last) ||
        header.length > frame_body_max)
        throw Nonsense(exit_trouble,
                       "what arrives is not the launcher's protocol: '" + excerpt(left) + "'");
    if (left.size() - frame_header_size < header.length)
        return std::nullopt;
    taken_ += frame_header_size + header.length;
    return Frame{static_cast<FrameType>(header.type), header.node,
                 std::string(left.substr(frame_header_size, header.length))};
}

} // namespace unetrun
