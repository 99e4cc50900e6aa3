// SPDX-License-Identifier: BSD-3-Clause
//
// What a node's ranks show of themselves: a page each of shared memory, which they write
// and nobody trusts (split-c/status.h).
#pragma once

#include <cstdint>
#include <split-c/status.h>
#include <string>
#include <vector>

#include "common/fd.h"

namespace unetrun {

class StatusBoard {
public:
    // Throws Failure.
    explicit StatusBoard(std::uint32_t ranks);
    ~StatusBoard();
    StatusBoard(const StatusBoard &) = delete;
    StatusBoard &operator=(const StatusBoard &) = delete;

    std::string place_of(std::uint32_t index) const; // what SPLITC_STATUS tells the rank
    splitc_status read(std::uint32_t index) const;
    std::vector<splitc_status> read_all() const;

private:
    std::uint32_t ranks_;
    Fd fd_;
    const char *pages_;
};

// The rank runs a Split-C program.
bool has_joined(const splitc_status &status);

// And is in one of Split-C's waits.
bool is_waiting(const splitc_status &status);

// In words, without the rank's name.  `now_ns` is CLOCK_MONOTONIC's, `state` the letter
// that /proc has for the process, `place` that of the source where it waits, if it is known.
std::string describe(const splitc_status &status, std::uint64_t now_ns, char state,
                     const std::string &place = "");

} // namespace unetrun
