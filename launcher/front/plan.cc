// SPDX-License-Identifier: BSD-3-Clause

#include "front/plan.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/random.h>

#include "common/environment.h"
#include "common/job_directory.h"
#include "common/process.h"
#include "front/command_line.h"
#include "front/network_choice.h"
#include "front/placement.h"
#include "front/settings.h"

namespace unetrun {

namespace {

std::string random_hex(std::size_t bytes)
{
    std::string text;
    std::vector<unsigned char> random(bytes);
    if (getrandom(random.data(), bytes, 0) != static_cast<ssize_t>(bytes))
        throw system_failure("cannot get random bytes for the job's key");
    for (const unsigned char byte : random)
        for (const int digit : {byte >> 4, byte & 15})
            text += "0123456789abcdef"[digit];
    return text;
}

std::string own_path()
{
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error)
        throw Failure(exit_trouble, "/proc is missing; mount it: mount -t proc proc /proc");
    return path;
}

// ---- the tree of nodes ------------------------------------------------------------------

// The slots of the nodes.  `cores` are the numbers of their cores.
std::vector<std::uint32_t> node_slots(const Options &options,
                                      const std::vector<std::uint32_t> &cores)
{
    if (options.hosts.empty())
        return std::vector<std::uint32_t>(options.nodes, 1);
    return slots_of(options.hosts, options.ppn, options.map_by, cores);
}

// The number of hosts that get a rank, or that may get one if this depends on their cores.
std::size_t hosts_needed(const Options &options)
{
    if (options.map_by == MapBy::core)
        return std::min<std::size_t>(options.hosts.size(),
                                     options.ranks.value_or(options.hosts.size()));
    const std::vector<std::uint32_t> slots = node_slots(options, {});
    const auto node_of = place(ranks_of(options, slots), slots, options.map_by);
    return *std::max_element(node_of.begin(), node_of.end()) + 1;
}

Options with_needed_hosts(Options options)
{
    if (!options.hosts.empty())
        options.hosts.resize(hosts_needed(options));
    return options;
}

// The names of the nodes that this machine acts as (--nodes).
std::vector<std::string> local_nodes(std::uint32_t count)
{
    if (count == 1)
        return {host_name()};
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < count; i++)
        names.push_back(host_name() + "-" + std::to_string(i));
    return names;
}

std::uint32_t node_of_this_machine(const std::vector<Host> &hosts)
{
    for (std::uint32_t i = 0; i < hosts.size(); i++)
        if (is_here(hosts[i].name, host_name()))
            return i;
    return every_node;
}

// Has the daemons look for networks, unless the user has named one.
void ask_for_networks(Tree &tree, const std::vector<std::string> &environment)
{
    tree.backends = backends_to_try(environment);
    std::copy_if(environment.begin(), environment.end(), std::back_inserter(tree.places),
                 [](const std::string &variable) { return variable.starts_with("UNET_"); });
}

Tree make_tree(const Options &options)
{
    Tree tree;
    if (options.hosts.empty()) {
        tree.hosts = local_nodes(options.nodes);
        return tree;
    }
    for (const Host &host : options.hosts)
        tree.hosts.push_back(host.name);
    if (!options.rsh_everywhere)
        tree.here = node_of_this_machine(options.hosts);
    if (options.hosts.size() == 1 && tree.here == 0)
        return tree;
    tree.fanout = options.fanout;
    tree.rsh = options.rsh;
    tree.unetrun = own_path();
    if (options.hosts.size() > 1)
        ask_for_networks(tree, with_variables(own_environment(), options.variables));
    return tree;
}

// ---- the job ----------------------------------------------------------------------------

// The environment that all ranks have in common.
std::vector<std::string> job_environment(const Options &options)
{
    std::vector<std::string> environment = with_variables(own_environment(), options.variables);
    for (const std::string &variable : options.defaults)
        if (value_of(environment, name_of(variable)).empty())
            environment.push_back(variable);
    check_settings(environment);
    return environment;
}

// The bytes of the program's file, which --stage sends to the hosts.
std::string program_bytes(const Job &job, const std::string &name)
{
    const bool is_path = name.find('/') != std::string::npos;
    const std::string file =
        find_program(is_path ? (std::filesystem::path(job.directory) / name).string() : name,
                     value_of(job.environment, "PATH"));
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream bytes;
    if (!stream || !(bytes << stream.rdbuf()))
        throw Failure(exit_cannot_run,
                      "cannot read " + file + " to send it to the hosts (--stage)");
    return bytes.str();
}

Program make_program(const ProgramOptions &options, const Job &job, bool stage)
{
    Program program;
    program.ranks = options.ranks.value_or(0); // 0: place_ranks will know
    program.arguments = options.command;
    with_variables(job.environment, options.variables); // those without a value are set
    std::copy_if(options.variables.begin(), options.variables.end(),
                 std::back_inserter(program.environment),
                 [](const std::string &v) { return v.find('=') != std::string::npos; });
    if (stage)
        program.bytes = program_bytes(job, options.command.front());
    return program;
}

Job make_job(const Options &options)
{
    Job job;
    job.id = make_job_id(getpid(), random_hex(8), random_hex(16));
    job.key = random_hex(16);
    job.directory = absolute_path(options.directory.empty() ? "." : options.directory);
    job.environment = job_environment(options);
    if (options.hosts.empty() && !options.network.empty())
        check_network_is_here(options.network);
    job.wrapper = options.wrapper;
    job.wrapped = options.wrapped;
    job.sharing = options.nodes;
    job.bind_to = options.bind_to;
    job.cores_per_rank = options.cores_per_rank;
    job.report_bindings = options.report_bindings;
    job.backtrace = options.backtrace;
    if (job.sharing > 1 && job.bind_to == BindTo::automatic)
        job.bind_to = BindTo::none; // no node has the cores of this machine to itself
    job.verbose = options.verbose;
    for (const ProgramOptions &program : options.programs)
        job.programs.push_back(make_program(program, job, options.stage));
    return job;
}

} // namespace

Plan make_plan(const Options &options)
{
    Plan plan{with_needed_hosts(options), {}, {}};
    plan.tree = make_tree(plan.options);
    plan.job = make_job(plan.options);
    return plan;
}

void place_ranks(Plan &plan, const std::vector<std::uint32_t> &cores)
{
    const std::vector<std::uint32_t> slots = node_slots(plan.options, cores);
    Job &job = plan.job;
    job.node_of = place(ranks_of(plan.options, slots), slots, plan.options.map_by);
    if (job.programs.size() == 1)
        job.programs.front().ranks = job.ranks();
    job.hosts = plan.tree.hosts;
    job.hosts.resize(*std::max_element(job.node_of.begin(), job.node_of.end()) + 1);
}

} // namespace unetrun
