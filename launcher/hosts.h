// SPDX-License-Identifier: BSD-3-Clause
//
// Lists of hosts, as users write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace unetrun {

struct Host {
    std::string name;                   // what the remote shell is told
    std::optional<std::uint32_t> slots; // ranks for which it has room, if that was said
    std::uint32_t times = 1;            // that it was mentioned, if not

    bool operator==(const Host &) const = default;
};

// "a,b:4,user@c,[::1]:2", of --hosts.  Throws Failure (exit_usage).
std::vector<Host> parse_hosts(const std::string &list);

// A host file's text, a host a line: "a", "b:4" or "c slots=2", and comments after '#'.
// `file` is its name, for messages.  Throws Failure (exit_usage).
std::vector<Host> parse_host_file(const std::string &text, const std::string &file);

std::vector<Host> read_host_file(const std::string &file);

// One entry for each name: with the sum of its slots, of which a mention without a number has
// one, or if none has a number with how often it was mentioned.
std::vector<Host> merged(const std::vector<Host> &hosts);

} // namespace unetrun
