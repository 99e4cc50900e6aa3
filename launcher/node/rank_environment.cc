// SPDX-License-Identifier: BSD-3-Clause

#include "node/rank_environment.h"

#include "common/environment.h"
#include "common/networks.h"
#include "node/binding.h"
#include "node/mpi.h"

namespace unetrun {

namespace {

// MCA parameters are the user's settings for the PMIx library.
bool places_in_other_job(const std::string &variable)
{
    return variable.starts_with("PMIX_") && !variable.starts_with("PMIX_MCA_");
}

std::vector<std::string> users_variables(const NodeJob &job)
{
    std::vector<std::string> variables;
    for (const std::string &variable : job.job.environment)
        if (!places_in_other_job(variable))
            variables.push_back(variable);
    return variables;
}

std::vector<std::string> told_by_unetrun(const NodeJob &job, std::uint32_t cores)
{
    std::vector<std::string> variables{
        "SPLITC_JOB_KEY=" + job.job.key,
        "SPLITC_RANKS_PER_CORE=" + std::to_string(ranks_per_core(job.ranks_on_machine(), cores))};
    if (job.job.backtrace)
        variables.emplace_back("SPLITC_BACKTRACE=1");
    if (job.job.verbose)
        variables.emplace_back("SPLITC_VERBOSE=1");
    if (job.is_whole_machine())
        variables.emplace_back(open_mpi_variable);
    if (!job.job.network.empty())
        variables.push_back("SPLITC_NETWORK=" + job.job.network);
    return variables;
}

// Where endpoints are, unless the user has said it.
void add_interface(const NodeJob &job, std::vector<std::string> &environment)
{
    set_variable(environment,
                 "UNET_INTERFACE=" +
                     (job.tree.rsh.empty() && value_of(environment, "UNET_INTERFACE").empty()
                          ? "127.0.0.1"
                          : interface_of(environment)));
}

} // namespace

std::vector<std::string> rank_environment(const NodeJob &job, const std::vector<std::string> &own,
                                          std::uint32_t cores)
{
    std::vector<std::string> environment = users_variables(job);
    for (const std::string &variable : own)
        set_variable(environment, variable);
    for (const std::string &variable : told_by_unetrun(job, cores))
        set_variable(environment, variable);
    add_interface(job, environment);
    return environment;
}

} // namespace unetrun
