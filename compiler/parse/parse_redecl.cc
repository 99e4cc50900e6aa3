// SPDX-License-Identifier: BSD-3-Clause
//
// What old C compilers took and today's do not, where a program declares a function again: a static
// function after its use, a function of another type than a use implied, and functions of the
// program's own that system headers declare today.
#include "parse/parse.h"

#include <algorithm>

namespace splitcc {

// Returns the first token of the external declaration that a token is in.
uint32_t Parser::external_of(uint32_t token) const
{
    auto next = std::upper_bound(externals_.begin(), externals_.end(), token);
    return next == externals_.begin() ? token : *(next - 1);
}

// Returns whether the type is written as C writes it, wherever it stands.
static bool is_plain(const Type *t)
{
    while (t->is_local_pointer())
        t = t->base;
    return t->is_arithmetic() || t->kind == TypeKind::Void ||
           (t->kind == TypeKind::Record && t->record->tag);
}

// Declares a function, or a static variable, before the external declaration of its first use.
void Parser::declare_early(const Symbol *symbol, uint32_t use, bool is_static)
{
    const bool function = symbol->kind == SymbolKind::Function;
    const Type *type = function ? symbol->type->base : symbol->type;
    if (!is_plain(type))
        return;
    const auto [known, added] = early_names_.emplace(symbol->name, ast_.early.size());
    if (added)
        ast_.early.emplace_back(external_of(use), describe(type) + " " +
                                                      std::string(symbol->name->text) +
                                                      (function ? "();" : ";"));
    std::string &text = ast_.early[known->second].second;
    if (is_static && !text.starts_with("static "))
        text.insert(0, "static ");
}

// What is static, or returns something else than int, after a use that did not say so.
void Parser::note_use_before(const Symbol *symbol, Symbol *old)
{
    const bool function = symbol->kind == SymbolKind::Function;
    if (!scopes_.at_file_scope()) {
        if (!old && (function || symbol->storage == Storage::Extern))
            used_in_blocks_.emplace(symbol->name, symbol->token);
        if (function && symbol->storage != Storage::Static && (!old || old->implicit))
            declared_in_block(symbol, old);
        return;
    }
    const bool is_static = symbol->storage == Storage::Static;
    if (function && old && old->kind == SymbolKind::Function) {
        const Type *result = symbol->type->base;
        // That there is no value is too late for who has used it, and so no more than a warning.
        const bool none = result->kind == TypeKind::Void && old->kept_calls > 0;
        if (is_static ? old->storage != Storage::Static
                      : old->implicit && result->unqualified->kind != TypeKind::Int && !none)
            declare_early(symbol, old->token, is_static);
    } else if (!old && is_static) {
        auto in_block = used_in_blocks_.find(symbol->name);
        if (in_block != used_in_blocks_.end())
            declare_early(symbol, in_block->second, true);
    }
}

// `char *f();` in one block says what f returns where others call it without a declaration, before
// or behind, as it did in the compilers of the 1990s.
void Parser::declared_in_block(const Symbol *function, Symbol *called)
{
    if (function->type->base->unqualified->kind == TypeKind::Int)
        return;
    if (called) {
        declare_early(function, called->token, false);
        called->type = function->type;
        called->implicit = false;
    } else if (Symbol *&of_block = of_blocks_[function->name]; !of_block) {
        of_block = ast_.symbol();
        of_block->kind = SymbolKind::Function;
        of_block->file_scope = true;
        of_block->name = function->name;
        of_block->type = function->type;
        of_block->token = function->token;
    }
}

void Parser::take_from_block(Name *name)
{
    auto found = of_blocks_.find(name);
    if (name->ordinary || !is(Tok::LParen) || found == of_blocks_.end())
        return;
    declare_early(found->second, found->second->token, false);
    name->ordinary = found->second;
}

// Functions of the C library whose values programs also hand on as they are: asctime(gmtime(&t)).
static constexpr std::string_view kPointers[] = {"asctime", "ctime",     "getenv",
                                                 "gmtime",  "localtime", "strerror"};

// A function that no declaration is of, and whose every value becomes a pointer, returns one: an
// int was as good as that where pointers had 32 bits.
void Parser::return_pointers()
{
    for (const Symbol *fn : sema_.implicit_functions()) {
        const std::string name(fn->name->text);
        const bool known = std::ranges::find(kPointers, name) != std::end(kPointers);
        if (fn->name->ordinary != fn || (fn->pointer_calls == 0 && !known) ||
            fn->type->base->is_pointer() ||
            fn->pointer_calls + fn->neutral_calls != fn->kept_calls ||
            early_names_.contains(fn->name))
            continue;
        const bool text = name.starts_with("st") || name.ends_with("index"); // to gcc, which knows
        ast_.early.emplace_back(external_of(fn->token),
                                (text ? "char *" : "void *") + name + "();");
        diag_.warning(tokens_[fn->token].range(), "-Wint-to-pointer-cast",
                      "'" + name +
                          "' is not declared; it is taken to return a pointer, as its value "
                          "becomes one");
    }
}

// `static int f();` in a block declares a function of file scope.
void Parser::move_static(const Symbol *symbol, const Specifiers &s)
{
    for (auto [first, last] : s.not_type)
        if (tokens_[first].kind == Tok::KwStatic)
            ast_.replaced.push_back({first, last, ""});
    declare_early(symbol, symbol->token, true);
}

bool Parser::stands_in_system(const Symbol *symbol) const
{
    return source_.position(tokens_[symbol->token].offset).system;
}

bool Parser::is_of_system(const Symbol *symbol) const
{
    return symbol && symbol->kind == SymbolKind::Function && !symbol->library &&
           !symbol->implicit && symbol->file_scope && stands_in_system(symbol);
}

// `extern int errno;` without <errno.h> means what is a macro there today.
void Parser::take_errno(Symbol *symbol)
{
    if (symbol->name->text != "errno" || symbol->storage != Storage::Extern ||
        symbol->type->kind != TypeKind::Int || stands_in_system(symbol))
        return;
    symbol->emitted = "(*__errno_location ())"; // for the declaration, too
    symbol->hides_type = true;
    ast_.renamed.push_back(symbol);
}

// The program has a typedef of its own with the name of a system header's, as `key_t` may be, which
// <stdlib.h> has today.  The second of them gets another name.  Returns whether that is so.
bool Parser::take_type_of_system(Symbol *symbol)
{
    Symbol *old = symbol->name->ordinary;
    if (!old || old->kind != SymbolKind::Typedef || !old->file_scope || !symbol->file_scope ||
        old->token == 0)
        return false;
    const bool system = stands_in_system(symbol);
    old = typedef_for(old, symbol->token);
    const bool same = same_type(old->type, symbol->type);
    if (stands_in_system(old) == system) { // once more
        if (!same || !old->twin)
            return false;
        symbol->emitted = old->emitted;
        symbol->twin = old->twin;
    } else if (!same) {
        symbol->emitted =
            (system ? "splitc_system_" : "splitc_own_") + std::string(symbol->name->text);
        symbol->twin = old;
        old->twin = symbol;
    } else {
        return false;
    }
    symbol->hides_type = !symbol->emitted.empty();
    if (symbol->hides_type)
        ast_.renamed.push_back(symbol);
    return true;
}

// The program's names mean its own types, and a header's those of headers.
Symbol *Parser::typedef_for(Symbol *symbol, uint32_t token) const
{
    return symbol->twin &&
                   stands_in_system(symbol) != source_.position(tokens_[token].offset).system
               ? symbol->twin
               : symbol;
}

// The program declares what a system header does.  Without parameters, the header knows better;
// false then: the program's declaration is of no more use.  Otherwise the program means its own.
bool Parser::replace_of_system(const InitDeclarator &d, const Specifiers &s, bool definition)
{
    Name *name = d.declarator.name;
    const Symbol *old = name->ordinary;
    const bool function = d.type->kind == TypeKind::Function;
    if (!is_of_system(old) || source_.position(tokens_[d.declarator.name_token].offset).system ||
        (!function && !scopes_.at_file_scope()))
        return true;
    if (function && s.storage != Storage::Typedef && !definition && !d.type->prototype &&
        s.storage != Storage::Static) {
        hidden_.emplace(name, ast_.replaced.size());
        ast_.replaced.push_back({d.declarator.name_token, d.declarator.name_token + 1,
                                 "splitc_undeclared_" + std::string(name->text)});
        return false;
    }
    const bool own = s.storage == Storage::Static || s.storage == Storage::Typedef ||
                     (definition && !d.type->prototype) || !same_type(old->type, d.type);
    if (!scopes_.at_file_scope() || !own)
        return true;
    forget_of_system(old);
    auto [first, last] = hidden_.equal_range(name); // they were of the program's own after all
    for (; first != last; ++first)
        ast_.replaced[first->second].text = name->text;
    return true;
}

// The program has a function's name for something of its own.
void Parser::forget_of_system(const Symbol *function)
{
    auto next = std::upper_bound(externals_.begin(), externals_.end(), function->token);
    if (next != externals_.begin() && next != externals_.end())
        ast_.replaced.push_back({*(next - 1), *next, ""});
    function->name->ordinary = nullptr;
}

} // namespace splitcc
