// SPDX-License-Identifier: BSD-3-Clause
//
// The folder lsp/ holds splitc-lsp, a language server: it runs splitcc on what an editor shows, and
// answers from what that found.  wire frames messages (Language Server Protocol 3.17, base
// protocol), text finds places, check runs splitcc, server has the methods.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace splitcc::lsp {

// What the other side sends is no message of the protocol, and where the next one begins is
// unknown.
struct WireError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Messages over two file descriptors.
class Wire {
public:
    Wire(int in, int out) : in_(in), out_(out) {}

    // Waits for the next message.  Returns false at the end of the input.
    bool read(std::string &message);
    // Whether the next message has begun to arrive, or the input has ended; waits for that.
    bool ready_within(int ms);
    void write(const std::string &message);

private:
    static constexpr size_t kHeaderMost = 4096;
    static constexpr size_t kMessageMost = size_t{64} << 20;
    bool fill();

    int in_, out_;
    std::string buffer_;
};

} // namespace splitcc::lsp
