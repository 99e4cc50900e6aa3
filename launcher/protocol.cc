// SPDX-License-Identifier: BSD-3-Clause

#include "protocol.h"

#include <algorithm>

#include "failure.h"

namespace unetrun {

namespace {

struct Header {
    std::uint32_t type = 0;
    std::uint32_t length = 0;
    template <class Archive> void fields(Archive &archive) { archive(type, length); }
};

} // namespace

bool Job::valid() const
{
    return !id.empty() && !hosts.empty() && node < hosts.size() && !arguments.empty() &&
           first_rank.size() == hosts.size() + 1 && first_rank.front() == 0 &&
           std::is_sorted(first_rank.begin(), first_rank.end()) && local_ranks() > 0;
}

std::string encode_frame(FrameType type, const std::string &body)
{
    if (body.size() > frame_body_max)
        throw Failure(exit_trouble, "a message of " + std::to_string(body.size()) +
                                        " bytes is too long for the launcher's protocol");
    Encoder header;
    header(type, static_cast<std::uint32_t>(body.size()));
    return header.take() + body;
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
        throw Failure(exit_trouble, "what arrives is not the launcher's protocol");
    if (left.size() - frame_header_size < header.length)
        return std::nullopt;
    taken_ += frame_header_size + header.length;
    return Frame{static_cast<FrameType>(header.type),
                 std::string(left.substr(frame_header_size, header.length))};
}

} // namespace unetrun
