// SPDX-License-Identifier: BSD-3-Clause
//
// What the ranks of a node show of themselves: each writes a page of shared memory
// (split-c/status.h).  Nothing on it is trusted.
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

    std::string place_of(std::uint32_t index) const; // of a page, as the value of SPLITC_STATUS
    splitc_status read(std::uint32_t index) const;
    std::vector<splitc_status> read_all() const;

private:
    std::uint32_t ranks_;
    Fd fd_;
    const char *pages_;
};

// The file of that index in which the rank has code, empty if it does not say.
std::string object_name(const splitc_status &status, std::uint64_t index);

// Whether the rank runs a Split-C program.
bool has_joined(const splitc_status &status);

// Whether it does, and waits in an operation of Split-C.
bool is_waiting(const splitc_status &status);

// In words, without the name of the rank.  `now_ns` is the time of CLOCK_MONOTONIC, `state` the
// letter that /proc has for the process, `place` where in the source it waits, if that is known.
std::string describe(const splitc_status &status, std::uint64_t now_ns, char state,
                     const std::string &place = "");

} // namespace unetrun
