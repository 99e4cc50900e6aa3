// SPDX-License-Identifier: BSD-3-Clause
//
// The folder lower/ turns the tree into C that calls the runtime's ABI (split-c/abi.h).  Each
// touched node becomes new text; the others stay ranges of source tokens.  It includes ast/, emit/,
// whose Rope it builds, and what these include.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ast/ast.h"
#include "emit/emit.h"
#include "emit/rope.h"
#include "source/source.h"

namespace splitcc {

// Begins a statement expression, which "})" ends.  Without __extension__, -pedantic would warn
// users of text that is not theirs.
constexpr const char *kBlock = "__extension__ ({ ";

constexpr std::string_view kUnused = " __attribute__((unused))";

// Returns the qualifiers, each with a space behind it.
std::string quals_text(uint8_t quals);

// Returns the C type of a pointer into that space.  All are typedefs of splitc_ptr, so that a
// debugger can tell them apart.
std::string far_type(Space space);
// Returns the C type of the outermost part of a declarator that is a far pointer or a spread array.
std::string far_type(const Declarator &d);

// What the program does to an object in the global address space.
enum class Access { Read, Write, Get, Put, Store, Change };
std::string access_name(Access how);

// How a definition for inlining gets a weak symbol: by the assembler, which gcc does not see; by an
// attribute, as clang takes it; or by one that no inline function has, as gcc takes it.
enum class Weak { ByAssembler, ByAttribute, NotInline };

class Lower {
public:
    Lower(const Source &source, Tokens &tokens) : source_(source), tokens_(tokens) {}

    // Gives functions whose definition is for inlining alone a weak one, for calls that are not
    // inlined.  `gnu` is whether these are the `extern inline` ones.
    void define_inlines(const Ast &ast, bool gnu, Weak how);

    // Puts the comments that the source has before these tokens into the output, since the C
    // compiler reads them.
    void keep_comments(const std::vector<uint32_t> &tokens);

    // Lowers the whole translation unit.
    Rope unit(const Ast &ast);

    // Returns the text that replaces single tokens within the ranges of the rope.
    const Substitutions &substitutions() const { return substitutions_; }

private:
    struct Splice;
    struct Target;

    // nodes (lower.cc)
    void rename(const Symbol *symbol);
    Rope node(const Node *n);
    Rope children(const Node *n, std::vector<const Node *> list);
    Rope stmt(const Stmt *s);
    Rope compound(const Stmt *s);
    Rope for_statement(const Stmt *s);

    // types (lower_type.cc)
    Rope type(const Type *t) { return declare(t, {}); }
    Rope declare(const Type *t, Rope inner);
    Rope base_name(const Type *t);
    Rope extent(const Extent &e);
    static std::optional<int64_t> size_in_function(const Type *t);
    Rope size_of(const Type *t);
    Rope capture(const Type *t);
    Rope capture_far(const Type *t);
    Rope capture_parameters(const Declarator &function);

    // declarations (lower_decl.cc)
    Rope definition(const Specifiers &s, bool member);
    void define_in_front(const Specifiers &s);
    void define_dropped(const Expr *e);
    Rope type_name(const TypeName *t);
    Rope specifiers(const Specifiers &s, bool with_storage);
    Rope not_type(const Specifiers &s);
    Rope declarator(const Declarator &d);
    Rope after_declarator(const InitDeclarator &item);
    Rope function_suffix(const Part &part);
    Rope array_suffix(const Part &part);
    Rope declaration(const Declaration *d);
    Rope far_item(const Declaration *d, const InitDeclarator &item, bool statement);
    void forget_typedef(const Type *t);
    bool needs_split(const Declaration *d) const;

    // spread arrays (lower_spread.cc)
    Rope block_count(const Type *array);
    Rope automatic_spread(const Declaration *d, const InitDeclarator &item);
    Rope static_spread(const Declaration *d, const InitDeclarator &item);
    Rope agreed_size(const Type *t, int64_t bytes);
    Rope static_pointer(const Declaration *d, const InitDeclarator &item);
    Rope registered(const std::string &id, const InitDeclarator &item, std::string base);

    // functions (lower_function.cc)
    Rope function_definition(const Declaration *d);
    Rope entry(const Declaration *d);
    bool is_for_inlining(const Declaration *d, bool gnu) const;
    Rope prototype(const Declaration *d);

    // expressions (lower_expr.cc)
    Rope expr(const Expr *e);
    Rope generic(const Expr *e);
    Rope hoisted(const Expr *e);
    Rope convert(const Expr *e);
    Rope cast(const Expr *e);
    Rope size(const Expr *e);
    Rope binary(const Expr *e);

    // where global objects are (lower_address.cc)
    Target locate(const Expr *e);
    Target locate_pointee(const Expr *pointer);
    Target locate_element(const Expr *pointer, Rope index);
    Target locate_member(const Expr *e);
    Rope offset_of(const Type *record, Rope path);
    Rope address(const Expr *e);
    Rope instrumented(Rope address, Access how, Rope size, const Expr *e);
    Target target(const Expr *e, Access how, Rope size, const Expr *blamed);
    std::string spread_dimension(const Expr *e) const;
    Rope spread_position(const Expr *e, const Expr *&base);
    Rope spread_element(const Expr *e);
    Rope advance(Rope pointer, const Type *type, Rope count);
    Rope scaled(const Type *type, Rope count);

    // reads and writes (lower_access.cc)
    Rope read(const Expr *e);
    Rope write(const Expr *to, const Expr *value, Access how, bool discarded);
    Rope write_bits(const Expr *to, const Expr *value, bool discarded);
    Rope modify(const Expr *e, const Expr *operand);
    Rope modify_bits(const Expr *e, const Expr *operand);
    Rope step(const Expr *e);
    Rope change_local(const Expr *e, const Expr *operand, const Type *t, bool postfix);
    Rope change_cast(const Expr *e, const Expr *operand, bool postfix);
    Rope assign(const Expr *e);
    Rope split_phase(const Expr *e);
    Rope parent_of_bits(const Expr *e, const Type *&record);
    Rope operation(Rope value, const Type *type, const Expr *e, const Expr *operand);
    Rope assigned(const Expr *e, const Expr *operand);
    Rope hold_pointer(Target &target);

    // run-time checks (lower_check.cc)
    std::string place(const Node *n) const;
    std::string quoted_source(const Expr *e) const;
    Rope checked(Rope address, Access how, Rope size, const Expr *e);
    Rope checked_index(Rope index, Rope extent, const std::string &array, const Expr *e);
    Rope block_index(const Expr *e, const Expr *pointer, const Expr *index);
    Rope enter(const Expr *e, std::string_view function);
    Rope call(const Expr *e);

    // counts by line (lower_profile.cc)
    std::string site(const Expr *e, std::string_view what);
    Rope counted(Rope pointer, Access how, Rope size, const Expr *e);

    // functions that run elsewhere (lower_remote.cc)
    Rope run_at_owner(const Expr *e, const Expr *to = nullptr);
    Rope runner(const std::string &id, std::string_view fn, const Type *type);
    Rope argument_members(const Type *type);
    Rope handlers(const std::vector<Handler> &handlers);

    std::string fresh(const std::string &what)
    {
        return "splitc_" + what + std::to_string(++serial_);
    }
    const Source &source_;
    Tokens &tokens_;
    Substitutions substitutions_;
    Rope pending_;     // text at file scope before the current external declaration
    Rope end_;         // text at the end of the unit
    Rope definitions_; // of types, in front of the current statement or external declaration
    Rope agreed_;      // what the C compiler has to find as what moves to file scope does
    // the specifiers whose types are defined in front, and no more where they stand
    std::set<const Specifiers *> defined_;
    // the spread arrays with static storage that are registered
    std::set<std::string, std::less<>> registered_;
    unsigned serial_ = 0;
    bool checks_ = false;
    bool profile_ = false;
    std::string last_site_; // the last site of -fprofile-lines, which the next one is linked to
    bool translated_ = false;
    // the operand of the last &, whose index may be one past the end
    const Expr *addressed_ = nullptr;
    bool hoisting_ = false; // the text goes to file scope, where local names mean nothing
};

// An object in the global address space: a pointer, and an offset in bytes on the same processor.
struct Lower::Target {
    Rope pointer;
    Rope offset; // empty if there is none

    Target operator+(Rope more) &&
    {
        return {std::move(pointer),
                offset.empty() ? std::move(more) : std::move(offset) + " + " + std::move(more)};
    }
    // Return the name of an access function, and the arguments that name the object.
    std::string access(const std::string &function) const
    {
        return std::string(function) + (offset.empty() ? "" : "_at");
    }
    Rope arguments() const { return offset.empty() ? pointer : pointer + ", " + offset; }
};

// Builds the rope of a node from its source text and the ropes of its children.
struct Lower::Splice {
    Lower &lower;
    Rope rope;
    uint32_t at;

    Splice(Lower &l, uint32_t first) : lower(l), at(first) {}
    void replace(uint32_t first, uint32_t last, Rope with)
    {
        rope += Rope::tokens(at, first);
        if (first < last)
            rope += Rope::gap(first);
        rope += std::move(with);
        if (first < last)
            rope += Rope::skip(first, last);
        at = last;
    }
    void child(const Node *n)
    {
        if (n && (n->touched || lower.hoisting_))
            replace(n->first, n->last, lower.node(n));
    }
    Rope finish(uint32_t last)
    {
        rope += Rope::tokens(at, last);
        return std::move(rope);
    }
};

} // namespace splitcc
