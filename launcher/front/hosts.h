// SPDX-License-Identifier: BSD-3-Clause
//
// Lists of hosts as users write them, and which host is this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace unetrun {

struct Host {
    std::string name;                   // what the remote shell is told
    std::optional<std::uint32_t> slots; // ranks for which it has room, if the list says that
    std::uint32_t times = 1;            // how often the list names it, if it does not

    bool operator==(const Host &) const = default;
};

// Of --hosts: "a,b:4,user@c,n[01-12]:8,[::1]:2".  Throws Failure (exit_usage).
std::vector<Host> parse_hosts(const std::string &list, const std::string &where = "--hosts");

// The text of a host file, with one host, or a range of hosts, per line: "a", "b:4" or "n[1-4]
// slots=2".  '#' begins a comment. `file` is its name, for messages, and `where` who names it.
// Throws Failure (exit_usage).
std::vector<Host> parse_host_file(const std::string &text, const std::string &file,
                                  const std::string &where = "--hostfile");

std::vector<Host> read_host_file(const std::string &file, const std::string &where = "--hostfile");

// One entry for each name.  Its slots are the sum of those of all its entries, of which one without
// a number counts as one slot.  If no entry has a number, `times` is the number of entries.
std::vector<Host> merged(const std::vector<Host> &hosts);

// This machine's own name.
std::string host_name();

// Whether a name means this machine, whose own name is `own`: that name with or without its domain,
// localhost, and loopback addresses.  Asks no name server.  A name with a user is not this machine.
bool is_here(const std::string &name, const std::string &own);

// Makes one host of all those that mean this machine; it has the name of the first one.
std::vector<Host> with_one_here(std::vector<Host> hosts, const std::string &own);

} // namespace unetrun
