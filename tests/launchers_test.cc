// SPDX-License-Identifier: BSD-3-Clause
//
// Programs start under other launchers as well: Open MPI's mpirun and Slurm's srun.
#include "quoted.h"
#include "splitc_run.h"
#include "testbed/hosts.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <unistd.h>

using Catch::Matchers::Contains;
using Words = std::vector<std::string>;

namespace {

const std::string ring = BUILD_FOLDER "/examples/ring";
const std::string hello = BUILD_FOLDER "/examples/hello";
const std::string late = BUILD_FOLDER "/tests/late";

bool has(const std::string &program)
{
    return std::system(("command -v " + program + " >/dev/null").c_str()) == 0;
}

// Whether a case can go on; if not, a word why.
bool ready(const std::string &obstacle)
{
    if (!obstacle.empty())
        WARN("not run: " + obstacle);
    return obstacle.empty();
}

std::string mpirun_obstacle()
{
    return has("mpirun.openmpi") ? "" : "mpirun is missing (Debian: openmpi-bin)";
}

std::string slurm_obstacle()
{
    for (const char *program : {"srun", "slurmctld", "slurmd", "munged"})
        if (!has(program))
            return std::string(program) + " is missing (Debian: slurm-client, slurmctld, slurmd, "
                                          "munge)";
    return Hosts::obstacle();
}

Command mpirun(const Words &words)
{
    Command command{{"mpirun.openmpi", "--oversubscribe"}};
    if (geteuid() == 0)
        command.arguments.push_back("--allow-run-as-root");
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    return command;
}

void check_ring(const Command &command, int ranks)
{
    const Outcome outcome = run(command);
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, Contains("the token counted " + std::to_string(ranks) + " processors"));
}

void check_cards(const Command &command)
{
    const Outcome outcome = run(command);
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, Contains("rank 3 of 4, universe 4, local rank 1 of 2, node 1 of 2"));
    for (const char *rank : {"0", "1", "2", "3"})
        CHECK_THAT(outcome.out, Contains(std::string("rank ") + rank + " got 4 cards"));
}

// Nobody leaves before all have come to the last fence.
void check_end(const Command &command, int ranks)
{
    const Outcome outcome = run(command);
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    std::map<int, long> came, left; // by rank; of fences the last counts
    std::istringstream text(outcome.err);
    for (std::string line; std::getline(text, line);) { // some are the launcher's
        std::istringstream words(line);
        std::string what;
        long when;
        if (int rank; words >> rank >> what >> when)
            (what == "comes" ? came : left)[rank] = when;
    }
    REQUIRE(came.size() == static_cast<std::size_t>(ranks));
    REQUIRE(left.size() == came.size());
    for (const auto &[rank, time] : left)
        for (const auto &[other, arrival] : came) {
            INFO("rank " << rank << " left, and rank " << other << " came");
            CHECK(time >= arrival);
        }
}

// What Open MPI's headers would say, which need not be there.
const char *const kOpenMpi = R"(
extern struct communicator ompi_mpi_comm_world;
int MPI_Init(int *argc, char ***argv);
int MPI_Comm_rank(struct communicator *in, int *rank);
int MPI_Comm_size(struct communicator *of, int *size);
int MPI_Barrier(struct communicator *of);
int MPI_Finalize(void);
#include <stdio.h>
)";

const char *const kMpiProgram = R"(
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(&ompi_mpi_comm_world, &rank);
    MPI_Comm_size(&ompi_mpi_comm_world, &size);
    MPI_Barrier(&ompi_mpi_comm_world);
    printf("rank %d of %d\n", rank, size);
    MPI_Finalize();
    return 0;
}
)";

const char *const kMixedProgram = R"(
#include <split-c/split-c.h>
static int part[PROCS]::;
int splitc_main(int argc, char **argv)
{
    int rank, size, next;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(&ompi_mpi_comm_world, &rank);
    MPI_Comm_size(&ompi_mpi_comm_world, &size);
    part[MYPROC] = rank;
    barrier();
    next = part[(MYPROC + 1) % PROCS];
    barrier();
    MPI_Barrier(&ompi_mpi_comm_world);
    printf("rank %d of %d: %d of %d, next %d\n", rank, size, MYPROC, PROCS, next);
    MPI_Finalize();
    return 0;
}
)";

std::string open_mpi_obstacle()
{
    return run({{"sh", "-c", "ldconfig -p | grep -q libmpi.so.40"}}).code == 0
               ? ""
               : "Open MPI's libmpi.so.40 is missing (Debian: openmpi-bin)";
}

void compile(const TemporaryFolder &folder, const std::string &with, const std::string &source)
{
    write_file(folder / "prog.sc", kOpenMpi + source);
    write_file(folder / "prog.c", kOpenMpi + source);
    Command command{
        {with, "-w", with == compiler() ? "prog.sc" : "prog.c", "-o", "prog", "-l:libmpi.so.40"}};
    command.folder = folder.path;
    const Outcome compiled = run(command);
    INFO(compiled.err);
    REQUIRE(compiled.code == 0);
}

// Every rank is the same one for MPI and for Split-C, and reads from its neighbour.
void check_mixed(const Command &command, int ranks)
{
    const Outcome outcome = run(command);
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    for (int rank = 0; rank < ranks; rank++) {
        const std::string one = std::to_string(rank) + " of " + std::to_string(ranks);
        CHECK_THAT(outcome.out, Contains("rank " + one + ": " + one + ", next " +
                                         std::to_string((rank + 1) % ranks) + "\n"));
    }
}

// Slurm on two hosts.
class Slurm {
public:
    Slurm()
    {
        const Outcome up = run({{PROJECT_SOURCE "/tests/testbed/slurm.sh", folder_.path,
                                 hosts_.ssh_config(), "host1", "host2"}});
        INFO(up.err);
        REQUIRE(up.code == 0);
    }

    Command srun(const Words &words) const
    {
        Command command = with_slurm({"srun", "--mpi=pmix"});
        command.arguments.insert(command.arguments.end(), words.begin(), words.end());
        return command;
    }

    std::string rsh() const { return hosts_.rsh(); }

    Command with_slurm(const Words &words) const
    {
        Command command{words};
        command.environment = {"SLURM_CONF=" + folder_ / "slurm.conf"};
        return command;
    }

private:
    TemporaryFolder folder_;
    Hosts hosts_{2};
};

} // namespace

TEST_CASE("mpirun starts Split-C programs on this machine")
{
    if (!ready(mpirun_obstacle()))
        return;
    check_ring(mpirun({"-np", "4", ring}), 4);
    CHECK(run(mpirun({"-np", "2", hello})).code == 0);
}

TEST_CASE("mpirun starts programs that use Open MPI beside Split-C")
{
    if (!ready(mpirun_obstacle()) || !ready(open_mpi_obstacle()))
        return;
    const TemporaryFolder folder;
    compile(folder, compiler(), kMixedProgram);
    check_mixed(mpirun({"-np", "3", folder / "prog"}), 3);
}

TEST_CASE("mpirun starts programs on two hosts by ssh")
{
    if (!ready(mpirun_obstacle()) || !ready(Hosts::obstacle()))
        return;
    const Hosts hosts(2);
    const auto on_both = [&](const std::string &program) {
        return mpirun({"--host", "host1:2,host2:2", "--mca", "plm_rsh_args",
                       "-F " + hosts.ssh_config(), "-np", "4", program});
    };
    check_cards(on_both(PMIX_CLIENT));
    check_ring(on_both(ring), 4);
    check_end(on_both(late), 4);
}

TEST_CASE("srun starts programs on one host and on two")
{
    if (!ready(slurm_obstacle()))
        return;
    const Slurm slurm;
    check_ring(slurm.srun({"-N1", "-n2", ring}), 2);
    check_cards(slurm.srun({"-N2", "-n4", PMIX_CLIENT}));
    check_ring(slurm.srun({"-N2", "-n4", ring}), 4);
    check_end(slurm.srun({"-N2", "-n4", late}), 4);
    if (!ready(open_mpi_obstacle()))
        return;
    const TemporaryFolder folder;
    compile(folder, compiler(), kMixedProgram);
    check_mixed(slurm.srun({"-N2", "-n4", folder / "prog"}), 4);
}

TEST_CASE("srun without PMIx is told of once, and a batch script's program is alone")
{
    if (!ready(slurm_obstacle()))
        return;
    const Slurm slurm;
    const Outcome outcome = run(slurm.with_slurm({"srun", "--mpi=none", "-N2", "-n4", hello}));
    const std::string told = "splitc: rank 0: the launcher has started 4 processes "
                             "(SLURM_STEP_NUM_TASKS), but does not speak PMIx";
    INFO(outcome.err);
    CHECK(outcome.code == 1);
    CHECK(outcome.out.empty());
    const std::size_t at = outcome.err.find(told);
    REQUIRE(at != std::string::npos);
    CHECK(outcome.err.find("splitc: ", at + 1) == std::string::npos);

    const TemporaryFolder folder;
    const Outcome batch = run(slurm.with_slurm(
        {"sbatch", "--wait", "-N2", "-n4", "-o", folder / "out", "--wrap", quoted(hello)}));
    INFO(batch.err << read_file(folder / "out"));
    CHECK(batch.code == 0);
    CHECK_THAT(read_file(folder / "out"), Contains("processor 0 of 1"));
}

TEST_CASE("unetrun takes Slurm's allocation, and a process of srun's is alone")
{
    if (!ready(slurm_obstacle()))
        return;
    const Slurm slurm;
    const Words unetrun = {BUILD_FOLDER "/bin/unetrun", "--rsh", slurm.rsh()};
    const auto in_job = [&](Words words, const Words &options) {
        words.insert(words.end(), unetrun.begin(), unetrun.end());
        words.insert(words.end(), options.begin(), options.end());
        return run(slurm.with_slurm(words));
    };

    const Outcome all = in_job({"salloc", "-Q", "-N2", "-n4"}, {ring});
    INFO(all.err);
    CHECK(all.code == 0);
    CHECK_THAT(all.out, Contains("the token counted 4 processors"));
    const Outcome hosts = in_job({"salloc", "-Q", "-N2", "-n3"}, {"hostname"});
    INFO(hosts.err);
    CHECK(hosts.code == 0);
    CHECK_THAT(hosts.out, Contains("host1\n") && Contains("host2\n"));
    CHECK(std::count(hosts.out.begin(), hosts.out.end(), '\n') == 3);
    const Outcome alone =
        in_job({"srun", "--mpi=none", "-N2", "-n2"}, {"--tag-output", "echo", "hi"});
    INFO(alone.err);
    CHECK(alone.code == 0);
    CHECK(alone.out == "[0] hi\n[0] hi\n");
}

TEST_CASE("unetrun starts programs of Open MPI, and those that are Split-C's as well")
{
    if (!ready(open_mpi_obstacle()))
        return;
    const TemporaryFolder folder;
    compile(folder, "cc", kMpiProgram);
    const Outcome mpi = run(ranks(3, folder / "prog", {}));
    INFO(mpi.err);
    CHECK(mpi.code == 0);
    for (const char *line : {"rank 0 of 3\n", "rank 1 of 3\n", "rank 2 of 3\n"})
        CHECK_THAT(mpi.out, Contains(line));

    compile(folder, compiler(), kMixedProgram);
    for (const char *windows : {"SPLITC_WINDOWS=0", "SPLITC_WINDOWS=1"}) {
        Command command = ranks(3, folder / "prog", {});
        command.environment = {windows};
        INFO(windows);
        check_mixed(command, 3);
    }
}

TEST_CASE("unetrun starts programs of Open MPI on two hosts")
{
    if (!ready(open_mpi_obstacle()) || !ready(Hosts::obstacle()))
        return;
    const TemporaryFolder folder;
    compile(folder, compiler(), kMixedProgram);
    const Hosts hosts(2);
    check_mixed(
        {{launcher(), "--rsh", hosts.rsh(), "--hosts", hosts.all(), "--ppn", "2", folder / "prog"}},
        4);
}
