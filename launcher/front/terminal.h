// SPDX-License-Identifier: BSD-3-Clause
//
// The user's side of the output: the lines of all ranks and unetrun's own, on its standard output
// and standard error, or in files (--output).  Calls LineMerger and Sink; knows nothing of daemons.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "common/mailbox.h"
#include "common/protocol.h"
#include "front/line_merger.h"
#include "front/sink.h"

namespace unetrun {

class Terminal {
public:
    // So many bytes of a node's output are written, or dropped because nobody reads them.
    using OnTaken = std::function<void(std::uint32_t node, std::uint32_t bytes)>;
    // Standard output, or that file, cannot be written any more, for this errno.  Called once.
    using OnBroken = std::function<void(const std::string &file, int error)>;

    // `tagged`: the rank stands in front of each line.  `only`: these ranks' output is shown, if
    // there are any.
    Terminal(Mailbox &mailbox, bool tagged, const std::vector<std::uint32_t> &only,
             OnTaken on_taken, OnBroken on_broken);

    // Sends the output of each rank to a file of its own, or of several.
    void use_files(std::vector<std::string> of_rank) { files_ = std::move(of_rank); }

    void put(std::uint32_t node, const Output &output);
    void say(const std::string &text); // a line of unetrun's own

    // Whether some output is not written yet.  If nobody takes it, the destructor never returns.
    bool pending() const { return !sinks_[0]->idle() || !sinks_[1]->idle() || !file_sink_->idle(); }

private:
    // One file, or both streams if they lead to the same one, so that its lines stay apart.
    std::size_t index(int fd) const { return one_file_ ? 0 : static_cast<std::size_t>(fd) - 1; }
    bool is_shown(std::uint32_t rank) const { return only_.empty() || only_.contains(rank); }
    void put_to_file(std::uint32_t node, const Output &output);
    void on_written(const Written &written);
    void on_file_broken(const std::string &file, int error);

    OnTaken on_taken_;
    OnBroken on_broken_;
    const bool one_file_;
    const std::set<std::uint32_t> only_;
    std::vector<std::string> files_; // by rank; empty: output is for the terminal
    std::map<std::string, LineMerger> file_mergers_;
    const bool tagged_;
    bool file_broken_ = false;
    bool broken_[2] = {false, false}; // by descriptor - 1: nobody can read it any more
    LineMerger mergers_[2];
    std::unique_ptr<Sink> sinks_[2]; // last, as their threads report what they have written
    std::unique_ptr<Sink> file_sink_;
};

} // namespace unetrun
