// SPDX-License-Identifier: BSD-3-Clause

#include "front/allocation.h"

#include <algorithm>
#include <charconv>
#include <fstream>

#include "common/environment.h"

namespace unetrun {

namespace {

struct BatchSystem {
    const char *name;
    const char *job;       // the variable that every job of it has
    const char *counts[3]; // variables with the number of ranks or nodes of the allocation
    const char *list;      // the variable that names a file with one line per rank, or null
    const char *remedy;
};

const BatchSystem batch_systems[] = {
    {"Slurm",
     "SLURM_JOB_ID",
     {"SLURM_NTASKS", "SLURM_NNODES", "SLURM_JOB_NUM_NODES"},
     nullptr,
     "unetrun --hosts \"$(scontrol show hostnames | paste -sd,)\" -n N, or srun --mpi=pmix"},
    {"PBS", "PBS_NODEFILE", {}, "PBS_NODEFILE", "unetrun --hostfile \"$PBS_NODEFILE\""},
    {"LSF",
     "LSB_JOBID",
     {"LSB_DJOB_NUMPROC"},
     "LSB_DJOB_HOSTFILE",
     "unetrun --hostfile \"$LSB_DJOB_HOSTFILE\""},
    {"Grid Engine",
     "PE_HOSTFILE",
     {"NSLOTS"},
     nullptr,
     "unetrun --hosts \"$(awk '{ print $1 \":\" $2 }' \"$PE_HOSTFILE\" | paste -sd,)\""},
};

std::uint64_t number(const std::string &text)
{
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::uint64_t lines_in(const std::string &file)
{
    std::ifstream stream(file);
    std::uint64_t lines = 0;
    for (std::string line; std::getline(stream, line);)
        lines += !line.empty();
    return lines;
}

// The number of ranks for which there is room, as far as the system tells.
std::uint64_t room(const BatchSystem &system, const std::vector<std::string> &environment)
{
    std::uint64_t most = system.list ? lines_in(value_of(environment, system.list)) : 0;
    for (const char *variable : system.counts)
        if (variable)
            most = std::max(most, number(value_of(environment, variable)));
    return most;
}

} // namespace

std::string untaken_allocation(const Options &options, const std::vector<std::string> &environment)
{
    if (options.ranks || !options.hosts.empty())
        return {};
    for (const BatchSystem &system : batch_systems) {
        if (value_of(environment, system.job).empty())
            continue;
        if (const std::uint64_t ranks = room(system, environment); ranks > 1)
            return "1 rank starts, on this machine, though " + std::string(system.name) +
                   " has given the job room for " + std::to_string(ranks) +
                   ": unetrun takes no allocation by itself; write " + system.remedy +
                   ", or -n 1 if one is meant";
    }
    return {};
}

} // namespace unetrun
