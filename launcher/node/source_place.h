// SPDX-License-Identifier: BSD-3-Clause
//
// Finds the lines of the source to which instructions of a program belong, by libbacktrace.  What
// is in the program's file is not trusted: another process reads it, which is unetrun as well.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace unetrun {

// An instruction, by its address in the file that it was loaded from.
struct CodeAddress {
    std::string file;
    std::uint64_t at = 0; // 0: not known

    auto operator<=>(const CodeAddress &) const = default;
};

// A function that the instruction belongs to, with what is known of it.
struct CodePlace {
    std::string function;
    std::string line; // "file.sc:12"

    bool operator==(const CodePlace &) const = default;
};

// For each address the function that it is in, after those that were inlined there: the innermost
// is the first.  Those of the header through which every access goes are left out.  Nothing is
// known of addresses in files without symbols, or if it takes longer than two seconds.
std::vector<std::vector<CodePlace>> source_places(const std::vector<CodeAddress> &addresses);

// "file.sc:12" of the innermost place whose line is known; or empty.
std::string line_of(const std::vector<CodePlace> &places);

// That other process: `arguments` are those behind the option, a file and an address for each.
// Prints what is known; returns the exit code.
constexpr const char *source_places_option = "--source-places";
int source_places_main(const std::vector<std::string> &arguments);

// What it has printed for `count` addresses.
std::vector<std::vector<CodePlace>> parse_source_places(const std::string &words,
                                                        std::size_t count);

} // namespace unetrun
