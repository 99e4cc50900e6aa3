// SPDX-License-Identifier: BSD-3-Clause
//
// Random Split-C programs as trees: generate.cc makes them, print.cc writes them
// down, model.cc says what they print.
//
// A program is a sequence of phases with barriers between them.  Outside of phases
// all processors take the same way (loops, functions, automatic spread arrays,
// collectives); inside one each goes its own way and touches no memory that another
// writes, so that what it does depends on no order.
#pragma once

#include "teams.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace random_program {

// A number that may depend on the number of processors, with its spelling.
struct Dimension {
    long each = 0, fixed = 0; // the value is each * PROCS + fixed
    std::string text;

    long value(long procs) const { return each * procs + fixed; }
};

enum class Kind { Integer, Real, Record, Pointer };
enum class Space { Global, Spread };

struct Type;

struct Member {
    std::string name;
    const Type *type;
    int count = 0; // for an array, otherwise 0
    int bits = 0;  // for a bit-field, otherwise 0
    int slot = 0;  // where it begins in the record
};

// Memory is counted in slots, one for each scalar, because the model has no layout.
struct Type {
    Kind kind;
    std::string name; // the spelling
    int size = 0;     // in bytes, for a number
    bool is_signed = true;
    int slots = 1;
    std::vector<Member> members{};  // Record
    Space space = Space::Global;    // Pointer
    const Type *target = nullptr;   // Pointer
    std::vector<Dimension> block{}; // for a Pointer to an array of targets
};

enum class Home {
    Private, // a variable that only its own processor uses
    Static,  // an object at the same address on every processor
    Spread,  // a spread array
};

struct Variable {
    std::string name;
    const Type *type;
    Home home = Home::Private;
    std::vector<Dimension> spread{}; // for Spread: the dimensions left of ::
    std::vector<Dimension> block{};  // the dimensions of the block, or of a local array
    long start = 0;                  // the initial value of private numbers

    long elements(long procs) const;
};

enum class Op {
    // values
    Constant,
    Half,
    Size,
    Null,
    MyProc,
    Procs,
    Load,
    Cast,
    Unary,
    Binary,
    Conditional,
    Assign,
    Step,
    // pointers
    AddressOf,
    Decay,
    PointerAdd,
    PointerDifference,
    PointerEqual,
    ToGlobal,
    ToProc,
    // places
    Name,
    Element,
    Subscript,
    MemberOf,
    Deref,
    PointerIndex,
    Arrow,
    // statements
    FetchAdd,
};

struct Node;
using Expr = std::shared_ptr<const Node>;

struct Node {
    Op op;
    const Type *type; // the type of the value, or of the elements of an array
    std::vector<Expr> kids{};
    // the dimensions that are not subscripted yet; the object of a Size
    std::vector<Dimension> block{};
    std::string token{}; // of Unary, Binary, Assign (empty if plain) and Step
    long value = 0;      // Constant
    const Variable *variable = nullptr;
    const Member *member = nullptr;
    bool prefix = false; // Step
};

struct Statement;
using Body = std::vector<std::shared_ptr<const Statement>>;

enum class Do {
    // executed by each processor for itself
    Evaluate,
    Get,
    Put,
    Store,
    Sync,
    Bulk,
    If,
    For,
    Declare,
    // executed by all processors alike
    Phase,
    StorePhase,
    UniformFor,
    UniformIf,
    Scope,
    Break,
    Continue,
    Goto,
    Label,
    Return,
    Collective,
    ArrayCollective, // its body comes before it is complete
    Call,
    Dump,
    PrintLocals,
};

struct Function;

struct Statement {
    Do what;
    std::vector<Expr> exprs{};
    Body body{}, otherwise{};
    const Variable *variable = nullptr;
    std::vector<const Variable *> variables{}; // of Scope: automatic spread arrays; of PrintLocals
    std::string token{};                       // a label, or a library function
    const Function *function = nullptr;
    ArrayCall array{};
};

struct Function {
    std::string name;
    std::vector<const Variable *> parameters{};
    std::vector<const Variable *> locals{};
    Body body{};
};

struct Program {
    std::vector<const Type *> records{};
    std::vector<const Variable *> globals{};
    std::vector<std::shared_ptr<Function>> functions{}; // the last one is splitc_main
    std::set<ArrayType> arrays{};                       // of calls on teams
    std::vector<Team> teams{Team{}};                    // the first one is all processors
    // The owners of the objects above.
    std::vector<std::unique_ptr<Type>> types{};
    std::vector<std::unique_ptr<Variable>> variables{};
};

// The names of `int` and the like here.
namespace basic {
extern const Type Char, UChar, Short, UShort, Int, UInt, Long, ULong, Float, Double;
}

// `teams`: it may have teams and operations on arrays.
Program generate(unsigned long seed, bool teams = true);
std::string text_of(const Program &program);

// Returns what the program prints on that number of processors, with sorted lines.  Throws
// std::logic_error if the program has a race, or reads what was not written: then the generator is
// wrong.
std::string model_output(const Program &program, int procs);

long product(const std::vector<Dimension> &dimensions, long procs);
bool is_bit_field(const Node &place);

} // namespace random_program
