// SPDX-License-Identifier: BSD-3-Clause

#include "front/allocation.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/environment.h"
#include "common/failure.h"
#include "front/host_ranges.h"

namespace unetrun {

namespace {

using Environment = std::vector<std::string>;

[[noreturn]] void refuse(const std::string &variable, const std::string &value)
{
    throw Failure(exit_usage, "the allocation is not understood: " + variable + "=" + value +
                                  "; say where to run with --hosts A,B:4");
}

// ---- Slurm: n[1-3,7] with 2(x3),1 tasks -----------------------------------------------------

std::uint32_t read_number(std::string_view &text)
{
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc())
        return 0;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

// "2(x3)" three times 2, "1" once; 0 times: it is neither.
std::pair<std::uint32_t, std::uint32_t> parse_repeated(std::string_view text)
{
    const std::uint32_t number = read_number(text);
    if (number == 0 || text.empty())
        return {number, number > 0 ? 1 : 0};
    if (!text.starts_with("(x"))
        return {0, 0};
    text.remove_prefix(2);
    const std::uint32_t times = read_number(text);
    return {number, text == ")" ? times : 0};
}

// The number of each of `hosts` in turn.
std::vector<std::uint32_t> parse_counts(const std::string &variable, const std::string &value,
                                        std::size_t hosts)
{
    std::vector<std::uint32_t> counts;
    for (const std::string &part : split_host_list(value)) {
        const auto [number, times] = parse_repeated(part);
        if (times == 0 || times > hosts - counts.size())
            refuse(variable, value);
        counts.insert(counts.end(), times, number);
    }
    if (counts.size() != hosts)
        refuse(variable, value);
    return counts;
}

// The number of tasks is the user's wish; that of processors is what there is.
std::string counts_variable(const Environment &environment)
{
    for (const char *name : {"SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"})
        if (!value_of(environment, name).empty())
            return name;
    return {};
}

std::vector<Host> slurm_hosts(const Environment &environment)
{
    const std::string list = value_of(environment, "SLURM_JOB_NODELIST");
    if (value_of(environment, "SLURM_JOB_ID").empty() || list.empty())
        return {};
    std::vector<Host> hosts = parse_hosts(list, "SLURM_JOB_NODELIST");
    const std::string variable = counts_variable(environment);
    if (variable.empty())
        return hosts;
    const auto counts = parse_counts(variable, value_of(environment, variable), hosts.size());
    for (std::size_t i = 0; i < hosts.size(); i++)
        hosts[i].slots = counts[i];
    return hosts;
}

// ---- a file that names them -------------------------------------------------------------------

// A line for each rank.
std::vector<Host> hosts_of_lines(const Environment &environment, const char *variable)
{
    const std::string file = value_of(environment, variable);
    return std::filesystem::exists(file) ? read_host_file(file, variable) : std::vector<Host>();
}

std::vector<Host> pbs_hosts(const Environment &environment)
{
    return hosts_of_lines(environment, "PBS_NODEFILE");
}

std::vector<Host> lsf_hosts(const Environment &environment)
{
    return hosts_of_lines(environment, "LSB_DJOB_HOSTFILE");
}

// "host 4 queue@host UNDEFINED"
std::vector<Host> grid_engine_hosts(const Environment &environment)
{
    std::ifstream file(value_of(environment, "PE_HOSTFILE"));
    std::vector<Host> hosts;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name, slots;
        if (words >> name >> slots)
            hosts.push_back(parse_hosts(name + ":" + slots, "PE_HOSTFILE").front());
    }
    return merged(hosts);
}

const struct {
    const char *name;
    std::vector<Host> (*hosts)(const Environment &environment);
} batch_systems[] = {
    {"Slurm", slurm_hosts},
    {"PBS", pbs_hosts},
    {"LSF", lsf_hosts},
    {"Grid Engine", grid_engine_hosts},
};

// Of Slurm's steps, those of srun have small numbers; the others are a job's script and its shell.
bool is_one_of_several(const Environment &environment)
{
    constexpr unsigned long special_steps = 0xfffffff0;
    const std::string step = value_of(environment, "SLURM_STEP_ID");
    return (!step.empty() && std::strtoul(step.c_str(), nullptr, 10) < special_steps) ||
           has_variable(environment, "PMIX_RANK") || has_variable(environment, "PMI_RANK");
}

} // namespace

Allocation allocation_of(const std::vector<std::string> &environment)
{
    if (is_one_of_several(environment))
        return {};
    for (const auto &system : batch_systems) {
        std::vector<Host> hosts = system.hosts(environment);
        if (!hosts.empty())
            return {system.name, std::move(hosts)};
    }
    return {};
}

} // namespace unetrun
