// SPDX-License-Identifier: BSD-3-Clause

#include "common/frame.h"

#include <algorithm>

#include "common/codec.h"
#include "common/text.h"

namespace unetrun {

namespace {

constexpr std::size_t header_size = 12;
constexpr std::size_t excerpt_max = 60;

// The beginning of a stream that is no sequence of frames, for a message.
std::string excerpt(std::string_view bytes)
{
    return printable(std::string(bytes.substr(0, std::min(excerpt_max, bytes.find('\n')))));
}

} // namespace

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
    if (left.size() < header_size)
        return std::nullopt;
    FrameType type{};
    std::uint32_t length = 0, node = 0;
    Decoder(left.substr(0, header_size))(type, length, node);
    if (type < FrameType::hello || type > FrameType::last || length > frame_body_max)
        throw Nonsense(exit_trouble,
                       "what arrives is not the launcher's protocol: '" + excerpt(left) + "'");
    if (left.size() - header_size < length)
        return std::nullopt;
    taken_ += header_size + length;
    return Frame{type, node, std::string(left.substr(header_size, length))};
}

} // namespace unetrun
