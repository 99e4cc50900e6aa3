// SPDX-License-Identifier: BSD-3-Clause
//
// What the node's ranks write: reads it from their pipes and sends it to the front end in whole
// lines, as far as the front end gives credit.  Further output waits in the pipes.  Calls
// OutputPipe and Uplink.
#pragma once

#include <memory>
#include <vector>

#include "node/rank_pipes.h"
#include "node/uplink.h"

namespace unetrun {

class RankOutput {
public:
    // `hold_lines`: an unfinished line waits for its end.
    RankOutput(Poller &poller, Uplink &uplink, bool hold_lines);

    void add(std::uint32_t rank, Stream stream, Fd read_end);
    void give_credit(std::uint32_t bytes);
    void on_front_end_lost() { update_watching(); }

    // Sends what is in the pipes at this moment, as far as there is credit.
    void flush();

    // The same when no process is left that could write.  Whether that was all.
    bool drain();

private:
    // Without a front end nobody limits the output, and it goes nowhere.
    bool has_room() const { return room_ > 0 || !uplink_.open(); }
    void send(std::uint32_t rank, Stream stream, std::string_view bytes);
    void update_watching();

    Poller &poller_;
    Uplink &uplink_;
    const bool hold_lines_;
    std::vector<std::unique_ptr<OutputPipe>> pipes_;
    std::int64_t room_ = output_window; // bytes that may still be sent; below 0 by part of a read
    bool watching_ = true;              // the pipes
};

} // namespace unetrun
