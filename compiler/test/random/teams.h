// SPDX-License-Identifier: BSD-3-Clause
//
// Teams of random programs, and the collective operations on arrays that their members make.
//
// A program has a few teams from its start to its end.  An operation is a statement for all: each
// processor fills an array from one number of its own, the members of its team make a call, other
// statements may come before it is complete, and what it brought is folded into one number.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace random_program {

// Who is in it: a processor p of the parent is left out if p % none == 1, or else has colour
// (p + shift) % colours - below and key (p * factor) % keys - 1.
struct Team {
    int parent = 0; // of the teams before it; 0 is the team of all
    long shift = 0, colours = 1, below = 0, none = 0, factor = 1, keys = 1;
};

enum class ArrayOp {
    Broadcast,
    Reduce,
    Allreduce,
    Scan,
    Exscan,
    Gather,
    Allgather,
    Scatter,
    Alltoall,
    Gatherv,
    Alltoallv,
    Count
};
enum class ArrayType { Long, Short, Double, Map, Count };

struct ArrayCall {
    int team = 0;
    ArrayOp op = ArrayOp::Broadcast;
    ArrayType type = ArrayType::Long;
    long count = 0; // elements of a block
    long root = 0;  // modulo the size of the team
    long with = 0;  // the number of an operator
    bool split = false;
    int place = 0; // of several arrays
};

// The members of the team that the processor is in, in their order; none if it is left out.
std::vector<int> members_of(const std::vector<Team> &teams, int team, int rank, int procs);

// What each processor folds its result into, given each one's number.
std::vector<long> results_of(const std::vector<Team> &teams, const ArrayCall &call,
                             const std::vector<long> &numbers);

// Split-C text: what programs with teams need in front for calls on those types, making and freeing
// the teams, and a call's beginning and end.
std::string teams_prologue(size_t teams, const std::set<ArrayType> &types);
std::vector<std::string> teams_made(const std::vector<Team> &teams);
std::vector<std::string> teams_freed(size_t teams);
std::string call_begun(const ArrayCall &call, const std::string &number);
std::string call_ended(const ArrayCall &call);

} // namespace random_program
