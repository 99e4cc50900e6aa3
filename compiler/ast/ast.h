// SPDX-License-Identifier: BSD-3-Clause
//
// The tree that the parser builds.  Every node knows the tokens it came from,
// [first, last), and whether it is *touched*: whether a Split-C construct
// occurs in it, so that its text has to change.  What is not touched is copied
// to the output byte by byte.
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
    Name *name = nullptr;
    const Type *type = nullptr;
    std::optional<int64_t> value; // Constant
    Record *record = nullptr;     // Tag
    Enumeration *enumeration = nullptr;
    uint32_t token = 0; // where it was declared
    uint32_t depth = 0; // scope
    Symbol *shadowed = nullptr;
    bool hides_type = false;        // a type's name, which emitted code might have to use
    std::vector<uint32_t> uses;     // the tokens that name it, if it hides one
    std::string emitted;            // its name in the output where that differs
    Declaration *library = nullptr; // declared by split-c.h, there
    bool implicit = false;          // a function that was only called
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
    PreInc, // PreInc, PostInc: op is Inc or Dec
    Unary,  // + - ~ ! real imag extension
    Deref,
    AddressOf,
    LabelAddress,
    Cast,
    CompoundLiteral,
    SizeofExpr,
    SizeofType, // alignof too
    Binary,
    Logical,
    Conditional,
    Comma,
    Assign, // op: = and the compound ones
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
    RunAtOwner, // a call of atomic(); args: the function's name, the object, arguments
    ToLocal,    // a call of tolocal()
    ToProc,     // a call of toproc()
    // inserted by semantic analysis; they have their operand's tokens
    GlobalRead,  // the value of an object in the global address space
    GlobalDecay, // an array there, to a global pointer to its first element
    SpreadDecay, // a spread array, to a spread pointer to its first block
    Convert,     // to `type`, between kinds of pointer
};

struct Expr : Node {
    explicit Expr(ExprKind k) : Node(NodeKind::Expr), kind(k) {}

    ExprKind kind;
    Tok op = Tok::End;
    bool lvalue = false;
    bool global = false;    // an lvalue in the global address space
    bool discarded = false; // the value is not used
    const Type *type = nullptr;
    std::optional<int64_t> value; // of an integer constant expression
    Expr *a = nullptr;            // operands, in the order of the source
    Expr *b = nullptr;
    Expr *c = nullptr;
    std::vector<Expr *> args;       // Call; Generic's results
    std::vector<TypeName *> types;  // Generic's associations (null: default), TypesCompatible
    TypeName *type_name = nullptr;  // Cast, CompoundLiteral, SizeofType, VaArg, Offsetof
    Node *body = nullptr;           // StmtExpr's Stmt, CompoundLiteral's InitList
    Symbol *symbol = nullptr;       // Ident
    const Member *member = nullptr; // Dot, Arrow
    uint32_t name_token = 0;        // Dot, Arrow: the member's name
};

// An expression without the parentheses around it.
const Expr *strip(const Expr *e);

// Whether e names a bit-field.
bool is_bit_field(const Expr *e);

// { ... } of an initializer.
struct InitList : Node {
    InitList() : Node(NodeKind::InitList) {}
    // Values and designators' indices, in the order of the source: Expr or InitList.  In
    // static initializers only those that have to change.
    std::vector<Node *> parts;
};

// ---- declarations

struct Param {
    Declaration *declaration = nullptr;
    Symbol *symbol = nullptr;
};

// One step of a type's derivation, as written.
struct Part {
    enum Kind : uint8_t { Pointer, Array, Function, Spread } kind = Pointer;
    Space space = Space::Local;
    uint8_t quals = 0;
    uint32_t first = 0, last = 0;      // tokens: qualifiers after the star; or the suffix
    std::vector<Extent> extents;       // Array: one; Spread: the dimensions left of ::
    std::vector<Declaration *> params; // Function
    std::vector<Symbol *> param_symbols;
    bool prototype = false;
    bool variadic = false;
};

struct Declarator {
    uint32_t first = 0, last = 0; // tokens
    uint32_t name_token = UINT32_MAX;
    Name *name = nullptr;
    std::vector<Part> parts; // from the name outward to the base type
    bool touched = false;    // some part's own text has to change
    bool far = false;        // a part is a pointer into global space, or a spread array
    bool parameter_far = false;
};

struct RecordBody {
    Record *record = nullptr;
    uint32_t first = 0, last = 0; // tokens: `struct` up to and including `}`
    std::vector<Node *> members;  // declarations and static assertions
};

// The specifiers of a declaration.
struct Specifiers {
    uint32_t first = 0, last = 0;
    Storage storage = Storage::None;
    bool is_inline = false;
    bool thread_local_ = false;
    const Type *type = nullptr;
    // Tokens that belong to the declaration, not to the type: storage class,
    // inline, attributes, alignment; in order.
    std::vector<std::pair<uint32_t, uint32_t>> not_type;
    RecordBody *body = nullptr;      // a struct or union defined here
    Node *typeof_operand = nullptr;  // Expr or TypeName
    bool enum_body = false;          // an enum defined here
    bool ended = false;              // its semicolon is missing, and was told of
    std::vector<Expr *> enumerators; // values of an enum defined here
    bool touched = false;
};

struct InitDeclarator {
    Declarator declarator;
    Symbol *symbol = nullptr;
    const Type *type = nullptr;
    Node *init = nullptr;                     // Expr or InitList
    Expr *bit_width = nullptr;                // of a member
    uint32_t after_first = 0, after_last = 0; // asm label and attributes after the declarator
    bool unsized_before = false;
};

enum class DeclarationRole : uint8_t { Object, Member, Parameter };

struct Declaration : Node {
    Declaration() : Node(NodeKind::Declaration) {}
    DeclarationRole role = DeclarationRole::Object;
    bool file_scope = false;
    bool dropped = false; // the library's, where the program declares its own
    Specifiers specifiers;
    std::vector<InitDeclarator> declarators;
    bool is_definition = false;           // of a function
    Stmt *body = nullptr;                 // of a function, if something in it has to change
    std::vector<Declaration *> old_style; // K&R parameter declarations
    bool returns_value = false;           // some return statement has an expression
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

// Statements other than the named kinds need no more than their children.
struct Stmt : Node {
    explicit Stmt(StmtKind k) : Node(NodeKind::Stmt), kind(k) {}
    StmtKind kind;
    std::vector<Node *> children;         // in source order
    const Declarator *function = nullptr; // Compound that is a function's body
    const Type *result = nullptr;         // and what that function returns
};

// An operand of an attribute or of _Alignas that has to change: the tokens, and what they become.
struct AttributeOperand {
    uint32_t first, last;
    std::string text;
};

// The nodes of a translation unit.  They live as long as this, unless they are released.
class Ast {
public:
    Expr *expr(ExprKind kind) { return exprs_.make(kind); }
    Stmt *stmt(StmtKind kind) { return stmts_.make(kind); }
    Declaration *declaration() { return declarations_.make(); }
    TypeName *type_name() { return type_names_.make(); }
    InitList *init_list() { return init_lists_.make(); }
    RecordBody *record_body() { return record_bodies_.make(); }
    Symbol *symbol() { return symbols_.make(); }

    // A moment in the making of the tree: so many nodes of each kind.
    struct Mark {
        size_t exprs, stmts, declarations, type_names, init_lists, record_bodies;
    };
    Mark mark() const
    {
        return {exprs_.size(),      stmts_.size(),      declarations_.size(),
                type_names_.size(), init_lists_.size(), record_bodies_.size()};
    }
    // A type points into the tree: what has been made so far has to stay.
    void keep() { kept_ = mark(); }
    // What nobody needs any longer: all nodes made since then, if they need not stay.
    void release(const Mark &since);
    // The same for a scope that is left, and the types in it with it.
    void release_scope(const Mark &since);

    bool checks = false; // -fcheck
    bool gnu89 = false;  // -std=gnu89 and the like
    bool large_stack = false;
    bool notes_labels = false;
    std::vector<uint32_t> labels; // if it does: the first tokens of labels, in their order
    bool profile = false;         // -fprofile-lines
    bool translated = false;      // it came from us: what belongs to splitc_main is there
    uint32_t main = 0;            // the token that names a definition of main()

    // In order, of the external declarations: definitions of functions, the library's, and what
    // has to change.
    std::vector<const Node *> unit;
    std::vector<AttributeOperand> in_attributes;
    std::vector<Symbol *> handlers; // functions that messages may run
    std::vector<Symbol *> renamed;  // what gets another name because it hides a type's

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
