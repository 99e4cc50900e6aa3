// SPDX-License-Identifier: BSD-3-Clause
//
// Where in a program's source an instruction comes from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace unetrun {

// "file.sc:12" for each, by addr2line of the binutils; empty if it is 0 or the program was compiled
// without -g, or there is none, or it takes too long.
std::vector<std::string> source_places(const std::string &program,
                                       const std::vector<std::uint64_t> &pcs,
                                       const std::vector<std::string> &environment);

// The same of so many addresses from addr2line's words: the innermost place that is the program's
// own, and not of the header that every access goes through.
std::vector<std::string> places_in(const std::string &words, std::size_t count);

} // namespace unetrun
