// SPDX-License-Identifier: BSD-3-Clause
//
// The folder ast/ holds the tree that the parser builds, and the types of its expressions (type.h).
// It includes lex/ only.
//
// Every node knows the tokens it was made of, [first, last), and whether it is *touched*: whether a
// Split-C construct occurs in it, so that its text has to change.  The text of all other nodes is
// copied to the output byte by byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ast/pool.h"
#include "ast/type.h"
#include "lex/lex.h"

namespace splitcc {

struct Declaration;
struct Declarator;
struct Stmt;
struct TypeName;
struct Expr;

enum class NodeKind : uint8_t { Expr, Stmt, Declaration, TypeName, InitList };

struct Node {
    explicit Node(NodeKind k) : node(k) {}
    NodeKind node;
    bool touched = false;
    uint32_t first = 0;
    uint32_t last = 0;
};

// ---- symbols

enum class SymbolKind : uint8_t { Object, Function, Typedef, Constant, Tag, Builtin };
enum class Storage : uint8_t { None, Typedef, Extern, Static, Auto, Register };

struct Symbol {
    SymbolKind kind = SymbolKind::Object;
    Storage storage = Storage::None;
    bool file_scope = false;
    bool parameter = false;
    bool redeclares = false; // it was declared before
    Name *name = nullptr;
    const Type *type = nullptr;
    std::optional<int64_t> value; // Constant
    Record *record = nullptr;     // Tag
    Enumeration *enumeration = nullptr;
    uint32_t token = 0; // the token that declared it
    uint32_t depth = 0; // the depth of the scope that it is declared in
    Symbol *shadowed = nullptr;
    bool hides_type = false;    // it hides the name of a type, which emitted code may have to use
    std::vector<uint32_t> uses; // the tokens that name it, if hides_type
    std::string emitted;        // its name in the output, if that differs
    Symbol *twin = nullptr;     // the program's typedef for a system header's of its name, or this
                                // one for the program's
    Expr *start = nullptr; // of a static pointer: its first value, once spread arrays are allocated
    Declaration *library = nullptr; // split-c.h declares it, there
    bool implicit = false;          // a function that was called without a declaration ...
    uint32_t kept_calls = 0;        // ... of so many calls the value is used ...
    uint32_t pointer_calls = 0;     // ... and of so many of these it becomes a local pointer,
    uint32_t neutral_calls = 0;     // or could be one
};

// A function that active messages may run.
struct Handler {
    Symbol *function = nullptr;
    std::vector<const Type *> params;
    // Of an old-style function, how many arguments behind the source it needs; what else comes is
    // dropped.
    std::optional<size_t> least;
    bool words = false;     // of old style, it takes words alone, and no block
    bool elsewhere = false; // only another file tells its parameters; so it gets all that may come
};

// ---- expressions

enum class ExprKind : uint8_t {
    Error,
    Ident,
    Number,
    Char,
    String,
    Paren,
    Index,
    Call,
    Dot,
    Arrow,
    PostInc,
    PreInc, // op is Inc or Dec, for PostInc too
    Unary,  // + - ~ ! real imag extension
    Deref,
    AddressOf,
    LabelAddress,
    Cast,
    CompoundLiteral,
    SizeofExpr,
    SizeofType, // sizeof or alignof, as op says
    Binary,
    Logical,
    Conditional,
    Comma,
    Assign, // op is = or a compound operator
    StmtExpr,
    Generic,
    VaArg,
    Offsetof,
    TypesCompatible,
    ChooseExpr,
    ConvertVector,
    // Split-C
    SplitPhase, // l := r
    Store,      // l :- r
    RunAtOwner, // a call of atomic(); args are the function's name, the object and the arguments
    ToLocal,    // a call of tolocal()
    ToProc,     // a call of toproc()
    // Semantic analysis inserts these; they have the tokens of their operand.
    GlobalRead,  // the value of an object in the global address space
    GlobalDecay, // a global pointer to the first element of an array in the global address space
    SpreadDecay, // a spread pointer to the first block of a spread array
    Convert,     // a conversion to `type` that only Split-C has: between kinds of pointer, or of a
                 // pointer to a word of an active message
};

struct Expr : Node {
    explicit Expr(ExprKind k) : Node(NodeKind::Expr), kind(k) {}

    ExprKind kind;
    Tok op = Tok::End;
    bool lvalue = false;
    bool global = false;    // an lvalue in the global address space
    bool discarded = false; // the value is not used
    const Type *type = nullptr;
    std::optional<int64_t> value; // set for integer constant expressions
    Expr *a = nullptr;            // operands, in the order of the source
    Expr *b = nullptr;
    Expr *c = nullptr;
    std::vector<Expr *> args; // of a Call; the results of a Generic
    // the associations of a Generic (null is `default`); of TypesCompatible
    std::vector<TypeName *> types;
    TypeName *type_name = nullptr;  // of Cast, CompoundLiteral, SizeofType, VaArg and Offsetof
    Node *body = nullptr;           // the Stmt of a StmtExpr, the InitList of a CompoundLiteral
    Symbol *symbol = nullptr;       // of an Ident
    const Member *member = nullptr; // of Dot and Arrow
    // the token of the operator; of Dot and Arrow, that of the member's name
    uint32_t name_token = 0;
};

// Returns the expression without parentheses around it.
const Expr *strip(const Expr *e);

// Returns whether `e` names a bit-field.
bool is_bit_field(const Expr *e);

// An initializer in braces.
struct InitList : Node {
    InitList() : Node(NodeKind::InitList) {}
    // The values, and the indices of designators, in the order of the source: Expr or InitList.
    // Static initializers keep only those that have to change.
    std::vector<Node *> parts;
};

// ---- declarations

struct Param {
    Declaration *declaration = nullptr;
    Symbol *symbol = nullptr;
};

// One step of the derivation of a type, as it is written.
struct Part {
    enum Kind : uint8_t { Pointer, Array, Function, Spread } kind = Pointer;
    Space space = Space::Local;
    uint8_t quals = 0;
    uint32_t first = 0, last = 0;      // the qualifiers after the star, or the suffix
    std::vector<Extent> extents;       // one for an Array; for a Spread, the dimensions left of ::
    std::vector<Declaration *> params; // of a Function
    std::vector<Symbol *> param_symbols;
    bool prototype = false;
    bool variadic = false;
};

struct Declarator {
    uint32_t first = 0, last = 0; // tokens
    uint32_t name_token = UINT32_MAX;
    Name *name = nullptr;
    std::vector<Part> parts; // from the name outward, towards the base type
    bool touched = false;    // the text of one of the parts has to change
    bool far = false;        // a part is a pointer into the global address space, or a spread array
};

struct RecordBody {
    Record *record = nullptr;
    uint32_t first = 0, last = 0; // from `struct` to the token after `}`
    std::vector<Node *> members;  // declarations and static assertions
};

// The specifiers of a declaration.
struct Specifiers {
    uint32_t first = 0, last = 0;
    Storage storage = Storage::None;
    bool is_inline = false;
    const Type *type = nullptr;
    // The tokens that belong to the declaration and not to its type: storage class, inline,
    // attributes and alignment, in the order of the source.
    std::vector<std::pair<uint32_t, uint32_t>> not_type;
    RecordBody *body = nullptr;      // a struct or union defined here
    Node *typeof_operand = nullptr;  // Expr or TypeName
    bool enum_body = false;          // an enum defined here
    bool ended = false;              // the semicolon is missing, which has been reported
    std::vector<Expr *> enumerators; // the values of an enum defined here
    bool touched = false;
};

struct InitDeclarator {
    Declarator declarator;
    Symbol *symbol = nullptr;
    const Type *type = nullptr;
    Node *init = nullptr;      // Expr or InitList
    Expr *bit_width = nullptr; // for a member that is a bit-field
    // the asm label and the attributes behind the declarator
    uint32_t after_first = 0, after_last = 0;
};

enum class DeclarationRole : uint8_t { Object, Member, Parameter };

struct Declaration : Node {
    Declaration() : Node(NodeKind::Declaration) {}
    DeclarationRole role = DeclarationRole::Object;
    bool file_scope = false;
    bool dropped = false; // a declaration of split-c.h, which the program replaces by its own
    Specifiers specifiers;
    std::vector<InitDeclarator> declarators;
    bool is_definition = false; // it defines a function
    Stmt *body = nullptr;       // the body of a function, if something in it has to change
    std::vector<Declaration *> old_style; // the parameter declarations of a K&R definition
};

struct TypeName : Node {
    TypeName() : Node(NodeKind::TypeName) {}
    Specifiers specifiers;
    Declarator declarator;
    const Type *type = nullptr;
};

// ---- statements

enum class StmtKind : uint8_t {
    Compound,
    Expression,
    For,
    Declaration,
    Asm,
    Null,
    Other,
};

// Statements of kind Other need no more than their children.
struct Stmt : Node {
    explicit Stmt(StmtKind k) : Node(NodeKind::Stmt), kind(k) {}
    StmtKind kind;
    std::vector<Node *> children;         // in source order
    const Declarator *function = nullptr; // for a Compound that is the body of a function
    const Type *result = nullptr;         // the type that this function returns
};

// Tokens that have to change wherever they are copied, such as the operand of an attribute or of
// _Alignas, and their new text.
struct Replacement {
    uint32_t first, last;
    std::string text;
};

// The nodes of a translation unit.  They live as long as this object, unless they are released.
class Index;

class Ast {
public:
    Expr *expr(ExprKind kind) { return exprs_.make(kind); }
    Stmt *stmt(StmtKind kind) { return stmts_.make(kind); }
    Declaration *declaration() { return declarations_.make(); }
    TypeName *type_name() { return type_names_.make(); }
    InitList *init_list() { return init_lists_.make(); }
    RecordBody *record_body() { return record_bodies_.make(); }
    Symbol *symbol() { return symbols_.make(); }

    // The numbers of nodes of each kind at one moment.
    struct Mark {
        size_t exprs, stmts, declarations, type_names, init_lists, record_bodies;
    };
    Mark mark() const
    {
        return {exprs_.size(),      stmts_.size(),      declarations_.size(),
                type_names_.size(), init_lists_.size(), record_bodies_.size()};
    }
    // Keeps all nodes made so far, because a type points into the tree.
    void keep() { kept_ = mark(); }
    // Releases the nodes made after `since`, except those that keep() holds.
    void release(const Mark &since);
    // Releases the nodes made after `since` for a scope that ends.  The types of that scope end
    // with it, so keep() no longer matters.
    void release_scope(const Mark &since);

    Index *index = nullptr; // of what editors ask; null if nobody does
    bool checks = false;    // -fcheck
    bool gnu89 = false;     // -std=gnu89 and the like
    bool large_stack = false;
    bool notes_labels = false;
    std::vector<uint32_t> labels; // the first tokens of labels in their order, if notes_labels
    bool profile = false;         // -fprofile-lines
    bool translated = false; // splitcc has made this text before; splitc_main has its entry already
    uint32_t main = 0;       // the token that names a definition of main(), or 0

    // The external declarations that matter after parsing, in their order: definitions of
    // functions, declarations of split-c.h, and what has to change.
    std::vector<const Node *> unit;
    // Returns whether the unit, as far as it has been parsed, defines the function.
    bool defines(const Name *function) const;
    std::vector<Replacement> replaced;
    // What is declared before the external declaration that begins with a token.
    std::vector<std::pair<uint32_t, std::string>> early;
    std::vector<const Name *> objects; // the program's own of file scope, at each declaration
    std::vector<Handler> handlers;
    bool wants_messages = false;   // messages are sent, and <split-c/am.h> is not included
    bool implied_messages = false; // it is, and the source does not say so
    // the symbols that get another name, because they hide the name of a type
    std::vector<Symbol *> renamed;

private:
    Pool<Expr> exprs_;
    Pool<Stmt> stmts_;
    Pool<Declaration> declarations_;
    Pool<TypeName> type_names_;
    Pool<InitList> init_lists_;
    Pool<RecordBody> record_bodies_;
    Pool<Symbol> symbols_;
    Mark kept_ = {};
};

} // namespace splitcc
