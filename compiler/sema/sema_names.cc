// SPDX-License-Identifier: BSD-3-Clause
//
// Names without a declaration, and the number of arguments of calls.
#include "sema/sema.h"

#include <algorithm>

#include "source/similar.h"

namespace splitcc {
namespace {

// The macros of split-c.h, which are undeclared names in a program that does not include it.
constexpr std::string_view kHeaderMacros[] = {"MYPROC",  "PROCS",     "PROCSLOG", "on_one",
                                              "on_proc", "toglobal",  "tospread", "tolocal",
                                              "toproc",  "for_my_1d", "for_my_2d"};

// The names of the C library that programs use most, and are no functions.
struct HeaderName {
    std::string_view name, header;
};
constexpr HeaderName kHeaderNames[] = {
    {"FILE", "stdio.h"},          {"stdin", "stdio.h"},      {"stdout", "stdio.h"},
    {"stderr", "stdio.h"},        {"EOF", "stdio.h"},        {"NULL", "stddef.h"},
    {"size_t", "stddef.h"},       {"ptrdiff_t", "stddef.h"}, {"bool", "stdbool.h"},
    {"true", "stdbool.h"},        {"false", "stdbool.h"},    {"int8_t", "stdint.h"},
    {"int16_t", "stdint.h"},      {"int32_t", "stdint.h"},   {"int64_t", "stdint.h"},
    {"uint8_t", "stdint.h"},      {"uint16_t", "stdint.h"},  {"uint32_t", "stdint.h"},
    {"uint64_t", "stdint.h"},     {"intptr_t", "stdint.h"},  {"uintptr_t", "stdint.h"},
    {"INT_MAX", "limits.h"},      {"INT_MIN", "limits.h"},   {"DBL_MAX", "float.h"},
    {"EXIT_SUCCESS", "stdlib.h"}, {"RAND_MAX", "stdlib.h"},  {"EXIT_FAILURE", "stdlib.h"},
    {"errno", "errno.h"},         {"va_list", "stdarg.h"}};

std::string defined_by(std::string_view header)
{
    return "; #include <" + std::string(header) + "> defines it";
}

} // namespace

std::string plural(size_t n, std::string_view thing)
{
    return std::to_string(n) + " " + std::string(thing) + (n == 1 ? "" : "s");
}

// Returns whether the program declares the name, correctly.
static bool is_declared(const Name &name)
{
    const Symbol *symbol = name.ordinary;
    return symbol && symbol->kind != SymbolKind::Builtin && !symbol->implicit &&
           !(symbol->kind == SymbolKind::Typedef && symbol->type->is_unknown());
}

// Returns whether split-c.h is included, of whose names one stands for all here.
bool Sema::has_header() const
{
    const Symbol *symbol = names_.declared("barrier");
    return symbol && is_declared(*symbol->name);
}

// Returns the name that was probably meant; empty if none is similar.  A keyword is no argument.
std::string Sema::similar_name(const Name *name, uint32_t token) const
{
    const Tok next = tokens_[token + 1].kind;
    std::string near = names_.similar(name, next != Tok::Comma, is_declared);
    for (std::string_view macro : kHeaderMacros)
        if (near.empty() && name->text != macro && are_similar(name->text, macro) && has_header())
            near = macro;
    return near;
}

// Returns what there is to say of a name that a header defines; empty if that is not known of it.
std::string Sema::about_header(const Name *name) const
{
    const auto *known = std::ranges::find(kHeaderNames, name->text, &HeaderName::name);
    if (known != std::end(kHeaderNames))
        return defined_by(known->header);
    if (std::ranges::find(kHeaderMacros, name->text) == std::end(kHeaderMacros))
        return {};
    return has_header() ? "; it is a macro, and has its arguments in parentheses"
                        : defined_by("split-c/split-c.h");
}

void Sema::report_undeclared(const Name *name, uint32_t token)
{
    std::string message = "'" + std::string(name->text) + "' is not declared here";
    if (const std::string macro = about_header(name); !macro.empty()) {
        diag_.error(range(token), message + macro);
        return;
    }
    std::string near = similar_name(name, token);
    if (near.empty())
        diag_.error(range(token), message);
    else
        diag_.error(range(token), message + "; did you mean '" + near + "'?")
            .replace(range(token), near);
}

// Reports a call of a function without a declaration that looks like a macro of split-c.h or a
// keyword, as in `for_my_1D(i, n) statement`.
bool Sema::report_macro(const Expr *call)
{
    const Symbol *fn = call->a->symbol;
    if (!fn || !fn->implicit)
        return false;
    const std::string near = similar_name(fn->name, call->a->first);
    if (about_header(fn->name).empty() && (near.empty() || names_.declared(near)))
        return false;
    report_undeclared(fn->name, call->a->first);
    return true;
}

// Warns of a statement that names a function of the library and does not call it: `barrier;`.
void Sema::check_called(const Expr *statement)
{
    const Expr *e = strip(statement);
    if (e->kind != ExprKind::Ident || !e->symbol || !e->symbol->library ||
        e->symbol->kind != SymbolKind::Function)
        return;
    const std::string name(e->symbol->name->text);
    const bool alone = e->symbol->type->params.empty();
    const Report &report = diag_.warning(range(e), "-Wuncalled",
                                         "'" + name + "' is named, but not called; write '" + name +
                                             (alone ? "()'" : "(...)'"));
    if (alone)
        report.replace(range(e), name + "()");
}

// Adds a note if the integer is the result of a function without a declaration.
void Sema::note_implicit(const Report &report, const Expr *e)
{
    e = strip(e);
    const Symbol *fn = e->kind == ExprKind::Call ? e->a->symbol : nullptr;
    if (!fn || !fn->implicit)
        return;
    std::string message =
        "'" + std::string(fn->name->text) + "' is not declared, and taken to return int";
    const std::string near = similar_name(fn->name, e->a->first), macro = about_header(fn->name);
    if (!macro.empty())
        message += macro;
    else if (!near.empty())
        message += "; did you mean '" + near + "'?";
    report.note(range(e->a), message);
}

// Notes that the value of a call of a function without a declaration becomes a local pointer, or,
// if `to` is null, is used where there may be an integer or a pointer.  Returns whether it is one.
bool Sema::note_pointer_result(const Expr *e, const Type *to)
{
    e = strip(e);
    if (e->kind == ExprKind::Conditional) {
        const bool first = note_pointer_result(e->b ? e->b : e->a, to);
        return note_pointer_result(e->c, to) && first;
    }
    Symbol *fn = e->kind == ExprKind::Call ? e->a->symbol : nullptr;
    if (!fn || !fn->implicit)
        return false;
    if ((!to || to->is_local_pointer()) && pointer_calls_.insert(e->first).second)
        ++(to ? fn->pointer_calls : fn->neutral_calls);
    return true;
}

// Returns whether the call prints argument number `i` as text, as that behind "%s" of printf().
bool Sema::prints_text(const Expr *call, size_t i) const
{
    const Symbol *fn = strip(call->a)->symbol;
    const std::string_view name = fn && fn->name ? fn->name->text : std::string_view();
    const size_t format = name == "printf" ? 0 : name == "fprintf" || name == "sprintf" ? 1 : i;
    if (format >= i || strip(call->args[format])->kind != ExprKind::String)
        return false;
    const Expr *string = strip(call->args[format]);
    const std::string_view text = tokens_.spelling(string->first, string->last);
    constexpr std::string_view modifiers = "0123456789.-+ #*hlLqjzt";
    size_t argument = format;
    for (size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
        while (++at < text.size() && modifiers.find(text[at]) != text.npos)
            argument += text[at] == '*';
        if (at < text.size() && text[at] != '%' && ++argument >= i)
            return argument == i && text[at] == 's';
    }
    return false;
}

void Sema::check_argument_count(const Expr *call, const Type *function)
{
    size_t wanted = function->params.size(), given = call->args.size();
    if (!function->prototype || given == wanted || (given > wanted && function->variadic))
        return;
    const Symbol *fn = call->a->kind == ExprKind::Ident ? call->a->symbol : nullptr;
    std::string name = fn ? "'" + std::string(fn->name->text) + "'" : "this function";
    Report report = diag_.error(range(call->a),
                                name + " takes " + (function->variadic ? "at least " : "") +
                                    plural(wanted, "argument") + ", not " + std::to_string(given));
    if (fn && !fn->library)
        report.note(range(fn->token), "it is declared here");
}

// Returns whether the name is a macro that C libraries had and have no more.
bool Sema::old_macro(Expr *e, std::string_view name)
{
    struct OldMacro {
        std::string_view name, text;
        TypeKind type;
    };
    static constexpr OldMacro macros[] = {
        {"HUGE", "__builtin_huge_val()", TypeKind::Double},
        {"CLK_TCK", "100", TypeKind::Int}, // in which times() counts on Linux
    };
    const auto macro = std::ranges::find(macros, name, &OldMacro::name);
    if (macro == std::end(macros))
        return false;
    e->type = types_.basic(macro->type);
    ast_.replaced.emplace_back(Replacement{e->first, e->last, {}}).text = macro->text;
    return true;
}

void Sema::undeclared(Expr *e, Name *name)
{
    std::string_view text = name->text;
    Symbol *symbol = ast_.symbol();
    symbol->name = name;
    symbol->token = e->first;
    e->type = types_.unknown();
    if (text == "__func__" || text == "__FUNCTION__" || text == "__PRETTY_FUNCTION__") {
        e->type = types_.unsized_array(types_.basic(TypeKind::Char));
        return;
    }
    bool called = tokens_[e->last].kind == Tok::LParen;
    if (!called && old_macro(e, text))
        return;
    if (text.starts_with("__builtin_") || text.starts_with("__sync_") ||
        text.starts_with("__atomic_")) {
        e->type = types_.function(builtin_result(text), {}, false, true);
        return;
    }
    symbol->type = types_.unknown();
    if (called) {           // an implicit declaration; the C compiler warns of it
        if (text == "sync") // which the linker would find in the C library
            diag_.warning(range(e->first), "-Wsplit-phase",
                          "'sync' is not declared, and is that of the C library, which completes "
                          "no gets and puts; #include <split-c/split-c.h> for ours");
        symbol->implicit = true;
        implicit_.push_back(symbol);
        symbol->kind = SymbolKind::Function;
        const bool allocates = text == "malloc" || text == "calloc" || text == "realloc";
        const Type *result = types_.basic(allocates ? TypeKind::Void : TypeKind::Int);
        if (allocates) // as the C compiler knows
            result = types_.pointer(result, Space::Local);
        symbol->type = types_.function(result, {}, false, false);
        e->type = symbol->type;
    } else {
        report_undeclared(name, e->first);
    }
    symbol->file_scope = true;
    symbol->kind = called ? SymbolKind::Function : SymbolKind::Builtin;
    name->ordinary = symbol; // so that it is reported once
}

// Returns the result type of those builtins whose results programs use.
const Type *Sema::builtin_result(std::string_view name)
{
    static constexpr std::string_view ints[] = {
        "__builtin_constant_p", "__builtin_expect_with_probability",
        "__builtin_strcmp",     "__builtin_memcmp",
        "__builtin_strncmp",    "__builtin_ctz",
        "__builtin_clz",        "__builtin_popcount",
        "__builtin_parity",     "__builtin_ffs",
        "__builtin_abs",        "__builtin_printf",
        "__builtin_ctzl",       "__builtin_clzl",
        "__builtin_popcountl",  "__builtin_ctzll",
        "__builtin_clzll",      "__builtin_popcountll",
        "__builtin_isnan",      "__builtin_isinf",
        "__builtin_signbit"};
    static constexpr std::string_view pointers[] = {
        "__builtin_alloca",         "__builtin_memcpy",           "__builtin_memset",
        "__builtin_memmove",        "__builtin_malloc",           "__builtin_calloc",
        "__builtin_realloc",        "__builtin_return_address",   "__builtin_frame_address",
        "__builtin_assume_aligned", "__builtin_alloca_with_align"};
    static constexpr std::string_view doubles[] = {"__builtin_inf",      "__builtin_nan",
                                                   "__builtin_huge_val", "__builtin_fabs",
                                                   "__builtin_sqrt",     "__builtin_pow"};
    for (std::string_view known : ints)
        if (name == known)
            return types_.basic(TypeKind::Int);
    for (std::string_view known : pointers)
        if (name == known)
            return types_.pointer(types_.basic(TypeKind::Void));
    for (std::string_view known : doubles)
        if (name == known)
            return types_.basic(TypeKind::Double);
    if (name == "__builtin_expect")
        return types_.basic(TypeKind::Long);
    if (name == "__builtin_strlen" || name == "__builtin_object_size" ||
        name == "__builtin_dynamic_object_size")
        return types_.basic(TypeKind::ULong);
    return types_.unknown();
}

} // namespace splitcc
