// SPDX-License-Identifier: BSD-3-Clause

#include "node/rank_output.h"

namespace unetrun {

RankOutput::RankOutput(Poller &poller, Uplink &uplink, bool hold_lines)
    : poller_(poller), uplink_(uplink), hold_lines_(hold_lines)
{
}

void RankOutput::add(std::uint32_t rank, Stream stream, Fd read_end)
{
    auto &pipe = pipes_.emplace_back(std::make_unique<OutputPipe>(
        poller_, std::move(read_end), hold_lines_,
        [this, rank, stream](std::string_view bytes) { send(rank, stream, bytes); }));
    if (watching_)
        pipe->resume();
}

void RankOutput::send(std::uint32_t rank, Stream stream, std::string_view bytes)
{
    uplink_.send(Output{rank, stream, std::string(bytes)});
    room_ -= static_cast<std::int64_t>(bytes.size());
    update_watching();
}

void RankOutput::give_credit(std::uint32_t bytes)
{
    room_ += bytes;
    update_watching();
}

void RankOutput::update_watching()
{
    const bool wanted = has_room();
    if (wanted == watching_)
        return;
    watching_ = wanted;
    for (const auto &pipe : pipes_)
        wanted ? pipe->resume() : pipe->pause();
}

void RankOutput::flush()
{
    for (const auto &pipe : pipes_)
        while (pipe->open() && room_ > 0 && pipe->read_some())
            continue;
}

bool RankOutput::drain()
{
    bool dry = true;
    for (const auto &pipe : pipes_) {
        pipe->expect_end();
        while (pipe->open() && has_room())
            pipe->read_some();
        dry = dry && !pipe->open();
    }
    return dry;
}

} // namespace unetrun
