// SPDX-License-Identifier: BSD-3-Clause
//
// What has to work however ranks reach each other: each check of runtime_check, on some numbers of
// ranks.  RANK_COUNTS and JOB_OPTIONS (of unetrun) make suites of it for the backends.
#include "job.h"

#include <unistd.h>

#ifndef RANK_COUNTS
#define RANK_COUNTS                                                                                \
    {                                                                                              \
        1, 2, 3, 4, 8                                                                              \
    } // with which every check has to pass
#endif

namespace {

void passes_everywhere(const std::string &check)
{
#ifdef RAW_ETHERNET
    if (geteuid() != 0) {
        std::puts("\nnot run: raw Ethernet takes root");
        return;
    }
#endif
    for (int ranks : RANK_COUNTS)
        passes(ranks, check);
}

// By messages alone as well; a network means messages anyway.
void passes_both_ways(const std::string &check)
{
    passes_everywhere(check);
#ifdef ONE_NODE
    for (int ranks : {2, 4})
        passes(ranks, check, "SPLITC_WINDOWS=0");
#endif
}

} // namespace

// clang-format off
TEST_CASE("access: scalars are read") { passes_everywhere("read_scalars"); }
TEST_CASE("access: scalars are written") { passes_everywhere("write_scalars"); }
TEST_CASE("access: a blocking write is in place when it returns") { passes_everywhere("write_is_complete"); }
TEST_CASE("access: reads of every size and alignment") { passes_everywhere("read_sizes"); }
TEST_CASE("access: gets of every size and alignment") { passes_everywhere("get_sizes"); }
TEST_CASE("access: far reads from everybody, ourselves too") { passes_everywhere("far_read_sizes"); }
TEST_CASE("access: writes of every size and alignment") { passes_everywhere("write_sizes"); }
TEST_CASE("access: puts of every size and alignment") { passes_everywhere("put_sizes"); }
TEST_CASE("access: far writes to everybody, ourselves too") { passes_everywhere("far_write_sizes"); }
TEST_CASE("access: static, heap and stack objects are within reach") { passes_everywhere("private_objects"); }
TEST_CASE("access: thousands of gets and puts in flight") { passes_everywhere("many_outstanding"); }
TEST_CASE("access: is_sync tells when sync would not wait") { passes_everywhere("asking_for_completion"); }
TEST_CASE("access: random traffic agrees with a model") { passes_everywhere("random_traffic"); }

TEST_CASE("bulk: reads of every size and alignment") { passes_everywhere("bulk_read_sizes"); }
TEST_CASE("bulk: gets of every size and alignment") { passes_everywhere("bulk_get_sizes"); }
TEST_CASE("bulk: writes of every size and alignment") { passes_everywhere("bulk_write_sizes"); }
TEST_CASE("bulk: puts of every size and alignment") { passes_everywhere("bulk_put_sizes"); }
TEST_CASE("bulk: large reads") { passes_everywhere("bulk_read_large"); }
TEST_CASE("bulk: large writes") { passes_everywhere("bulk_write_large"); }
TEST_CASE("bulk: large puts") { passes_everywhere("bulk_put_large"); }
TEST_CASE("bulk: no bytes are no access") { passes_everywhere("bulk_of_nothing"); }

TEST_CASE("store: every size arrives and is counted") { passes_everywhere("store_sizes"); }
TEST_CASE("store: bulk stores of every size") { passes_everywhere("bulk_store_sizes"); }
TEST_CASE("store: store_sync takes what it asks for") { passes_everywhere("store_sync_consumes"); }
TEST_CASE("store: all_store_sync completes and consumes") { passes_everywhere("all_store_sync_consumes"); }
TEST_CASE("store: phases that touch do not mix") { passes_everywhere("phases_without_barrier"); }
TEST_CASE("store: reset_store_sync forgets") { passes_everywhere("reset_forgets"); }
TEST_CASE("store: what is counted is in place") { passes_everywhere("counted_means_in_place"); }
TEST_CASE("store: everybody floods everybody") { passes_everywhere("flood_of_stores"); }
TEST_CASE("store: bulk stores cross") { passes_everywhere("crossing_bulk_stores"); }
TEST_CASE("store: a token goes round") { passes_everywhere("store_ring"); }
TEST_CASE("store: random sizes to random ranks") { passes_everywhere("random_stores"); }

TEST_CASE("strided: rows of every shape agree with plain loops") { passes_everywhere("rows_of_every_shape"); }
TEST_CASE("strided: elements are scattered and gathered by index") { passes_everywhere("elements_by_index"); }
TEST_CASE("strided: nothing is no access") { passes_everywhere("rows_of_nothing"); }
TEST_CASE("strided: a plain pointer is there where a window is") { passes_everywhere("castable_where_near"); }

TEST_CASE("handles: transfers complete one by one") { passes_everywhere("handles_complete"); }
TEST_CASE("handles: sync completes them, too") { passes_everywhere("handles_and_sync"); }

TEST_CASE("bursts: stores, puts and gets in any order agree with a model") { passes_everywhere("bursts_of_everything"); }
TEST_CASE("bursts: what comes behind one finds it done") { passes_everywhere("burst_then_message"); }
TEST_CASE("bursts: who polls sends them") { passes_everywhere("burst_then_polls"); }
TEST_CASE("bursts: a collective sends them") { passes_everywhere("burst_then_collective"); }
TEST_CASE("store: stores to one object keep their order") { passes_everywhere("stores_keep_order"); }
TEST_CASE("bursts: who waits by reading has sent them") { passes_everywhere("waits_by_reading"); }
TEST_CASE("bursts: runs of neighbouring elements") { passes_everywhere("bursts_of_runs"); }

TEST_CASE("barrier: nobody leaves before all have come") { passes_everywhere("barrier_holds"); }
TEST_CASE("barrier: it serves messages") { passes_everywhere("barrier_serves"); }
TEST_CASE("barrier: it leaves traffic alone") { passes_everywhere("barrier_amid_traffic"); }
TEST_CASE("collective: reductions of ints") { passes_everywhere("reduce_int"); }
TEST_CASE("collective: reductions of doubles") { passes_everywhere("reduce_double"); }
TEST_CASE("collective: sums of doubles repeat to the bit") { passes_everywhere("reduce_double_repeats"); }
TEST_CASE("collective: forms for other types") { passes_everywhere("forms_for_types"); }
TEST_CASE("collective: sums of floats repeat") { passes_everywhere("reduce_float_repeats"); }
TEST_CASE("collective: where the order matters it is that of ranks") { passes_everywhere("reduce_in_the_order_of_ranks"); passes(4, "reduce_in_the_order_of_ranks", "SPLITC_RANKS_PER_CORE=1"); }
TEST_CASE("collective: reductions to processor 0") { passes_everywhere("reduce_to_one"); }
TEST_CASE("collective: broadcasts") { passes_everywhere("broadcast"); }
TEST_CASE("collective: scans of ints") { passes_everywhere("scan_int"); }
TEST_CASE("collective: scans of doubles") { passes_everywhere("scan_double"); }
TEST_CASE("collective: ranks run ahead") { passes_everywhere("running_ahead"); }
TEST_CASE("collective: any order, any skew") { passes_everywhere("mixed_collectives"); }
TEST_CASE("collective: a number of ranks that is no power of two") { passes(13, "mixed_collectives"); passes(29, "reduce_double_repeats"); passes(7, "scan_int"); }
TEST_CASE("collective: gather") { passes_everywhere("gather"); }

TEST_CASE("team: members know each other") { passes_everywhere("team_members"); }
TEST_CASE("team: all ranks, and those of a node") { passes_everywhere("team_predefined"); }
TEST_CASE("team: calls on several teams") { passes_everywhere("team_calls"); passes(8, "team_calls", "SPLITC_RANKS_PER_CORE=1"); }
TEST_CASE("team: nobody leaves its barrier before all have come") { passes_everywhere("team_barrier_holds"); }
TEST_CASE("team: its barrier serves those who are no members") { passes_everywhere("team_barrier_serves"); passes(4, "team_barrier_serves", "SPLITC_RANKS_PER_CORE=2"); }
TEST_CASE("team: teams of teams") { passes_everywhere("teams_of_teams"); }
TEST_CASE("team: many come and go") { passes_everywhere("teams_come_and_go"); passes(2, "teams_come_and_go 300"); }
TEST_CASE("arrays: short blocks, turn by turn") { passes_everywhere("array_short_blocks_in_turn"); passes(8, "array_short_blocks_in_turn", "SPLITC_RANKS_PER_CORE=1"); }
TEST_CASE("arrays: every operation agrees with one rank alone") { passes_everywhere("array_operations"); passes(5, "array_operations", "SPLITC_RANKS_PER_CORE=1"); }
TEST_CASE("arrays: operations on teams that overlap") { passes_everywhere("array_operations_on_teams"); }
TEST_CASE("arrays: many operations under way") { passes_everywhere("many_under_way"); }
TEST_CASE("arrays: a root that never waits") { passes_everywhere("array_root_runs_ahead"); passes_everywhere("array_root_begins_early"); }
TEST_CASE("arrays: long blocks that two swap, on time and early") { passes_everywhere("array_long_swaps"); }
TEST_CASE("arrays: blocks that come before their call") { passes_everywhere("array_blocks_come_early"); }
TEST_CASE("arrays: giving up a team completes its operations") { passes_everywhere("array_free_under_way"); }
TEST_CASE("arrays: a barrier that is begun") { passes_everywhere("array_barrier_is_begun"); }
TEST_CASE("arrays: sums of doubles repeat to the bit") { passes_everywhere("array_sums_repeat"); }

TEST_CASE("heap: static spread arrays are there and zero") { passes_everywhere("statics"); }
TEST_CASE("heap: blocks are spread over the ranks") { passes_everywhere("blocks_are_spread"); }
TEST_CASE("heap: arrays do not overlap") { passes_everywhere("arrays_do_not_overlap"); }
TEST_CASE("heap: no blocks, and blocks of no bytes") { passes_everywhere("nothing_is_something"); }
TEST_CASE("heap: a million elements per rank, several times") { passes_everywhere("large_arrays"); }
TEST_CASE("heap: freed space returns") { passes_everywhere("freed_space_returns"); passes(2, "freed_space_returns", "SPLITC_HEAP=16M"); }
TEST_CASE("heap: random allocations keep their contents") { passes_everywhere("random_allocations"); }

TEST_CASE("atomic: fetch_add gives each ticket once") { passes_everywhere("fetch_add"); }
TEST_CASE("atomic: fetch_add of longs") { passes_everywhere("fetch_add_long"); }
TEST_CASE("atomic: operations return the old value") { passes_everywhere("operations_return_the_old_value"); }
TEST_CASE("atomic: operations on every type, blocking and begun") { passes_everywhere("operations_on_every_type"); }
TEST_CASE("atomic: all ranks on the same objects") { passes_everywhere("operations_by_all"); }
TEST_CASE("atomic: locks exclude") { passes_everywhere("locks_exclude"); }
TEST_CASE("atomic: attempts serve others") { passes_everywhere("attempts_serve_others"); }
TEST_CASE("atomic: unlocks serve others") { passes_everywhere("unlocks_serve_others"); }
TEST_CASE("atomic: bit-field writes keep their neighbours") { passes_everywhere("masked_writes_keep_neighbours"); }
TEST_CASE("atomic: bit-field writes of every size") { passes_everywhere("masked_write_sizes"); }

TEST_CASE("windows: objects of every kind and size are read") { passes_both_ways("every_kind_is_read"); }
TEST_CASE("windows: objects of every kind and size are written") { passes_both_ways("every_kind_is_written"); }
TEST_CASE("windows: scalars of every type in objects of every kind") { passes_both_ways("every_scalar"); }
TEST_CASE("windows: a loop on a global pointer sees what others write") { passes_both_ways("waiting_for_a_flag"); }
TEST_CASE("windows: what malloc hands out is within reach") { passes_both_ways("heap_blocks"); }
TEST_CASE("windows: blocks that went back to the system") { passes_both_ways("given_back_blocks"); }
TEST_CASE("windows: fork copies what is shared") { passes_both_ways("fork_copies"); }
TEST_CASE("windows: other programs are started") { passes_both_ways("other_programs"); }

TEST_CASE("program: ranks know who they are") { passes_everywhere("identity"); }
TEST_CASE("program: time goes on") { passes_everywhere("time_goes_on"); }
TEST_CASE("program: the names of split-c.h are bound") { passes_everywhere("names"); }
TEST_CASE("program: active messages of its own") { passes_everywhere("own_messages"); }
TEST_CASE("program: arguments reach every rank") { passes(4, "arguments one '' 'two words'"); }
TEST_CASE("program: children end on their own") { passes_everywhere("children"); }
TEST_CASE("program: puts that nobody waited for") { passes_everywhere("unfinished_puts"); }
// clang-format on
