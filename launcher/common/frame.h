// SPDX-License-Identifier: BSD-3-Clause
//
// Frames: how a stream of bytes between front end, relays and daemons is cut into messages.
//
// A frame is a type, the length of its body and a node, each 32 bits little-endian, and the body.
// On the way down from the front end the node is the receiver, on the way up it is the sender.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/failure.h"

namespace unetrun {

enum class FrameType : std::uint32_t {
    hello = 1,
    tree,
    networks,
    beat,
    lost,
    job,
    started,
    joined,
    exited,
    failed,
    aborted,
    note,
    output,
    output_credit,
    input,
    input_credit,
    input_closed,
    signal,
    end,
    fence,
    fence_done,
    modex,
    modex_done,
    inspect,
    report,
    stuck,
    ask_stuck,
    done,
    last = done
};

constexpr std::uint32_t every_node = ~0u; // as the receiver of a frame
constexpr std::size_t frame_body_max = std::size_t{256} << 20;

struct Frame {
    FrameType type;
    std::uint32_t node;
    std::string body;
};

// Throws Failure if the body is longer than frame_body_max.
std::string encode(const Frame &frame);

// A stream that is no sequence of frames.
struct Nonsense : Failure {
    using Failure::Failure;
};

// Cuts a stream of bytes into frames.
class FrameReader {
public:
    void feed(std::string_view bytes);

    // The next frame, once all of it has arrived.  Throws Nonsense, which quotes what arrived, if
    // that is no frame; the stream cannot be read any further then.
    std::optional<Frame> next();

private:
    std::string bytes_;
    std::size_t taken_ = 0; // of bytes_
};

} // namespace unetrun
