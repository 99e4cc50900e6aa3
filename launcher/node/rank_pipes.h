// SPDX-License-Identifier: BSD-3-Clause
//
// The pipes between a rank and its daemon: the standard input, output and error of the rank.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/fd.h"
#include "common/poller.h"
#include "node/line_assembler.h"

namespace unetrun {

// A rank's standard output or error: reads it, and hands it on in whole lines.
class OutputPipe {
public:
    using Emit = LineAssembler::Emit;

    OutputPipe(Poller &poller, Fd read_end, bool hold_lines, Emit emit);
    ~OutputPipe() { close(); }
    OutputPipe(const OutputPipe &) = delete;
    OutputPipe &operator=(const OutputPipe &) = delete;

    bool open() const { return static_cast<bool>(fd_); }
    void pause();
    void resume();
    // To be called when no process is left that could write: an empty pipe is at its end then.
    void expect_end() { end_expected_ = true; }
    bool read_some(); // false if there was nothing to read

private:
    void close();

    Poller &poller_;
    Fd fd_;
    LineAssembler lines_;
    Emit emit_;
    bool end_expected_ = false;
};

// Rank 0's standard input.
class InputPipe {
public:
    // `on_written` gets the number of bytes that were written; 0: nobody reads any more.
    InputPipe(Poller &poller, Fd write_end, std::function<void(std::size_t)> on_written);
    ~InputPipe() { close(); }
    InputPipe(const InputPipe &) = delete;
    InputPipe &operator=(const InputPipe &) = delete;

    void put(std::string_view bytes); // none: the end
    void close();

private:
    void flush();

    Poller &poller_;
    Fd fd_;
    std::function<void(std::size_t)> on_written_;
    std::string unwritten_;
    bool ending_ = false;
};

} // namespace unetrun
