// SPDX-License-Identifier: BSD-3-Clause
//
// Casts where programs of the 1990s have objects.  As left sides of assignments, `(char *)p += n`,
// GNU C allowed them until gcc 3.4; they change the object as if it had the type of the cast.  As
// right sides of gets, `x := (int)*g`, they convert the object that is fetched.
#include "sema/sema.h"

namespace splitcc {
namespace {

bool may_change_as(const Type *a, const Type *b)
{
    auto scalar = [](const Type *t) { return t->is_local_pointer() || t->is_arithmetic(); };
    return (a->is_far() && b->is_far()) || (scalar(a) && scalar(b));
}

} // namespace

// Returns the cast, if `e` is one of an object that may be changed like that, or null.
const Expr *Sema::as_cast_of_object(const Expr *e)
{
    const Expr *cast = strip(e);
    if (cast->kind != ExprKind::Cast)
        return nullptr;
    const Expr *object = strip(cast->a);
    const bool assignable = object->lvalue && !object->global && !is_bit_field(object) &&
                            !(object->type->quals & kConst);
    return assignable && may_change_as(cast->type, object->type) ? cast : nullptr;
}

// Returns what to write instead of `(T)x op v`, `++(T)x` and the like.
std::string Sema::instead_of_change(const Expr *e, const Expr *cast)
{
    auto text = [&](const Expr *part) {
        return std::string(tokens_.spelling(part->first, part->last));
    };
    auto operand = [&](const Expr *part) {
        const bool bare = part->kind < ExprKind::Binary;
        return bare ? text(part) : "(" + text(part) + ")";
    };
    const std::string object = text(cast->a), type = describe(cast->a->type->unqualified);
    const std::string begin = object + " = (" + type + ")";
    if (e->op == Tok::Assign)
        return begin + "(" + describe(cast->type) + ")" + operand(e->b);
    std::string op(tokens_.spelling(e->name_token).substr(0, 1)); // the operator of += and of ++
    if (e->op == Tok::ShlAssign || e->op == Tok::ShrAssign)
        op += op;
    return begin + "(" + text(cast) + " " + op + " " +
           (e->kind == ExprKind::Assign ? operand(e->b) : "1") + ")";
}

Expr *Sema::change_cast(Expr *e, const Expr *cast)
{
    const Type *type = cast->type->unqualified;
    const std::string remedy = "; write '" + instead_of_change(e, cast) + "'";
    if (ast_.gnu89)
        diag_.warning(range(e), "-Wcast-lvalue",
                      "this assigns to a cast, which only old compilers take" + remedy);
    else
        diag_.error(range(e), "a cast cannot be assigned to but with -std=gnu89" + remedy);
    if (e->kind == ExprKind::Assign && e->op == Tok::Assign)
        e->b = convert(e->b, type, "assignment");
    else if (e->kind == ExprKind::Assign)
        e->b = value(e->b);
    e->touched = true;
    return finish(e, type);
}

// Returns whether the conversion of a value from one type to the other keeps its bytes.
bool Sema::is_held_alike(const Type *a, const Type *b)
{
    // How large an enumeration is only the C compiler knows.
    auto word = [](const Type *t) {
        return t->is_pointer() || (t->kind > TypeKind::Bool && t->kind < TypeKind::Enum);
    };
    if (same_type(a, b))
        return true;
    const bool spaces = a->is_pointer() && b->is_pointer() && a->is_far() != b->is_far();
    return word(a) && word(b) && !spaces && size_of(a) == size_of(b);
}

// Returns the global object whose value is cast, possibly several times; none if `e` is no cast of
// one.
Sema::CastOfGlobal Sema::cast_of_global(const Expr *e)
{
    const Expr *value = strip(e);
    bool same_bytes = true;
    while (value->kind == ExprKind::Cast && value->type->kind != TypeKind::Void) {
        same_bytes &= is_held_alike(value->type, value->a->type);
        value = strip(value->a);
    }
    if (value == strip(e) || value->kind != ExprKind::GlobalRead)
        return {};
    return {value->a, same_bytes && !is_bit_field(value->a)};
}

} // namespace splitcc
