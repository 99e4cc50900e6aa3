// SPDX-License-Identifier: BSD-3-Clause

#include "node/rank_starter.h"

#include <algorithm>
#include <utility>

#include "common/environment.h"
#include "node/binding.h"
#include "node/rank_environment.h"

namespace unetrun {

namespace {

std::string find_in_path(const Job &job, const std::string &name)
{
    return find_program(name, value_of(job.environment, "PATH"));
}

// The user's program, or the copy of it that came with the job.
std::string program_file(Job &job, std::size_t index, const JobDirectory &directory)
{
    Program &program = job.programs[index];
    if (program.bytes.empty())
        return find_in_path(job, program.arguments.front());
    const std::string number = index == 0 ? "" : std::to_string(index);
    return directory.put("program" + number, std::exchange(program.bytes, {}));
}

// The files of the programs that the node's ranks run; of others it has none.
std::vector<std::string> program_files(NodeJob &job, const JobDirectory &directory)
{
    std::vector<std::string> files(job.job.programs.size());
    for (const std::uint32_t rank : job.ranks)
        if (std::string &file = files[job.job.program_of(rank)]; file.empty())
            file = program_file(job.job, job.job.program_of(rank), directory);
    return files;
}

std::string wrapper_file(const Job &job)
{
    if (job.wrapper.empty())
        return {};
    const std::string &name = job.wrapper.front();
    try {
        return find_in_path(job, name);
    } catch (const Failure &failure) {
        throw Failure(failure.code, std::string(failure.what()) + "; install " + name +
                                        ", or leave the option out that asks for it");
    }
}

// Nodes that are one machine share out its processors among all ranks of the job.
std::vector<cpu_set_t> processors_of(const NodeJob &job, const Topology &topology)
{
    const std::vector<cpu_set_t> sets =
        bind(job.ranks_on_machine(), topology.get(), job.job.bind_to, job.job.cores_per_rank);
    std::vector<cpu_set_t> processors;
    for (std::size_t i = 0; i < job.ranks.size() && !sets.empty(); i++)
        processors.push_back(sets[job.is_whole_machine() ? i : job.ranks[i]]);
    return processors;
}

} // namespace

RankStarter::RankStarter(NodeJob &job, const JobDirectory &directory, const Topology &topology,
                         const sigset_t &signals, rlim_t open_files)
    : job_(job), topology_(topology), signals_(signals), open_files_(open_files),
      programs_(program_files(job, directory)), wrapper_(wrapper_file(job.job)),
      processors_(processors_of(job, topology))
{
}

pid_t RankStarter::start(std::uint32_t rank, const std::vector<std::string> &own, int in, int out,
                         int err) const
{
    const Job &job = job_.job;
    const Program &program = job.programs[job.program_of(rank)];
    Spawn what;
    what.file = program_of(rank);
    what.arguments = program.arguments;
    if (is_wrapped(rank)) {
        what.file = wrapper_;
        what.arguments.front() = program_of(rank); // the wrapper does not search for it
        what.arguments.insert(what.arguments.begin(), job.wrapper.begin(), job.wrapper.end());
    }
    what.environment = rank_environment(job_, program, own, topology_.cores());
    what.in = in;
    what.out = out;
    what.err = err;
    what.signals = signals_;
    if (!processors_.empty())
        what.processors = processors_[job_.index_of(rank)];
    what.group = true;
    what.dies_with_parent = true;
    what.open_files = open_files_;
    return spawn(what);
}

const std::string &RankStarter::program_of(std::uint32_t rank) const
{
    return programs_[job_.job.program_of(rank)];
}

std::vector<std::string> RankStarter::programs() const
{
    std::vector<std::string> here;
    std::copy_if(programs_.begin(), programs_.end(), std::back_inserter(here),
                 [](const std::string &file) { return !file.empty(); });
    return here;
}

bool RankStarter::is_wrapped(std::uint32_t rank) const
{
    const auto &ranks = job_.job.wrapped;
    return !wrapper_.empty() &&
           (ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end());
}

std::string RankStarter::binding() const
{
    return binding_text(job_.ranks_on_machine(), topology_.get(), job_.job.bind_to,
                        job_.job.cores_per_rank);
}

std::string RankStarter::binding_of(std::uint32_t rank) const
{
    return "rank " + std::to_string(rank) + " on " + job_.host() + ": " +
           processors_text(processors_.empty() ? nullptr : &processors_[job_.index_of(rank)]);
}

// Of nodes that are one machine, only that of rank 0 speaks.
std::string RankStarter::binding_note() const
{
    const std::uint32_t ranks = job_.ranks_on_machine(), cores = topology_.cores();
    const std::uint32_t each = job_.job.cores_per_rank;
    const bool speaks = job_.is_whole_machine() || job_.ranks.front() == 0;
    if (job_.job.bind_to != BindTo::core || std::uint64_t{ranks} * each <= cores || !speaks)
        return {};
    return "--bind-to core" + (each == 1 ? "" : ":" + std::to_string(each)) + ": " +
           std::to_string(ranks) + " ranks share the " +
           (cores == 1 ? "only core" : std::to_string(cores) + " cores") +
           " that unetrun may use on " + job_.host() +
           "; start fewer, or allow it more (taskset, the batch system)";
}

} // namespace unetrun
