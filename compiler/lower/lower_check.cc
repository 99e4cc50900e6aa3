// SPDX-License-Identifier: BSD-3-Clause
//
// Run-time checks (-fcheck): accesses, indices and calls of the library tell the
// runtime where they stand, before they happen.
#include "lower/lower.h"

#include "source/spelling.h"

namespace splitcc {

// Where that is, as the last two arguments of a check.
std::string Lower::place(const Node *n) const
{
    Position at = source_.position(tokens_[n->first].offset);
    return c_string(at.file) + ", " + std::to_string(at.line);
}

// An address that is about to be read or written.
Rope Lower::checked(Rope address, Access how, Rope size, const Expr *e)
{
    bool reads = how == Access::Read || how == Access::Get;
    if (!checks_)
        return address;
    return (reads ? "splitc_check_read(" : "splitc_check_write(") + std::move(address) + ", " +
           std::move(size) + ", " + place(e) + ")";
}

// The source's own text, if it is short.
std::string Lower::quoted_source(const Expr *e) const
{
    uint32_t from = tokens_[e->first].offset, to = tokens_[e->last - 1].end();
    std::string text = source_.text().substr(from, to - from);
    bool plain = text.size() < 40 && text.find('\n') == std::string::npos;
    return plain ? "'" + text + "'" : "the array";
}

// An index that is to be below that extent; right behind `&`, at most equal to it.
Rope Lower::checked_index(Rope index, Rope extent, const std::string &array, const Expr *e)
{
    const Expr *addressed = addressed_;
    while (addressed && addressed != e)
        addressed = addressed->a;
    bool past = addressed;
    return "splitc_check_index((long)(" + std::move(index) + "), (long)(" + std::move(extent) +
           "), " + (past ? "1" : "0") + ", " + c_string(array) + ", " + place(e) + ")";
}

// The index of an element of an array in the global address space.  One at the end of a
// struct with one element or none may have more.
Rope Lower::block_index(const Expr *e, const Expr *pointer, const Expr *index)
{
    Rope plain = node(index);
    pointer = strip(pointer);
    if (!checks_ || pointer->kind != ExprKind::GlobalDecay)
        return plain;
    const Type *array = pointer->a->type;
    bool open = pointer->a->member && array->extent.value.value_or(0) <= 1;
    if (open || (!array->extent.size && array->captured.empty()))
        return plain;
    return checked_index(std::move(plain), "sizeof(" + type(array) + ") / " + size_of(array->base),
                         quoted_source(pointer->a), e);
}

// The runtime learns where the program is until the block around ends.
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
    bool library = e->a->symbol && e->a->symbol->library;
    if (!library || !(checks_ || profile_))
        return generic(e);
    return kBlock + enter(e, e->a->symbol->name->text) + generic(e) + "; })";
}

} // namespace splitcc
