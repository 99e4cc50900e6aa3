// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <algorithm>

#include "node/mpi.h"
#include "node/rank_environment.h"

using namespace unetrun;
using Strings = std::vector<std::string>;

namespace {

// Two ranks on this machine, or on one of two.
struct Setting {
    Job job;
    Tree tree;
    Program program;

    Setting()
    {
        job.key = "0123";
        job.node_of = {0, 0};
        job.hosts = tree.hosts = {"here"};
    }
    Strings environment(const Strings &own = {}) const
    {
        Strings all = rank_environment(NodeJob(job, tree), program, own, 1);
        std::sort(all.begin(), all.end());
        return all;
    }
};

} // namespace

TEST_CASE("rank environment: what a plain job's ranks are told")
{
    const Setting setting;
    CHECK(setting.environment() == Strings{open_mpi_variable, "SPLITC_JOB_KEY=0123",
                                           "SPLITC_RANKS_PER_CORE=2", "UNET_INTERFACE=127.0.0.1"});
}

TEST_CASE("rank environment: a network that was chosen, and -v, are told")
{
    Setting setting;
    setting.job.network = "udp";
    setting.job.verbose = true;
    CHECK(setting.environment() == Strings{open_mpi_variable, "SPLITC_JOB_KEY=0123",
                                           "SPLITC_NETWORK=udp", "SPLITC_RANKS_PER_CORE=2",
                                           "SPLITC_VERBOSE=1", "UNET_INTERFACE=127.0.0.1"});
}

TEST_CASE("rank environment: Open MPI looks for its peers where one machine acts as several")
{
    Setting setting;
    setting.job.sharing = 2;
    const Strings all = setting.environment();
    CHECK(std::count(all.begin(), all.end(), open_mpi_variable) == 0);
}

TEST_CASE("rank environment: the user's variables are there, but for another job's places")
{
    Setting setting;
    setting.job.environment = {
        "A=1", "PMIX_RANK=5", "PMIX_MCA_gds=hash", "SPLITC_JOB_KEY=stale", "UNET_INTERFACE=lo",
        "B=2"};
    CHECK(setting.environment({"B=3", "PMIX_RANK=0"}) ==
          Strings{"A=1", "B=3", open_mpi_variable, "PMIX_MCA_gds=hash", "PMIX_RANK=0",
                  "SPLITC_JOB_KEY=0123", "SPLITC_RANKS_PER_CORE=2", "UNET_INTERFACE=lo"});
}

TEST_CASE("rank environment: a program's variables come on top of the job's, and below unetrun's")
{
    Setting setting;
    setting.job.environment = {"A=1", "B=2"};
    setting.program.environment = {"B=3", "C=4", "SPLITC_JOB_KEY=guessed"};
    CHECK(setting.environment() == Strings{"A=1", "B=3", "C=4", open_mpi_variable,
                                           "SPLITC_JOB_KEY=0123", "SPLITC_RANKS_PER_CORE=2",
                                           "UNET_INTERFACE=127.0.0.1"});
}
