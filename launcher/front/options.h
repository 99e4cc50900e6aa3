// SPDX-License-Identifier: BSD-3-Clause
//
// What the command line asks of unetrun.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/poller.h"
#include "common/protocol.h"
#include "front/hosts.h"
#include "front/placement.h"

namespace unetrun {

constexpr std::uint32_t ranks_max = 65536; // what Split-C's global pointers can name

// One of the job's programs.
struct ProgramOptions {
    std::optional<std::uint32_t> ranks; // none: all of the job, whose only program it is
    std::vector<std::string>
        variables; // of -x behind a ':', for its ranks alone: as those of the job
    std::vector<std::string> command; // the program and its arguments
};

struct Options {
    enum class Action { run, help, version, print_options };

    Action action = Action::run;
    // Of all programs; none: as many as there is room for on the hosts.
    std::optional<std::uint32_t> ranks;
    std::uint32_t nodes = 1;          // that this machine acts as
    std::vector<Host> hosts;          // none: this machine
    std::string allocation;           // the batch system that named them; empty: the user did
    std::optional<std::uint32_t> ppn; // ranks on each host
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
    std::string config_file;            // of --configfile; empty: programs are on the command line
    std::vector<ProgramOptions> programs; // in the order of their ranks
};

} // namespace unetrun
