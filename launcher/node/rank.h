// SPDX-License-Identifier: BSD-3-Clause
//
// One rank as its daemon sees it: a process and the three pipes to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>

#include "common/fd.h"
#include "common/poller.h"
#include "common/protocol.h"
#include "node/line_assembler.h"

namespace unetrun {

// A rank's stdout or stderr: reads, assembles lines, hands them on.
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
    // Nobody is left who could write: the end is there once the pipe is empty.
    void expect_end() { end_expected_ = true; }
    bool read_some(); // false: there was nothing, for now or for ever

private:
    void close();

    Poller &poller_;
    Fd fd_;
    LineAssembler lines_;
    Emit emit_;
    bool end_expected_ = false;
};

// Rank 0's stdin.
class InputPipe {
public:
    // `on_written` gets the number of bytes that have left; 0: nobody reads any more.
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

struct Rank {
    std::uint32_t number = 0;
    pid_t pid = 0;
    bool joined = false;                   // the job, by PMIx_Init
    bool left = false;                     // the job, by PMIx_Finalize
    std::unique_ptr<OutputPipe> output[2]; // by Stream
};

} // namespace unetrun
