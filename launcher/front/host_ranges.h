// SPDX-License-Identifier: BSD-3-Clause
//
// Names of many hosts in one, as batch systems write them: n[01-12,15]:4 is n01:4, n02:4, ...
#pragma once

#include <string>
#include <vector>

namespace unetrun {

// The parts of a list between its commas, but for those within brackets.
std::vector<std::string> split_host_list(const std::string &list);

// All names for which `text` stands; `text` itself if it has no ranges.  Brackets at its beginning
// are those of an IPv6 address.  `where` is for messages.  Throws Failure (exit_usage).
std::vector<std::string> expand_host_ranges(const std::string &text, const std::string &where);

} // namespace unetrun
