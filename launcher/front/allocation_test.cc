// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <fstream>

#include "common/failure.h"
#include "common/test_scratch.h"
#include "front/allocation.h"
#include "front/command_line.h"

using namespace unetrun;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using Strings = std::vector<std::string>;

namespace {

// "a:2 b", as the environment says.
std::string allocated(const Strings &environment)
{
    std::string text;
    for (const Host &host : allocation_of(environment).hosts)
        text += (text.empty() ? "" : " ") + host.name + (host.slots ? ":" : "") +
                (host.slots ? std::to_string(*host.slots) : "") +
                (host.times > 1 ? "*" + std::to_string(host.times) : "");
    return text;
}

std::string refusal(const Strings &environment)
{
    try {
        allocation_of(environment);
    } catch (const Failure &failure) {
        CHECK(failure.code == exit_usage);
        return failure.what();
    }
    return "";
}

Strings slurm(const std::string &hosts, const std::string &tasks)
{
    return {"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=" + hosts, "SLURM_TASKS_PER_NODE=" + tasks};
}

std::string file_with(const Scratch &scratch, const std::string &text)
{
    const std::string path = scratch.path / "hosts";
    std::ofstream(path) << text;
    return path;
}

} // namespace

TEST_CASE("allocation: Slurm's hosts, each with its tasks")
{
    CHECK(allocated(slurm("a", "4")) == "a:4");
    CHECK(allocated(slurm("n[01-03,7],m9", "2(x3),1,8")) == "n01:2 n02:2 n03:2 n7:1 m9:8");
    CHECK(allocated(slurm("r[1-2]n[1-2]", "1(x4)")) == "r1n1:1 r1n2:1 r2n1:1 r2n2:1");
    CHECK(allocated({"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=a,b"}) == "a b");
    CHECK(allocated({"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=a,b", "SLURM_JOB_CPUS_PER_NODE=16,8"}) ==
          "a:16 b:8");
    CHECK(allocation_of(slurm("a", "4")).system == "Slurm");
}

TEST_CASE("allocation: PBS and LSF name a host for each rank, Grid Engine its slots")
{
    const Scratch scratch;
    const std::string file = file_with(scratch, "a\na\nb\n");

    CHECK(allocated({"PBS_NODEFILE=" + file}) == "a*2 b");
    CHECK(allocated({"LSB_JOBID=7", "LSB_DJOB_HOSTFILE=" + file}) == "a*2 b");
    CHECK(allocated({"PE_HOSTFILE=" + file_with(scratch, "a 4 all.q@a UNDEFINED\nb 2 all.q@b x\n"),
                     "NSLOTS=6"}) == "a:4 b:2");
}

TEST_CASE("allocation: none where no job is, or its files are not")
{
    CHECK(allocated({}) == "");
    CHECK(allocated({"SLURM_JOB_NODELIST=a,b"}) == "");
    CHECK(allocated({"SLURM_JOB_ID=7"}) == "");
    CHECK(allocated({"PBS_NODEFILE=/no/such/file"}) == "");
    CHECK(allocated({"LSB_DJOB_HOSTFILE=/no/such/file"}) == "");
    CHECK(allocated({"PE_HOSTFILE=/no/such/file"}) == "");
}

TEST_CASE("allocation: none for one of several processes, but for a job's script and its shell")
{
    const auto with = [](const std::string &variable) {
        Strings environment = slurm("a", "4");
        environment.push_back(variable);
        return allocated(environment);
    };
    CHECK(with("SLURM_STEP_ID=0") == "");
    CHECK(with("PMIX_RANK=0") == "");
    CHECK(with("PMI_RANK=1") == "");
    CHECK(with("SLURM_STEP_ID=4294967291") == "a:4"); // the script
    CHECK(with("SLURM_STEP_ID=4294967290") == "a:4"); // the shell of salloc
}

TEST_CASE("allocation: what makes no sense is refused by the variable's name")
{
    const std::string tasks = GENERATE("", "0", "2(x", "2(x3", "2(x3)", "2x2", "x", "1,1,1", "1",
                                       "-1(x2)", "2(x2)3", "99999999999(x2)", "2(x4294967295)");
    if (!tasks.empty())
        CHECK_THAT(refusal(slurm("a,b", tasks)),
                   Contains("SLURM_TASKS_PER_NODE=" + tasks) && Contains("--hosts"));
    CHECK_THAT(refusal(slurm("n[1-", "1")), Contains("SLURM_JOB_NODELIST"));
    CHECK_THAT(refusal(slurm("-v", "1")), Contains("SLURM_JOB_NODELIST"));
}

TEST_CASE("allocation: taken unless hosts or --nodes say otherwise")
{
    const Strings environment = slurm("a,b", "2(x2)");
    const auto hosts = [&](const Strings &arguments) {
        return parse_options(arguments, environment).hosts.size();
    };

    CHECK(hosts({"p"}) == 2);
    CHECK(hosts({"-n", "3", "p"}) == 2);
    CHECK(hosts({"--ppn", "1", "p"}) == 2);
    CHECK(hosts({"--hosts", "c", "p"}) == 1);
    CHECK(hosts({"-n", "2", "--nodes", "2", "p"}) == 0);
    CHECK(parse_options({"p"}, environment).allocation == "Slurm");
    CHECK(parse_options({"--hosts", "c", "p"}, environment).allocation == "");
    CHECK(ranks_of(parse_options({"p"}, environment), {2, 2}) == 4);
}
