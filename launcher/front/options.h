// SPDX-License-Identifier: BSD-3-Clause
//
// unetrun's command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/poller.h"
#include "common/protocol.h"
#include "front/hosts.h"
#include "front/placement.h"

namespace unetrun {

constexpr std::uint32_t ranks_max = 65536; // what Split-C's global pointers can name

struct Options {
    enum class Action { run, help, version };

    Action action = Action::run;
    std::optional<std::uint32_t> ranks; // none: as many as there is room for on the hosts
    std::uint32_t nodes = 1;            // that this machine acts as
    std::vector<Host> hosts;            // none: this machine
    std::string allocation;             // the batch system that named them; empty: the user did
    std::optional<std::uint32_t> ppn;   // ranks on each host
    MapBy map_by = MapBy::slot;
    std::vector<std::string> rsh{"ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"};
    bool rsh_everywhere = false; // to reach this machine, too
    std::uint32_t fanout = 32;
    bool stage = false;
    std::vector<std::string> variables; // of -x: NAME or NAME=VALUE
    std::vector<std::string> defaults;  // NAME=VALUE, for variables that are not set
    std::string network;                // of --net or --iface; empty: neither was given
    std::string directory;              // empty: the current one
    bool tag_output = false;
    std::string output;                   // of --output; empty: the terminal
    std::vector<std::uint32_t> only;      // ranks whose output is shown; empty: all
    std::chrono::milliseconds timeout{0}; // 0: none
    BindTo bind_to = BindTo::automatic;
    std::uint32_t cores_per_rank = 1; // of BindTo::core
    bool report_bindings = false;
    bool backtrace = false;
    bool verbose = false;
    std::vector<std::string> wrapper;   // a program that runs the ranks' one (--gdb), and arguments
    std::vector<std::uint32_t> wrapped; // the ranks that run in it; empty: all
    std::vector<std::string> command;   // the program and its arguments
};

// `arguments` do not begin with unetrun's own name.  What follows the program's name are arguments
// of the program.  Hosts that the user does not name are those that a batch system's variables in
// `environment` do.  Throws Failure (exit_usage).
Options parse_options(const std::vector<std::string> &arguments,
                      const std::vector<std::string> &environment = {});

// The number of ranks of a job on hosts with these slots.  Throws Failure (exit_usage).
std::uint32_t ranks_of(const Options &options, const std::vector<std::uint32_t> &slots);

std::string help_text();

// `inherited` (NAME=VALUE) changed as -x says.  Throws Failure (exit_usage).
std::vector<std::string> with_variables(std::vector<std::string> inherited,
                                        const std::vector<std::string> &variables);

} // namespace unetrun
