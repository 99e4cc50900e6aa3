// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "front/allocation.h"

using namespace unetrun;
using Catch::Matchers::Contains;
using Strings = std::vector<std::string>;

namespace {

// What the user of `arguments` is told in such an environment.
std::string told(const Strings &environment, const Strings &arguments = {"p"})
{
    return untaken_allocation(parse_options(arguments), environment);
}

struct TemporaryFile {
    explicit TemporaryFile(const std::string &text)
    {
        char name[] = "/tmp/unetrun-allocation-XXXXXX";
        close(mkstemp(name));
        path = name;
        std::ofstream(path) << text;
    }
    ~TemporaryFile() { std::filesystem::remove(path); }
    std::string path;
};

} // namespace

TEST_CASE("an allocation that is not taken is told with what to write")
{
    const TemporaryFile nodes("a\na\nb\n");
    CHECK_THAT(told({"SLURM_JOB_ID=7", "SLURM_NTASKS=4", "SLURM_NNODES=2"}),
               Contains("1 rank starts, on this machine") && Contains("Slurm") &&
                   Contains("room for 4") && Contains("$(scontrol show hostnames | paste -sd,)") &&
                   Contains("srun --mpi=pmix"));
    CHECK_THAT(told({"SLURM_JOB_ID=7", "SLURM_JOB_NUM_NODES=2"}), Contains("room for 2"));
    CHECK_THAT(told({"PBS_NODEFILE=" + nodes.path}),
               Contains("PBS has given the job room for 3") &&
                   Contains("unetrun --hostfile \"$PBS_NODEFILE\""));
    CHECK_THAT(told({"LSB_JOBID=7", "LSB_DJOB_NUMPROC=3", "LSB_DJOB_HOSTFILE=" + nodes.path}),
               Contains("LSF") && Contains("--hostfile \"$LSB_DJOB_HOSTFILE\""));
    CHECK_THAT(told({"PE_HOSTFILE=/spool/hosts", "NSLOTS=8"}),
               Contains("Grid Engine") && Contains("room for 8"));
}

TEST_CASE("nothing is said where one rank is all there is room for, or places were named")
{
    const Strings slurm{"SLURM_JOB_ID=7", "SLURM_NTASKS=4", "SLURM_NNODES=2"};
    CHECK(told({}) == "");
    CHECK(told({"SLURM_JOB_ID=7", "SLURM_NTASKS=1", "SLURM_NNODES=1"}) == "");
    CHECK(told({"SLURM_NTASKS=4"}) == ""); // without a job
    CHECK(told({"PBS_NODEFILE=/no/such/file"}) == "");
    CHECK(told({"PE_HOSTFILE=/spool/hosts", "NSLOTS=many"}) == "");
    CHECK(told(slurm, {"-n", "1", "p"}) == "");
    CHECK(told(slurm, {"--hosts", "a,b", "p"}) == "");
}
