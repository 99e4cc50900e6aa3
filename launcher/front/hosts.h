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

// This machine's own name.
std::string host_name();

// Whether a name means this machine, whose own name is `own`, without asking anybody: that, alone
// or with its domain, localhost, and loopback addresses.  One for another user does not.
bool is_here(const std::string &name, const std::string &own);

// All that mean this machine made one, by the first one's name.
std::vector<Host> with_one_here(std::vector<Host> hosts, const std::string &own);

} // namespace unetrun
