// SPDX-License-Identifier: BSD-3-Clause
//
// Starts runtime_check under unetrun, once per check and number of ranks.
#include "job.h"

#include <chrono>
#include <csignal>
#include <set>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

TEST_CASE("program: waiting works however many ranks share a core")
{
    passes(4, "mixed_collectives", "SPLITC_RANKS_PER_CORE=1");
    passes(2, "mixed_collectives", "SPLITC_RANKS_PER_CORE=8");
}

#ifndef __SANITIZE_ADDRESS__ // there are none then
TEST_CASE("windows: they cover static, heap, stack and spread objects")
{
    passes(2, "reach near");
    passes(5, "reach near");
    passes(2, "reach far", "SPLITC_WINDOWS=0");
}

TEST_CASE("windows: nobody else may open a rank's memory")
{
    passes(2, "memory_is_private", "umask 0;");
    passes(2, "memory_is_private", "umask 0; SPLITC_HUGE_PAGES=0");
}

namespace {

// Two ranks, of which the second is not to be trusted, reach each other by messages alone.
void no_windows(const std::string &environment, const char *why)
{
    const Ended ended = shell(environment + " SPLITC_VERBOSE=1 '" UNETRUN "' --timeout " JOB_SECONDS
                                            " -n 2 '" RUNTIME_LIAR "' reach far");

    INFO(ended.output);
    CHECK(ended.code == 0);
    CHECK_THAT(ended.output,
               Catch::Contains("splitc: rank 0: no windows, a peer's memory cannot be "
                               "mapped: " +
                               std::string(why)));
}

} // namespace

TEST_CASE("windows: none on what another process has where a rank's memory should be")
{
    no_windows("CHECK_LIE=nonce", "Stale file handle");
}

TEST_CASE("windows: none on another user's object")
{
    if (geteuid() != 0) {
        std::puts("\nnot run: giving a file to another user takes root");
        return;
    }
    no_windows("CHECK_LIE=owner", "Permission denied");
}

TEST_CASE("windows: none on memory with another layout")
{
    no_windows("CHECK_LIE=layout", "Protocol error");
}

TEST_CASE("programs: ranks of different ones are refused")
{
    const Ended ended = shell("'" UNETRUN "' --timeout " JOB_SECONDS " -n 1 '" RUNTIME_CHECK
                              "' reach : -n 1 '" RUNTIME_LIAR "' reach");

    INFO(ended.output);
    CHECK(ended.code == 1);
    CHECK_THAT(ended.output, Catch::Contains("splitc: rank 0: rank 1 runs another program than "
                                             "rank 0, or another build of it"));
}

TEST_CASE("windows: the heaps lie in huge pages where the system has any for us")
{
    passes(2, "huge_pages wanted");
    passes(2, "huge_pages unwanted", "SPLITC_HUGE_PAGES=0");
    ends(2, "identity", 1, "SPLITC_HUGE_PAGES is \"2\": it may be 1, or 0 to have",
         "SPLITC_HUGE_PAGES=2");
}

TEST_CASE("team: what is no team, or not any more, is told")
{
    ends(2, "team_null", 1, "team that is NULL: all_split gives NULL to processors whose colour");
    ends(2, "team_after_free", 1, "of a team that was freed");
    ends(2, "team_free_predefined", 1, "team_free of TEAM_ALL, which stays");
    ends(2, "team_wild", 1, ", which is no team; use what all_split");
    ends(2, "team_no_member", 1, "there is no member 2 of the team, only 0 to 1");
}

TEST_CASE("team: members that differ are told")
{
    ends(2, "team_calls_differ", 1, "collective calls differ: team_");
    for (int ranks : {2, 3})
        ends(ranks, "team_member_gone", 1,
             "team_barrier is collective, but rank 1 has ended without it\n");
}

TEST_CASE("arrays: members that differ are told")
{
    ends(2, "array_counts_differ", 1, "bytes where ");
    for (int ranks : {2, 4}) {
        ends(ranks, "array_blocks_differ", 1, "bytes where ");
        ends(ranks, "array_begun_by_some", 1, "either all members begin it or all wait for it");
    }
    ends(2, "array_own_block", 1, "this member has 2 elements, and its block in the list 1");
    ends(2, "array_calls_differ", 1, "collective calls differ: team_");
    for (int ranks : {2, 3}) {
        const std::string gone = "team_allgather is collective, but rank " +
                                 std::to_string(ranks - 1) + " has ended without it\n";
        ends(ranks, "array_member_gone", 1, gone);
        ends(ranks, "array_member_gone_unwaited", 1, gone);
    }
}

TEST_CASE("arrays: an operation and a barrier differ")
{
    for (int ranks : {2, 3}) {
        const Ended ended = run(ranks, "array_and_barrier");

        INFO(ended.output);
        CHECK(ended.code == 1);
        CHECK_THAT(ended.output, Catch::Contains("collective calls differ: ") &&
                                     Catch::Contains(" barrier on rank 1") &&
                                     Catch::Contains(" team_allgather on rank ") &&
                                     !Catch::Contains("deadlock"));
    }
}

TEST_CASE("arrays: arguments that make no sense are told")
{
    ends(2, "array_count_negative", 1, "team_allgather of -1 elements");
    ends(2, "array_no_root", 1, "there is no member 2 of the team, only 0 to 1");
    ends(2, "array_no_operator", 1, "there is no TEAM_XOR of elements of that type");
    ends(2, "array_operator_waits", 1, "waits or uses what other processors own");
}

TEST_CASE("handles: what is no handle is told")
{
    ends(2, "no_handle", 1, "sync_h of 0x123456789abc, which is no handle");
}

TEST_CASE("heap: freed space keeps its pages, up to a limit")
{
    passes(2, "freed_pages_are_kept");
    passes(2, "freed_pages_are_kept", "SPLITC_HUGE_PAGES=0");
    passes(2, "freed_pages_are_kept", "SPLITC_WINDOWS=0");
}

TEST_CASE("heap: what was never used of it is not in cores")
{
    passes(1, "cores_are_small");
    passes(2, "cores_are_small");
    passes(2, "cores_are_small", "SPLITC_WINDOWS=0");
}

TEST_CASE("heap: malloc keeps the pages of what was freed, with windows and without")
{
    passes(1, "malloc_keeps_pages");
    passes(2, "malloc_keeps_pages");
    passes(2, "malloc_keeps_pages", "SPLITC_WINDOWS=0");
    passes(1, "malloc_keeps_pages", "SPLITC_HUGE_PAGES=0");
    passes(1, "private_objects", "ulimit -v 100000000;");
    passes(1, "private_objects", "ulimit -d 100000000;");
}

TEST_CASE("windows: who has no privileges has huge pages by a user namespace")
{
    passes(2, "huge_pages wanted",
           "$([ $(id -u) -ne 0 ] || echo setpriv --bounding-set -sys_admin)");
}

// exec with capabilities forgets the signal that unetrun asks for, and closes the rank's memory.
TEST_CASE("windows: a program with capabilities by its file has them, and dies with its launcher")
{
    // of revision 2, effective, CAP_NET_RAW
    const unsigned char capability[20] = {1, 0, 0, 2, 0, 1U << 5U};
    char folder[] = "/tmp/splitc-capabilities-XXXXXX"; // which another user can enter
    REQUIRE(mkdtemp(folder) != nullptr);
    const std::string at = folder, program = at + "/check";

    if (shell("cp '" RUNTIME_CHECK "' " + program + " && cp '" UNETRUN "' " + at +
              "/unetrun && chmod -R a+rx " + at)
                .code != 0 ||
        setxattr(program.c_str(), "security.capability", capability, sizeof capability, 0) != 0)
        WARN("not run: giving a file capabilities takes root, and a file system that has them");
    else
        for (const char *check : {"reach near", "launcher_ends"}) {
            const Ended ended = shell(
                "cd " + at + " && setpriv --reuid 54321 --regid 54321 --clear-groups timeout 50 " +
                at + "/unetrun -n 2 " + program + " " + check);
            INFO(ended.output);
            CHECK(ended.code == 0);
        }
    shell("rm -r " + at);
}

TEST_CASE("windows: a kernel without what huge pages take")
{
    passes(3, "random_traffic", "CHECK_WITHOUT=" + std::to_string(SYS_fsopen));
}

TEST_CASE("windows: where they do not fit, messages do")
{
    passes(2, "reach far", "ulimit -v 12000000; SPLITC_HEAP=16M");
    passes(2, "reach far", "ulimit -f 1000000;");
    passes(2, "reach far", "ulimit -f 10000;");
    ends(2, "identity", 0, "no windows, ", "ulimit -v 12000000; SPLITC_VERBOSE=1 SPLITC_HEAP=16M");
    CHECK(
        run(2, "identity", "ulimit -v 12000000; SPLITC_VERBOSE=0 SPLITC_HEAP=16M").output.empty());
}

TEST_CASE("a limit of memory that leaves no room for the spread heap is told with what helps")
{
    ends(2, "identity", 1,
         "for the spread heap: Cannot allocate memory; ulimit -v is 4000000 KiB: raise it, or ask "
         "for less with unetrun --heap or SPLITC_HEAP\n",
         "ulimit -v 4000000; SPLITC_HEAP=8G");
}

TEST_CASE("where the limit of file sizes leaves no room for shared memory, a network does")
{
    passes(2, "reach far", "ulimit -f 1000;");
    passes(3, "random_traffic", "ulimit -f 1000;");
    ends(2, "identity", 0, "no messages by shm: File too large; by udp instead\n",
         "ulimit -f 1000; SPLITC_VERBOSE=1");
    ends(2, "identity", 1,
         "splitc: rank 0: backend \"shm\" cannot open an endpoint: File too large; raise the limit "
         "of file sizes (ulimit -f)",
         "ulimit -f 1000; SPLITC_BACKEND=shm");
    ends(1, "identity", 0, "cannot watch the ranks: memfd_create: File too large; raise the limit",
         "ulimit -f 1;");
}

TEST_CASE("windows: where their addresses are taken, messages do")
{
    for (const char *address : {"400100000000", "400400000000"}) { // the stack's, the spread heap's
        const std::string occupied = std::string("CHECK_OCCUPIED=") + address;

        passes(2, "reach far", occupied);
        passes(2, "random_traffic", occupied);
        ends(2, "identity", 0,
             "no windows, reserving addresses from 64 TiB on: File exists; messages do instead",
             "SPLITC_VERBOSE=1 " + occupied);
    }
}

TEST_CASE("error: where the spread heap should be, something is")
{
    ends(2, "identity", 1,
         "cannot reserve 16 MiB at 0x200000000000 for the spread heap: File exists",
         "SPLITC_HEAP=16M SPLITC_WINDOWS=0 CHECK_OCCUPIED=200000000000");
}

TEST_CASE("error: a kernel that lacks what we need")
{
    const std::string memfd_create = std::to_string(SYS_memfd_create);
    const std::string pidfd_open = std::to_string(SYS_pidfd_open);

    ends(2, "identity", 1,
         "backend \"shm\" cannot open an endpoint: Function not implemented; the kernel, or a "
         "sandbox, lacks memfd_create\n",
         "CHECK_WITHOUT=" + memfd_create);
    passes(1, "random_traffic", "CHECK_WITHOUT=" + memfd_create);
    passes(3, "random_traffic", "CHECK_WITHOUT=" + pidfd_open);
}

TEST_CASE("windows: malloc says what it has run out of")
{
    ends(2, "malloc_exhausted", 0, "malloc has no more of the 128 MiB", "SPLITC_HEAP=100M");
}
#endif

TEST_CASE("error: the system kills a rank for lack of memory")
{
    const std::string in_group =
        "root=/sys/fs/cgroup; limit=memory.max; "
        "[ -d $root/memory ] && root=$root/memory limit=memory.limit_in_bytes; "
        "group=$root/splitc-test-$$; "
        "{ mkdir $group && echo 256M > $group/$limit && echo $$ > $group/cgroup.procs; } "
        "2> /dev/null || { rmdir $group 2> /dev/null; exit 77; }; ";
    Ended ended = shell(in_group + "'" UNETRUN "' -n 2 --timeout 50 '" RUNTIME_CHECK
                                   "' memory_exhausted; code=$?; "
                                   "echo $$ > $root/cgroup.procs; rmdir $group; exit $code");

    if (ended.code == 77) {
        std::puts("\nnot run: to limit a job's memory takes root, and cgroups that one may make");
        return;
    }
    INFO(ended.output);
    CHECK(ended.code == 128 + SIGKILL);
    CHECK_THAT(ended.output, Catch::Contains("unetrun: rank 0 (pid ") &&
                                 Catch::Contains("was killed by signal 9 (Killed); meanwhile the "
                                                 "system has killed a process for lack of memory, "
                                                 "in cgroup /") &&
                                 Catch::Contains(", whose limit is 262144 KiB: run fewer ranks"));
}

#ifndef __SANITIZE_ADDRESS__ // whose shadow takes more than any limit here
TEST_CASE("error: limits that leave a rank no memory or no thread to start with")
{
    ends(2, "identity", 1,
         "cannot start: there is no memory: Cannot allocate memory; raise the limits",
         "ulimit -d 30000;");
    ends(2, "identity", 1, "cannot start: there is no thread to be had: Resource temporarily unava",
         "ulimit -d 50000;");
}
#endif

TEST_CASE("program: without a launcher it is a job of one rank")
{
    for (const char *check : {"identity", "names", "random_traffic", "store_sizes"}) {
        Ended ended =
            shell("env -u PMIX_NAMESPACE timeout 50 '" RUNTIME_CHECK "' " + std::string(check));

        INFO(check << ": " << ended.output);
        CHECK(ended.code == 0);
    }
}

TEST_CASE("program: the library takes no names but its own")
{
    Ended ended = shell("nm -g --defined-only '" RUNTIME_LIBRARY "'");
    unsigned symbols = 0;

    REQUIRE(ended.code == 0);
    for (const std::string &line : lines_of(ended.output)) {
        std::string name = line.substr(line.rfind(' ') + 1);

        if (line.find(" T ") == std::string::npos && line.find(" D ") == std::string::npos &&
            line.find(" B ") == std::string::npos)
            continue;
        if (name.starts_with("__odr_asan.")) // a sanitizer's shadow of a name
            continue;
        symbols++;
        INFO(line);
        CHECK((name == "main" || name.rfind("splitc_", 0) == 0));
    }
    CHECK(symbols > 50);
}

TEST_CASE("program: lines come out whole")
{
    Ended ended = run(4, "whole_lines");
    std::vector<std::string> lines = lines_of(ended.output);

    CHECK(ended.code == 0);
    CHECK(lines.size() == 4 * 200);
    for (const std::string &line : lines) {
        REQUIRE(line.size() > 2);
        std::string expected = line.substr(0, 2);

        for (int i = 0; i < 20; i++)
            expected += "-" + std::to_string(i);
        REQUIRE(line == expected + ">");
    }
}

TEST_CASE("program: ranks that have returned still serve the others")
{
    Ended ended = run(4, "leaving_early");

    CHECK(ended.code == 0);
    CHECK(ended.output == "served to the end\n");
}

TEST_CASE("program: exit from anywhere runs the exit handlers")
{
    Ended ended = run(3, "exits_well");
    std::vector<std::string> lines = lines_of(ended.output);

    CHECK(ended.code == 0);
    CHECK(std::set<std::string>(lines.begin(), lines.end()) ==
          std::set<std::string>{"exit handler of rank 0", "exit handler of rank 1",
                                "exit handler of rank 2"});
}

namespace {

// What SPLITC_STATS told of a rank, or of "total", by column.
std::vector<double> statistics(const std::string &output, const std::string &rank)
{
    for (const std::string &line : lines_of(output)) {
        std::istringstream words(line);
        std::string who;
        std::vector<double> numbers;

        if (!(words >> who >> who) || who != rank)
            continue;
        for (double number; words >> number;)
            numbers.push_back(number);
        return numbers;
    }
    FAIL("no statistics of " << rank << " in: " << output);
    return {};
}

} // namespace

TEST_CASE("program: SPLITC_STATS tells what was sent and waited for")
{
    enum { sent, received, stalls, bulk, stored, collectives, access, sync, stores, columns = 14 };

    for (const char *windows : {"SPLITC_WINDOWS=0", "SPLITC_WINDOWS=1"}) {
        Ended ended = run(2, "late_store", std::string("SPLITC_STATS=1 ") + windows);
        INFO(windows << ": " << ended.output);
        std::vector<double> rank0 = statistics(ended.output, "0");
        std::vector<double> rank1 = statistics(ended.output, "1");
        std::vector<double> total = statistics(ended.output, "total");

        CHECK(ended.code == 0);
        REQUIRE(rank0.size() == columns);
        REQUIRE(rank1.size() == columns);
        CHECK(rank0[stored] == 0.0);
        CHECK(rank1[stored] == 1.0);
        CHECK(rank0[stores] > 0.01);
        CHECK(rank1[stores] == 0.0);
        CHECK(total[sent] == rank0[sent] + rank1[sent]);
        CHECK(total[stores] == Approx(rank0[stores]));
        CHECK(rank0[collectives] == rank1[collectives]);
    }
    CHECK(run(2, "late_store", "SPLITC_STATS=0").output.empty());
    ends(2, "identity", 1, "SPLITC_STATS is \"yes\": it may be 1, ", "SPLITC_STATS=yes");
}

TEST_CASE("program: a trace begins with its head, whoever is told first")
{
    Ended ended = run(3, "traced_early", "SPLITC_TRACE=/dev/stdout");

    INFO(ended.output);
    CHECK(ended.code == 0);
    CHECK_THAT(ended.output, Catch::StartsWith("{\"displayTimeUnit\"") && Catch::EndsWith("]}\n"));
    for (int rank = 0; rank < 3; rank++)
        CHECK_THAT(ended.output, Catch::Contains("\"name\":\"rank " + std::to_string(rank) + "\""));
}

TEST_CASE("crowd: ranks that wait leave the cores to others")
{
    enum { elapsed = 12, cpu };

    for (int ranks : {2, 8}) {
        Ended ended = run(ranks, "late_rank", "SPLITC_STATS=1");

        INFO(ended.output);
        CHECK(ended.code == 0);
        for (int rank = 0; rank < ranks; rank++) {
            std::vector<double> numbers = statistics(ended.output, std::to_string(rank));

            CHECK(numbers.at(elapsed) > 3.9);
            CHECK(numbers.at(cpu) < 0.1 * numbers.at(elapsed));
        }
    }
}

// Were each to poll until the system takes its core away, this would take minutes.
TEST_CASE("crowd: ranks that wait by polling leave the core to others")
{
    const std::string on_one_core =
        "taskset -c $(taskset -pc $$ | sed 's/.*[^0-9]//') timeout 50 env";

    passes(8, "waits_by_polling", on_one_core);
    passes(8, "waits_by_polling", on_one_core + " SPLITC_WINDOWS=0");
}

TEST_CASE("crowd: 32 ranks")
{
    for (const char *check : {"random_traffic", "random_stores", "mixed_collectives", "fetch_add"})
        passes(32, check);
    passes(32, reach_within_node);
    passes(32, "mixed_collectives", "SPLITC_WINDOWS=0");
}

#ifdef LONG_TEST
TEST_CASE("windows: on and off with every number of ranks up to 8")
{
    for (const char *check : {"every_kind_is_read", "every_kind_is_written", "every_scalar"})
        for (int ranks = 1; ranks <= 8; ranks++)
            for (const char *windows : {"SPLITC_WINDOWS=0", "SPLITC_WINDOWS=1"})
                passes(ranks, check, windows);
}

TEST_CASE("crowd: 32 ranks take at most 20 times as long as 2")
{
    const auto seconds = [](int ranks, const char *check) {
        const auto begin = std::chrono::steady_clock::now();
        passes(ranks, check);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    double few = 0, many = 0;

    for (const char *check :
         {"read_sizes", "random_traffic", "random_stores", "bulk_put_large", "crossing_bulk_stores",
          "mixed_collectives", "reduce_double", "random_allocations", "fetch_add", "locks_exclude",
          "every_scalar", "heap_blocks", "own_messages", "many_outstanding"}) {
        few += seconds(2, check);
        many += seconds(32, check);
    }
    WARN("2 ranks: " << few << " s, 32 ranks: " << many << " s, " << many / few << " times");
    CHECK(many <= 20 * few);
}
#endif

TEST_CASE("program: when all ranks fail, all get to say why")
{
    Ended ended = run(4, "fails_together");

    CHECK(ended.code == 3);
    for (int rank = 0; rank < 4; rank++)
        CHECK_THAT(ended.output, Catch::Contains("rank " + std::to_string(rank) + " fails\n"));
}

TEST_CASE("error: null global pointers")
{
    ends(1, "null_read", 1, "splitc: rank 0: null global pointer dereferenced\n");
    ends(3, "null_read", 1, "splitc: rank 2: null global pointer dereferenced\n");
    ends(2, "null_write", 1,
         "splitc: rank 0: null global pointer dereferenced (offset 16, processor 1)\n");
}

TEST_CASE("error: processors that do not exist")
{
    ends(2, "wild_rank", 1,
         "splitc: rank 0: global pointer to processor 2 dereferenced, but PROCS is 2\n");
    ends(2, "wild_store", 1, "global pointer to processor 60000 dereferenced, but PROCS is 2\n");
}

TEST_CASE("error: the spread heap is exhausted")
{
    const char *remedy = "give it more with SPLITC_HEAP";

    ends(2, "heap_exhausted", 1, remedy);
    ends(2, "heap_exhausted", 1, "no space for 2 spread blocks of 1099511627776 bytes");
    ends(2, "heap_overflow", 1, remedy);
    ends(2, "large_arrays", 1, "the spread heap of 1048576 bytes per rank", "SPLITC_HEAP=1M");
}

TEST_CASE("error: sizes below zero, and beyond all memory")
{
    ends(2, "negative_size", 1, "all_spread_malloc of -1 blocks of 8 bytes\n");
    ends(2, "negative_bulk", 1, "bulk_write of -2 bytes\n");
    ends(2, "rows_impossible bytes", 1, "bulk_put_2d of rows of -1 bytes\n");
    ends(2, "rows_impossible count", 1, "bulk_gather of -5 rows\n");
    ends(2, "rows_impossible all", 1,
         "bulk_store_2d of 2305843009213693951 rows of 8 bytes: no memory has so many\n");
}

TEST_CASE("error: spread storage freed twice")
{
    ends(2, "double_free", 1, "which is not allocated spread storage\n");
}

TEST_CASE("error: atomic operations where none can be")
{
    ends(2, "misaligned_atomic", 1, "atomic operation on an object of 4 bytes at misaligned");
    ends(2, "unlock_of_free_lock", 1, "splitc: rank 0: unlock of a lock that nobody holds\n");
}

TEST_CASE("error: collective calls that differ")
{
    ends(3, "different_collectives", 1, "collective calls differ: ");
    ends(2, "free_and_barrier", 1, "collective calls differ: ");
    ends(4, "free_and_barrier", 1, "collective calls differ: ");
}

TEST_CASE("error: a rank ends where the others wait for it")
{
    for (int ranks : {2, 3, 8})
        ends(ranks, "missing_at_a_barrier", 1,
             "barrier is collective, but rank " + std::to_string(ranks - 1) +
                 " has ended without it\n");
    ends(2, "missing_at_a_broadcast", 1, "has ended without it\n");
}

TEST_CASE("error: a rank that dies ends every kind of wait")
{
    for (int ranks : {2, 4, 8})
        ends(ranks, "wait_for_the_dead", 128 + 9, "rank 0");
}

#ifndef __SANITIZE_ADDRESS__ // it tells of faults itself
TEST_CASE("fault: through a window it is the object's owner that is told")
{
    ends(2, "fault_in_hole", 128 + SIGSEGV,
         "splitc: rank 0: segmentation fault: reads (1, 0x4003fff00000), where processor 1 has no "
         "objects; instruction 0x");
}

TEST_CASE("fault: what a message asks for is told with who sent it")
{
    const std::string where = "address 0x300000000000, where nothing is; a message of rank 0 asks "
                              "for it; instruction 0x";

    for (const char *windows : {"SPLITC_WINDOWS=0", "SPLITC_WINDOWS=1"}) {
        ends(2, "fault_nowhere", 128 + SIGSEGV,
             "splitc: rank 1: segmentation fault: reads " + where, windows);
        ends(2, "fault_bulk_nowhere", 128 + SIGSEGV,
             "splitc: rank 1: segmentation fault: writes " + where, windows);
    }
}

TEST_CASE("fault: a rank's own mistakes")
{
    ends(2, "fault_null", 128 + SIGSEGV,
         "splitc: rank 1: segmentation fault: writes address 0x10: a null pointer; instruction");
    CHECK_THAT(run(2, "fault_null").output,
               Catch::Contains("was killed by signal 11 (Segmentation fault) at ") &&
                   Catch::Contains("runtime/check/fault_check.c:"));
    ends(2, "fault_constant", 128 + SIGSEGV, ", which is constant; instruction 0x");
    ends(2, "fault_as_local", 128 + SIGSEGV, "is a global pointer taken for a local one?");
    ends(2, "fault_bus", 128 + SIGBUS, ", whose page cannot be had; instruction 0x");
    for (const char *windows : {"SPLITC_WINDOWS=0", "SPLITC_WINDOWS=1"}) {
        ends(2, "fault_stack", 128 + SIGSEGV, ": the stack is full (ulimit -s sets its size); ",
             windows);
        ends(2, "fault_array", 128 + SIGSEGV,
             ", above the stack: is it behind the end of a local array?; ", windows);
    }
}

TEST_CASE("fault: signals that are none of the runtime's business")
{
    ends(2, "fault_own_handler", 9, "own handler\n");
    CHECK_THAT(run(2, "fault_own_handler").output, !Catch::Contains("segmentation fault:"));
    ends(2, "fault_sent", 128 + SIGSEGV, "");
    CHECK_THAT(run(2, "fault_sent").output, !Catch::Contains("segmentation fault:"));
    passes(2, "fault_in_child");
}
#endif

TEST_CASE("report: a deadlock is recognised, and told rank by rank")
{
    const std::string told =
        "unetrun: deadlock: every rank waits, and nothing is under way; ending the job\n";

    for (int ranks : {2, 5})
        for (const char *windows : {"SPLITC_WINDOWS=0", "SPLITC_WINDOWS=1"}) {
            const std::string last = "unetrun: rank " + std::to_string(ranks - 1) + " (pid ";

            const Ended ended = run(ranks, "deadlock", windows);
            INFO(ended.output);
            CHECK(ended.code == 1);
            CHECK_THAT(ended.output,
                       Catch::Contains(told) && Catch::Contains(" waits in store_sync at ") &&
                           Catch::Contains(" waits in barrier") && Catch::Contains(last));
        }
    for (const char *windows : {"SPLITC_WINDOWS=0", "SPLITC_WINDOWS=1"})
        ends(2, "deadlock lock", 1, " waits in lock at ", windows);
    ends(1, "deadlock", 1, "unetrun: deadlock: every rank waits");
}

TEST_CASE("report: a rank that takes long is no deadlock")
{
    passes(3, "late_rank");
    passes(3, "late_unlock");
    passes(3, "late_unlock", "SPLITC_WINDOWS=0");
}

TEST_CASE("report: SIGUSR1 and a time-out tell what every rank is at")
{
    const std::string unetrun = "'" UNETRUN "' -n 2 ", hang = " '" RUNTIME_CHECK "' hang";
    Ended timed = shell("SPLITC_RANKS_PER_CORE=1 " + unetrun + "--timeout 3" + hang);
    Ended asked =
        shell("out=$(mktemp); " + unetrun + "--timeout 50" + hang +
              " >$out 2>&1 & job=$!; until grep -q up $out; do "
              "kill -0 $job || break; sleep 0.05; done; until grep -q 'waits in barrier' $out; do "
              "kill -USR1 $job || break; sleep 0.05; done; kill $job; wait $job; "
              "cat $out; rm $out");

    CHECK(timed.code == 124);
    CHECK_THAT(timed.output, Catch::Contains(" waits in barrier for rank 1 at "));
    for (const std::string &output : {timed.output, asked.output}) {
        CHECK_THAT(output,
                   Catch::Contains(" waits in barrier for rank 1") &&
                       Catch::Contains("; pending: 0 gets, 0 puts; stores: 0 bytes sent, "));
        CHECK_THAT(output, Catch::Contains(" computes, or waits in something that is not "
                                           "Split-C's; the process is running\n"));
    }
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("debugging: gdb connects to a rank in gdbserver")
{
    Ended ended =
        shell("out=$(mktemp); '" UNETRUN "' -n 2 --timeout 50 --gdb 1 '" RUNTIME_CHECK "' identity "
              ">$out 2>&1 & until port=$(sed -n 's/^.1. Listening on port //p' $out) && [ -n "
              "\"$port\" ]; "
              "do kill -0 $! || break; sleep 0.05; done; "
              "gdb -nx -batch -ex 'set sysroot /' -ex \"target remote 127.0.0.1:$port\" -ex 'break "
              "splitc_entry' "
              "-ex continue -ex 'print *(int *)&splitc_job' -ex 'bt 1' -ex continue "
              "'" RUNTIME_CHECK "'; wait $!; echo unetrun: $?; cat $out; rm $out");

    INFO(ended.output);
    CHECK_THAT(ended.output, Catch::Contains("$1 = 1\n"));
    CHECK_THAT(ended.output,
               Catch::Contains("Breakpoint 1, ") && Catch::Contains("splitc_entry ("));
    CHECK_THAT(ended.output, Catch::Contains("unetrun: 0\n"));
}

TEST_CASE("debugging: valgrind sees what a rank does with its heap")
{
    const std::string unetrun = "SPLITC_HEAP=64M '" UNETRUN "' -n 2 --timeout 50 ";

    for (const char *windows : {"SPLITC_WINDOWS=0 ", "SPLITC_WINDOWS=1 "}) {
        Ended ended = shell(windows + unetrun + "--valgrind 1 '" RUNTIME_CHECK "' heap_overrun");

        INFO(ended.output);
        CHECK(ended.code == 0);
        CHECK_THAT(ended.output, Catch::Contains("[1] ==") &&
                                     Catch::Contains("Invalid read of size") &&
                                     Catch::Contains("heap_overrun (fault_check.c:"));
        CHECK_THAT(ended.output, !Catch::Contains("[0] =="));
        CHECK_THAT(ended.output, !Catch::Contains("[1] --")); // its complaints of our system calls
    }
}
#endif

TEST_CASE("error: the code of a rank that fails is the job's")
{
    ends(4, "one_fails", 7, "");
    ends(1, "function_ends", 9, ""); // it runs here
    ends(3, "function_ends", 9, "");
    ends(2, "function_ends", 9, "", "SPLITC_PROGRESS=thread");
    ends(2, "aborts", 128 + 6, "");
}

TEST_CASE("error: environment variables that make no sense")
{
    for (const char *size : {"lots", "", "-1", "10X", "5GB", "99999999999G", "0"})
        refuses(1, "SPLITC_HEAP='" + std::string(size) + "'",
                "give the bytes of spread heap per rank");
    refuses(1, "SPLITC_BACKEND=pigeon",
            "there is no backend \"pigeon\"; SPLITC_BACKEND may be one of: ");
    ends(2, "identity", 1, "SPLITC_WINDOWS is \"maybe\": it may be 1, or 0 ",
         "SPLITC_WINDOWS=maybe");
    ends(2, "identity", 1, "backend \"loopback\" does not reach other processes",
         "SPLITC_BACKEND=loopback");
}

#ifndef __SANITIZE_ADDRESS__ // it could not even start
TEST_CASE("error: a job key that is none")
{
    const std::string digits(32, 'a');

    for (const std::string &key :
         {std::string(), digits.substr(1), digits + "a", "g" + digits.substr(1)}) {
        const Ended ended =
            shell("'" UNETRUN "' --timeout " JOB_SECONDS " -n 2 env SPLITC_JOB_KEY=" + key +
                  " '" RUNTIME_CHECK "' identity");
        INFO("key '" << key << "': " << ended.output);
        CHECK(ended.code == 1);
        CHECK_THAT(
            ended.output,
            Catch::Contains("SPLITC_JOB_KEY is not a key of 32 hexadecimal digits; unset it"));
    }
}

TEST_CASE("error: the spread heap does not fit into the address space")
{
    Ended ended = shell("ulimit -v 1000000; timeout 50 '" RUNTIME_CHECK "' identity");

    CHECK(ended.code == 1);
    CHECK_THAT(ended.output,
               Catch::Contains("splitc: rank 0: cannot reserve ") &&
                   Catch::Contains("ask for less with unetrun --heap or SPLITC_HEAP"));
    ended = shell("ulimit -v 1000000; SPLITC_HEAP=16M timeout 50 '" RUNTIME_CHECK "' identity");
    INFO(ended.output);
    CHECK(ended.code == 0);
}
#endif

TEST_CASE("error: what one rank refuses is told by that one alone")
{
    const Ended ended =
        shell("'" UNETRUN "' " JOB_OPTIONS " --timeout " JOB_SECONDS
              " -n 4 sh -c '[ $PMIX_RANK = 3 ] && export SPLITC_HEAP=lots; exec \"" RUNTIME_CHECK
              "\" identity'");
    const std::vector<std::string> lines = lines_of(ended.output);

    INFO(ended.output);
    CHECK(ended.code == 1);
    CHECK(lines.size() == 2);
    CHECK_THAT(ended.output, Catch::Contains("splitc: rank 3: SPLITC_HEAP is \"lots\"") &&
                                 Catch::Contains("unetrun: rank 3 "));
}

TEST_CASE("error: a launcher that is not there")
{
    Ended ended = shell("PMIX_NAMESPACE=gone PMIX_RANK=3 timeout 50 '" RUNTIME_CHECK "' identity");

    CHECK(ended.code == 1);
    CHECK_THAT(ended.output, Catch::Contains("splitc: rank 3: cannot reach the launcher that "));
}

namespace {

// As if a launcher had started it, by these variables.
Ended alone(const std::string &environment)
{
    return shell(environment + " timeout 50 '" RUNTIME_CHECK "' identity");
}

} // namespace

TEST_CASE("error: a launcher that does not speak PMIx")
{
    for (const char *variables :
         {"SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=", "PMI_SIZE=3 PMI_RANK=",
          "OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=", "FLUX_JOB_SIZE=3 FLUX_TASK_RANK="}) {
        const Ended first = alone(variables + std::string("0"));
        const Ended second = alone(variables + std::string("1"));

        INFO(variables << ": " << first.output);
        CHECK(first.code == 1);
        CHECK(lines_of(first.output).size() == 1);
        CHECK_THAT(first.output,
                   Catch::Contains("splitc: rank 0: the launcher has started 3 processes") &&
                       Catch::Contains("; use unetrun -n 3, or srun --mpi=pmix; "));
        CHECK(second.code == 1);
        CHECK(second.output.empty());
    }
    CHECK_THAT(alone("PALS_RANKID=2").output,
               Catch::Contains("splitc: rank 2: this is no job of one rank (PALS_RANKID=2)"));
}

TEST_CASE("program: alone in an allocation, a step of one task, or by unetrun in a larger step")
{
    const std::string step = "SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=1";

    CHECK(alone("SLURM_JOB_ID=1 SLURM_NTASKS=4 SLURM_PROCID=0").code == 0); // a batch script
    CHECK(alone("SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0").code == 0);
    CHECK(alone(step + " PMI_SIZE=1 PMI_RANK=0").code == 0);
    CHECK(alone("PMI_SIZE=none PMI_RANK=0").code == 0);
    passes(1, "identity", step);
    passes(2, "identity", step);
}
