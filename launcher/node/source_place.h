// SPDX-License-Identifier: BSD-3-Clause
//
// Finds the line of the source to which an instruction of a program belongs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace unetrun {

// "file.sc:12" for each address, by addr2line of the binutils.  Empty for address 0, or if the
// program was compiled without -g, or if addr2line is missing or takes too long.
std::vector<std::string> source_places(const std::string &program,
                                       const std::vector<std::uint64_t> &pcs,
                                       const std::vector<std::string> &environment);

// The same for `count` addresses from the output of addr2line: the innermost line of each that is
// the program's own, and not of the header through which every access goes.
std::vector<std::string> places_in(const std::string &words, std::size_t count);

} // namespace unetrun
