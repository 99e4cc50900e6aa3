// SPDX-License-Identifier: BSD-3-Clause
//
// Makes random programs that have one meaning: no races, nothing out of bounds, no
// undefined behaviour but what -fwrapv defines.
//
//   generate.cc             types, variables, and what all processors do together
//   generate_expression.cc  expressions
//   generate_phase.cc       what each does by itself between two barriers
//
// In each phase every array is read by all, or left alone, or *sliced*: each
// processor has elements of its own, which need not live with it.
#ifndef RANDOM_GENERATOR_H
#define RANDOM_GENERATOR_H

#include "build.h"

#include <functional>
#include <random>

namespace random_program {

using Place = std::function<Expr()>; // spells a place in one of its ways

// Which elements belong to which processor: those L with (L - shift) % PROCS = MYPROC, or run
// number MYPROC + shift of PROCS equal runs.
struct Slice {
    bool cyclic = true;
    long shift = 0;
};

class Generator {
public:
    explicit Generator(unsigned long seed, bool teams) : random_(seed), with_teams_(teams) {}
    Program run();

private:
    // random choices
    long below(long n) { return static_cast<long>(random_() % static_cast<unsigned long>(n)); }
    bool chance(int percent) { return below(100) < percent; }
    template <class T> const T &pick(const std::vector<T> &all) { return all[below(all.size())]; }

    // types and variables
    const Type *pointer(Space space, const Type *target, std::vector<Dimension> block = {});
    const Type *number_type();
    const Type *element_type();
    void make_record();
    Dimension size(bool run_time, bool with_procs);
    Variable *variable(const std::string &name, const Type *type, Home home = Home::Private);
    Variable *array(const std::string &name, const Type *type, bool run_time);
    void make_globals();
    void start_function(Function &function);
    const Variable *buffer(const Type *type);

    // expressions
    Expr expr(int depth);
    Expr leaf_expr();
    Expr memory_expr();
    Expr binary_expr(int depth);
    Expr constant_expr();
    Expr number_of(const Expr &leaf);
    Expr real_expr(const Expr &leaf);
    Expr pointer_expr(const Type *type);
    Expr index(const Expr &size);
    Expr some_index(const Dimension &size) { return index(size_expr(size)); }
    Expr element(const Variable *array, const Expr &position);
    Expr static_element(const Variable *variable, const Expr &owner);
    Expr some_element(const Variable *object);
    Expr leaf(Expr place);
    Expr whole_element(Expr place);
    Expr member(const Expr &place, const Member &m);

    // statements of one processor
    Body phase_body();
    void add_sweep(Body &body, const Variable *object, bool only_stores);
    Statement sweep(const Variable *object, const Slice &slice,
                    const std::function<Body(Place)> &f);
    Body own_statements(const Variable *object, const Place &own);
    void write_leaf(Body &body, const Expr &place);
    void write_record(Body &body, const Place &own);
    void split_phase(Body &body, const Place &own);
    void with_pointer(Body &body, const Place &own);
    void bulk(Body &body, const Variable *object, const Place &own);
    void spread_walk(Body &body, const Variable *array);
    void private_statement(Body &body);
    void count(Body &body, const Variable *object);
    Body store_body(const Variable *object, const Place &own);
    void initialize(Body &body, const Variable *array);
    void initialize_leaves(Body &body, const Expr &place, const Type *type);

    // statements of all
    Body uniform_body(int depth, int statements);
    void uniform_statement(Body &body, int depth);
    void phase(Body &body);
    void initialization(Body &body, const Variable *array);
    void make_teams();
    void collective(Body &body);
    void array_collective(Body &body);
    void loop(Body &body, int depth);
    void jump_out(Body &body, int depth);
    void scope(Body &body, int depth);
    void call(Body &body);
    Expr uniform_condition();
    void make_function(const Variable *like);

    std::mt19937_64 random_;
    const bool with_teams_;
    Program program_;
    Function *function_ = nullptr;
    const Variable *targets_ = nullptr;      // the array that all pointers in memory point into
    std::vector<const Variable *> visible_;  // objects of this function
    std::vector<const Variable *> readable_; // those that all processors may read in this phase
    std::vector<const Variable *> numbers_;  // private variables that may be read
    std::vector<const Variable *> targets_of_gets_, indices_, uniform_;
    std::vector<const Variable *> records_; // private ones
    Place own_;                             // the element that this processor may read, if any
    struct Callable {
        Function *function;
        const Variable *like;
    };
    std::vector<Callable> callable_;
    size_t depth_ = 0; // the number of the next index of private loops
    int names_ = 0;
    bool in_loop_ = false;
    bool plain_indices_ = false; // while gets are in progress
    bool far_only_ = false;      // for operations that local places do not have
    int index_depth_ = 0;        // the depth of indices within indices
    int arrays_ = 0;             // operations that are not complete
    int reads_ = 0;              // the number of reads of memory in this phase
};

} // namespace random_program

#endif
