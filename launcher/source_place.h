// SPDX-License-Identifier: BSD-3-Clause
//
// Where in a program's source an instruction comes from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace unetrun {

// "file.sc:12", by addr2line of the binutils; empty if the program was compiled without -g, or
// there is none, or it takes too long.
std::string source_place(const std::string &program, std::uint64_t pc,
                         const std::vector<std::string> &environment);

// The same from addr2line's words: the innermost place that is the program's own, and not
// of the header that every access goes through.
std::string place_in(const std::string &words);

} // namespace unetrun
