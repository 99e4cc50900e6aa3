// SPDX-License-Identifier: BSD-3-Clause
//
// Run-time checks (-fcheck): before each access, index and call of the library, the runtime is told
// where in the source it is.
#include "lower/lower.h"

#include "source/spelling.h"

namespace splitcc {

// Returns the place of a node as the last two arguments of a check.
std::string Lower::place(const Node *n) const
{
    Position at = source_.position(tokens_[n->first].offset);
    return c_string(at.file) + ", " + std::to_string(at.line);
}

// Returns the address, checked before it is read or written.
Rope Lower::checked(Rope address, Access how, Rope size, const Expr *e)
{
    bool reads = how == Access::Read || how == Access::Get;
    if (!checks_)
        return address;
    return (reads ? "splitc_check_read(" : "splitc_check_write(") + std::move(address) + ", " +
           std::move(size) + ", " + place(e) + ")";
}

// Returns the text of the source, if it is short.
std::string Lower::quoted_source(const Expr *e) const
{
    std::string text(tokens_.spelling(e->first, e->last));
    bool plain = text.size() < 40 && text.find('\n') == std::string::npos;
    return plain ? "'" + text + "'" : "the array";
}

// Returns the index, checked to be below the extent.  Directly behind `&` it may be equal to it.
Rope Lower::checked_index(Rope index, Rope extent, const std::string &array, const Expr *e)
{
    const Expr *addressed = addressed_;
    while (addressed && addressed != e)
        addressed = addressed->a;
    bool past = addressed;
    return "splitc_check_index((long)(" + std::move(index) + "), (long)(" + std::move(extent) +
           "), " + (past ? "1" : "0") + ", " + c_string(array) + ", " + place(e) + ")";
}

// Returns the checked index of an array in the global address space.  An array at the end of a
// struct with one element or none may have more elements than its type says.
Rope Lower::block_index(const Expr *e, const Expr *pointer, const Expr *index)
{
    Rope plain = node(index);
    pointer = strip(pointer);
    if (!checks_ || pointer->kind != ExprKind::GlobalDecay)
        return plain;
    const Type *array = pointer->a->type;
    bool open = strip(pointer->a)->member && array->extent.value.value_or(0) <= 1;
    if (open || (!array->extent.size && array->captured.empty()))
        return plain;
    return checked_index(std::move(plain), "sizeof(" + type(array) + ") / " + size_of(array->base),
                         quoted_source(pointer->a), e);
}

// Tells the runtime where the program is until the enclosing block ends.
Rope Lower::enter(const Expr *e, std::string_view function)
{
    Rope count;
    if (profile_)
        count = "splitc_profile_call(" + site(e, function) + "); ";
    if (!checks_)
        return count;
    return std::move(count) + "struct splitc_place " + fresh("p") +
           " __attribute__((unused, cleanup(splitc_leave))) = splitc_enter(\"" +
           std::string(function) + "\", " + place(e) + "); ";
}

Rope Lower::call(const Expr *e)
{
    const Symbol *function = strip(e->a)->symbol; // (name)(...) is how macros of the library call
    if (!function || !function->library || !(checks_ || profile_))
        return generic(e);
    return kBlock + enter(e, function->name->text) + generic(e) + "; })";
}

} // namespace splitcc
