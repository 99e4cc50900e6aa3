// SPDX-License-Identifier: BSD-3-Clause
//
// What is peculiar to jobs over a network; suite_test.cc over it is in other programs.
#include "job.h"

#include <chrono>
#include <unistd.h>

namespace {

Ended network_job(int ranks, const std::string &options, const std::string &check,
                  const std::string &environment = "")
{
    return shell(environment + " '" UNETRUN "' --timeout " JOB_SECONDS " -n " +
                 std::to_string(ranks) + " " + options + " '" RUNTIME_CHECK "' " + check);
}

void job_passes(int ranks, const std::string &options, const std::string &check)
{
    Ended ended = network_job(ranks, options, check);

    INFO(options << " " << check << " on " << ranks << " ranks: " << ended.output);
    CHECK(ended.code == 0);
}

void job_ends(int ranks, const std::string &options, const std::string &check, int code,
              const std::string &says)
{
    Ended ended = network_job(ranks, options, check);

    INFO(options << " " << check << " on " << ranks << " ranks");
    CHECK(ended.code == code);
    CHECK_THAT(ended.output, Catch::Contains(says));
}

void serves_meanwhile(const std::string &options, const std::string &by = "thread")
{
    for (const char *check : {"waiting_without_polling", "random_traffic", "own_messages",
                              "mixed_collectives", "locks_exclude", "flood_of_stores"})
        job_passes(3, options + " -x SPLITC_PROGRESS=" + by, check);
}

} // namespace

TEST_CASE("network: who is reached through a window")
{
    job_passes(2, "--backend udp", "reach far");
    job_passes(2, "--backend shm,udp", reach_within_node);
    job_passes(2, "--backend auto", reach_within_node);
    job_passes(2, "--nodes 2", "reach far");
    job_passes(2, "--nodes 2 --backend udp", "reach far");
}

TEST_CASE("network: puts go in messages where there is no direct access")
{
    job_passes(2, "--backend udp", "puts_in_messages");
    job_passes(2, "--backend udp -x SPLITC_DIRECT=1", "puts_into_new_memory");
}

TEST_CASE("network: nodes of different sizes, one of a single rank")
{
    for (const char *check : {"statics", "random_traffic", "every_scalar", "mixed_collectives"})
        job_passes(3, "--nodes 2", check);
}

TEST_CASE("network: one rank alone")
{
    job_passes(1, "--backend udp", "random_traffic");
}

TEST_CASE("network: raw Ethernet, for who may")
{
    if (geteuid() != 0) {
        job_ends(2, "--backend eth", "reach far", 1, "raw Ethernet needs CAP_NET_RAW");
        return;
    }
    job_passes(2, "--backend eth", "reach far");
    job_passes(3, "--nodes 2 --backend shm,eth", "random_traffic");
    job_passes(3, "--backend eth --chaos loss=0.1,dup=0.1,reorder=0.1,seed=3", "random_traffic");
    job_passes(3, "--backend eth", "mixed_collectives");
}

TEST_CASE("network: an interface that there is not is told")
{
    Ended ended = network_job(2, "--backend eth", "reach far", "UNET_INTERFACE=nosuch0");

    CHECK(ended.code == 1);
    if (geteuid() == 0)
        CHECK_THAT(ended.output, Catch::Contains("has to name an interface of every node"));
}

TEST_CASE("network: all messages cross a very bad one")
{
    job_passes(3,
               "--backend udp --chaos loss=0.3,dup=0.2,reorder=0.3,flip=0.05,truncate=0.05,seed=1",
               "random_stores");
}

TEST_CASE("network: a rank that computes for longer than the peer timeout is not dead")
{
    job_passes(3, "--backend udp --peer-timeout 1", "late_rank");
    job_passes(4, "--nodes 2 --peer-timeout 1", "late_rank");
    for (const char *progress : {"poll", "thread", "upcall"})
        job_passes(2, "--backend udp --peer-timeout 1 -x SPLITC_PROGRESS=" + std::string(progress),
                   "function_takes_long");
}

TEST_CASE("network: what a rank has stored arrives while it computes")
{
    for (const char *options : {"--backend udp", "--backend udp -x SPLITC_STREAMS=0",
                                "--backend udp -x SPLITC_STREAMS=64K --auth header",
                                "--backend udp -x SPLITC_STREAMS=64K", "-x SPLITC_WINDOWS=0"})
        job_passes(2, options, "stores_of_a_busy_rank");
}

TEST_CASE("network: what a rank has stored arrives after it has left all_store_sync")
{
    for (const char *options : {"--backend udp", "--backend udp -x SPLITC_STREAMS=0",
                                "--backend udp -x SPLITC_STREAMS=64K", "-x SPLITC_WINDOWS=0"})
        job_passes(2, options, "stores_of_a_rank_that_left");
    job_ends(2, "--backend udp", "store_sync_and_sum", 1, "collective calls differ: all_");
}

TEST_CASE("network: stores of the next phase that come at once with the end of one do not mix")
{
    job_passes(2, "--backend udp --chaos loss=0.2,reorder=0.2,seed=5", "phases_without_barrier");
}

TEST_CASE("network: a rank that does not answer is named")
{
    for (const char *options : {"--backend udp --peer-timeout 1", "--nodes 3 --peer-timeout 1"}) {
        const auto begin = std::chrono::steady_clock::now();

        job_ends(3, options, "stopped_rank", 1,
                 ": rank 2 has died, or nothing reaches it any more\n");
        CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
    }
}

TEST_CASE("network: one that loses everything is a dead peer, not a deadlock")
{
    Ended ended = network_job(2, "--backend udp --chaos loss=1 --peer-timeout 4", "identity");

    INFO(ended.output);
    CHECK(ended.code == 1);
    CHECK_THAT(ended.output,
               Catch::Contains("nothing has ever come from rank ") && !Catch::Contains("deadlock"));
}

TEST_CASE("network: a deadlock is recognised")
{
    const std::string says = "unetrun: deadlock: every rank waits, and nothing is under way";

    job_ends(3, "--backend udp", "deadlock", 1, says);
    job_ends(4, "--nodes 2 --chaos loss=0.05,seed=1", "deadlock", 1, says);
}

TEST_CASE("network: a deadlock on a lock that is tried by messages is recognised")
{
    for (const char *options : {"--backend udp", "--nodes 2", "--nodes 2 -x SPLITC_WINDOWS=0",
                                "--backend udp --chaos loss=0.05,dup=0.05,seed=1"})
        job_ends(3, options, "deadlock lock", 1, " waits in lock at ");
}

TEST_CASE("network: a lock that is held for long is no deadlock")
{
    for (const char *options :
         {"--backend udp", "--nodes 2", "--backend udp --chaos loss=0.3,seed=1"})
        job_passes(3, options, "late_unlock");
}

TEST_CASE("network: messages that are lost for long are no deadlock")
{
    job_passes(2, "--backend udp --chaos loss=0.7,seed=1 --peer-timeout 40", "late_unlock");
}

TEST_CASE("network: ranks end well though the last acknowledgements get lost")
{
    for (int seed = 1; seed <= 10; seed++)
        job_passes(3, "--backend udp --chaos loss=0.3,seed=" + std::to_string(seed), "identity");
}

TEST_CASE("network: a rank that is killed ends the job")
{
    job_ends(3, "--backend udp", "wait_for_the_dead", 128 + 9, "rank 0 ");
    job_ends(4, "--nodes 2", "wait_for_the_dead", 128 + 9, "rank 0 ");
}

TEST_CASE("progress: a thread serves what comes through shared memory")
{
    serves_meanwhile("-x SPLITC_WINDOWS=0");
}

TEST_CASE("progress: a thread serves what comes over a bad network")
{
    serves_meanwhile("--backend udp --chaos loss=0.1,seed=1");
}

TEST_CASE("progress: a thread serves what comes from this node and others")
{
    serves_meanwhile("--nodes 2");
}

TEST_CASE("progress: upcalls serve what comes through shared memory, and from other nodes")
{
    serves_meanwhile("-x SPLITC_WINDOWS=0", "upcall");
    serves_meanwhile("--nodes 2", "upcall");
}

TEST_CASE("network: bursts share messages or not, as is said")
{
    for (const char *setting : {"0", "1"})
        for (const char *check : {"bursts_of_everything", "burst_then_message", "random_stores",
                                  "stores_keep_order", "rows_of_every_shape"})
            job_passes(4, std::string("--nodes 2 -x SPLITC_COALESCE=") + setting, check);
}

TEST_CASE("network: a rank that waits for stores sends its own bursts meanwhile")
{
    job_passes(2, "--nodes 2", "burst_then_all_store_sync");
}

TEST_CASE("network: records of accesses that contradict themselves end the job, with a word")
{
    for (const char *lie :
         {"short", "long", "kind", "get", "cut", "words", "puts", "gets", "answer"})
        job_ends(2, "--backend udp", std::string("lying_records ") + lie, 1, "malformed message");
}

TEST_CASE("network: pieces of operations, and atomic ones, that make no sense end the job")
{
    for (const char *lie :
         {"team",    "use",    "member", "nobody", "number", "what",  "empty",   "long",
          "kind",    "behind", "words",  "taken",  "pulled", "asker", "nothing", "early",
          "unnamed", "value",  "type",   "odd",    "real",   "old",   "got",     "put"})
        job_ends(2, "--backend udp", std::string("lying_pieces ") + lie, 1, "malformed message");
    for (const char *lie : {"beyond", "other", "much", "between"})
        for (const char *when : {" early", " awaited"})
            job_ends(2, "--backend udp", std::string("lying_parts ") + lie + when, 1,
                     "malformed message");
}

TEST_CASE("network: members whose long blocks differ are told")
{
    job_ends(2, "--backend udp", "array_long_blocks_differ", 1, "bytes where ");
}

TEST_CASE("network: over ATM, also when cells get lost")
{
    const std::string within = "'" UNETATM "' --loss 1000";

    for (const char *check : {"identity", "random_traffic", "mixed_collectives"}) {
        Ended ended = network_job(4, "--nodes 2 --backend shm,atm", check, within);

        INFO(check << ": " << ended.output);
        CHECK(ended.code == 0);
    }
    job_ends(2, "--backend atm -x UNET_ATM_CARRIER=pvc:x -x UNET_INTERFACE=127.0.0.1", "identity",
             1, "cannot open an endpoint at pvc:x: ");
    job_ends(2, "--backend atm -x UNET_ATM_CARRIER=", "identity", 1,
             "UNET_ATM_CARRIER has to name a switch");
}

TEST_CASE("network: a rank whose ATM switch has gone asks after it")
{
    const Ended ended = shell(
        "said=$(mktemp); '" UNETATM "' >$said & switch=$!; until [ -s $said ]; do sleep 0.01; "
        "done; env $(cat $said) '" UNETRUN "' --timeout " JOB_SECONDS
        " -n 1 --backend atm -x SPLITC_PEER_TIMEOUT=0.3 sh -c \"(sleep 1; kill -9 $switch) & exec "
        "'" RUNTIME_CHECK "' late_thread\"; code=$?; rm $said; kill $switch; exit $code");

    INFO(ended.output);
    CHECK(ended.code == 1);
    CHECK_THAT(ended.output, Catch::Contains("does not come: is the switch unetatm, or the ATM "
                                             "interface, that UNET_ATM_CARRIER names, gone?\n"));
}

TEST_CASE("network: what makes no sense is told")
{
    job_ends(4, "--nodes 2 --backend shm", "identity", 1,
             "but backend \"shm\" reaches only one node");
    job_ends(2, "--chaos loss=0.1", "identity", 1,
             "is for networks, but no rank is reached by one");
    job_ends(2, "-x SPLITC_PROGRESS=upstream", "identity", 1,
             "SPLITC_PROGRESS is \"upstream\": it may be poll, or thread or upcall");
    job_ends(2, "--backend udp -x UNET_INTERFACE=192.0.2.1", "identity", 1,
             "UNET_INTERFACE (unetrun --net, --iface) has to name an address");
}

TEST_CASE("network: jobs run with less authentication, too")
{
    for (const char *mode : {"full", "header", "off"})
        job_passes(3, "--backend udp --auth " + std::string(mode), "identity");
}

TEST_CASE("network: what makes no sense and no launcher has checked is told")
{
    refuses(2, "SPLITC_BACKEND=udp,shm", "of two backends the first is for the ranks of");
    refuses(2, "SPLITC_BACKEND=shm,pigeon", "there is no backend \"shm,pigeon\"; ");
    refuses(2, "SPLITC_BACKEND=udp SPLITC_CHAOS=loss=2", "SPLITC_CHAOS is \"loss=2\": it may be");
    refuses(2, "SPLITC_BACKEND=udp SPLITC_PEER_TIMEOUT=0.01",
            "SPLITC_PEER_TIMEOUT is \"0.01\": it is a number of seconds from 0.1 ");
    refuses(2, "SPLITC_BACKEND=udp SPLITC_STREAMS=no",
            "SPLITC_STREAMS is \"no\": it is bytes, as in 512K, or 0");
    refuses(2, "SPLITC_BACKEND=udp SPLITC_AUTH=none",
            "SPLITC_AUTH is \"none\": it is full, header or off");
    refuses(2, "SPLITC_BACKEND=udp SPLITC_COALESCE=7", "SPLITC_COALESCE is \"7\": it may be 1, ");
    refuses(2, "SPLITC_BACKEND=udp SPLITC_DIRECT=no",
            "SPLITC_DIRECT is \"no\": it may be 1, or 0 ");
    refuses(2, "SPLITC_BACKEND=mux UNET_MUX_BACKEND=pigeon",
            "mux is several endpoints on one of another network, which UNET_MUX_BACKEND names");
}
