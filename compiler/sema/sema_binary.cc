// SPDX-License-Identifier: BSD-3-Clause
//
// Binary operators, and those others that bring two operands to one type.
#include "sema/literals.h"
#include "sema/sema.h"

namespace splitcc {

Expr *Sema::binary(Expr *e)
{
    e->a = operand(e->a);
    e->b = operand(e->b);
    switch (e->op) {
    case Tok::Plus:
    case Tok::Minus:
        return additive(e);
    case Tok::EqEq:
    case Tok::NotEq:
    case Tok::Lt:
    case Tok::Gt:
    case Tok::Le:
    case Tok::Ge:
        return comparison(e);
    default:
        break;
    }
    const Type *a = value_type(e->a), *b = value_type(e->b);
    // An operand that was reported, such as `retrun` in `retrun *p`, is of no type that is known.
    if (diag_.errors() > 0 && (a->is_unknown() || b->is_unknown()))
        return finish(e, types_.unknown());
    if (a->is_far() || b->is_far()) {
        diag_.error(range(e->name_token),
                    "this operator does not apply to " + quoted(a->is_far() ? a : b));
        return finish(e, types_.unknown());
    }
    bool shift = e->op == Tok::Shl || e->op == Tok::Shr;
    const Type *type =
        shift ? a->is_arithmetic() ? promote(a) : types_.unknown() : arithmetic(a, b);
    e->value = literals::fold(e->op, e->a->value, e->b->value, type);
    return finish(e, type);
}

// Reports steps of a far pointer to an array that has no size, as int (*global p)[] is.
bool Sema::can_step(const Expr *e, const Type *pointer)
{
    const Type *array = pointer->base;
    if (!pointer->is_far() || array->kind != TypeKind::Array || array->extent.size ||
        array->extent.value || !array->captured.empty())
        return true;
    diag_.error(range(e), "the size of the array that " + quoted(pointer) +
                              " points to is not known, so there is none next to it");
    return false;
}

Expr *Sema::additive(Expr *e)
{
    const Type *a = value_type(e->a), *b = value_type(e->b);
    if (!a->is_pointer() && !b->is_pointer()) {
        const Type *type = arithmetic(a, b);
        e->value = literals::fold(e->op, e->a->value, e->b->value, type);
        return finish(e, type);
    }
    bool far = a->is_far() || b->is_far();
    e->touched = far;
    if (a->is_pointer() && b->is_pointer()) {
        // A local pointer is (MYPROC, address) here too, as where the two are compared.
        const bool global = (a->is_far() && a->space == Space::Global) ||
                            (b->is_far() && b->space == Space::Global);
        const bool mixed = global && (!a->is_far() || !b->is_far());
        const bool unlike = global && compare_pointees(a->base, b->base) == Pointees::Different;
        if (far && (e->op == Tok::Plus || (a->space != b->space && !mixed) || unlike)) {
            const bool kinds = e->op == Tok::Minus && a->space != b->space && !mixed;
            diag_.error(range(e->name_token),
                        std::string(e->op == Tok::Plus ? "addition" : "difference") + " of " +
                            quoted(a) + " and " + quoted(b) +
                            (kinds ? "; cast one to the kind of the other" : ""));
            return finish(e, types_.unknown());
        }
        if (mixed) {
            Expr *&local = a->is_far() ? e->b : e->a;
            local = to_far(local, a->is_far() ? a : b);
            a = value_type(e->a);
        }
        can_step(e, a);
        return finish(e, types_.basic(TypeKind::Long));
    }
    const Type *pointer = a->is_pointer() ? a : b, *other = a->is_pointer() ? b : a;
    if (far && ((!other->is_integer() && !other->is_unknown()) ||
                (e->op == Tok::Minus && b->is_pointer()))) {
        diag_.error(range(e->name_token), "no arithmetic on " + quoted(a) + " and " + quoted(b));
        return finish(e, types_.unknown());
    }
    can_step(e, pointer);
    return finish(e, pointer);
}

// Brings two operands, one of which is a far pointer, to one kind of pointer.  Returns the common
// type, or null if there is none.
const Type *Sema::join_pointers(Expr *&a, Expr *&b, std::string_view what)
{
    const Type *ta = value_type(a), *tb = value_type(b);
    const Type *far = ta->is_far() ? ta : tb;
    // Spread pointers stand for each other, a block's for that of its first element.
    if (ta->is_far() && tb->is_far() &&
        (ta->space == Space::Global || tb->space == Space::Global) && !is_null_constant(a))
        check_pointees(b, tb, ta, what);
    for (Expr **side : {&a, &b}) {
        const Type *type = value_type(*side);
        if (type->is_far() || type->is_unknown())
            continue;
        const bool null = is_null_constant(*side);
        if (type->is_integer() && !null) {
            diag_.warning(range(*side), "-Wint-conversion",
                          std::string(what) + " of " + quoted(far) + " and " + quoted(type));
            *side = wrap(ExprKind::Convert, *side, far);
            continue;
        }
        if (!type->is_pointer() && !null)
            return nullptr;
        if (!null)
            check_pointees(*side, type, far, what);
        *side = to_far(*side, far);
    }
    // Of void and an object type, the result is the pointer to the object type.
    return ta->is_far() && tb->is_far() && ta->base->kind == TypeKind::Void ? tb : far;
}

Expr *Sema::comparison(Expr *e)
{
    const Type *a = value_type(e->a), *b = value_type(e->b);
    const bool equality = e->op == Tok::EqEq || e->op == Tok::NotEq;
    note_pointer_result(e->a, equality && is_null_constant(e->b) ? nullptr : b);
    note_pointer_result(e->b, equality && is_null_constant(e->a) ? nullptr : a);
    if (a->is_far() || b->is_far()) {
        e->touched = true;
        if (!join_pointers(e->a, e->b, "comparison"))
            diag_.error(range(e->name_token), "comparison of " + quoted(a) + " and " + quoted(b));
    }
    e->value = literals::fold(e->op, e->a->value, e->b->value, arithmetic(a, b));
    return finish(e, types_.basic(TypeKind::Int));
}

Expr *Sema::logical(Expr *e)
{
    e->a = operand(e->a);
    e->b = operand(e->b);
    note_pointer_result(e->a, nullptr);
    note_pointer_result(e->b, nullptr);
    if (e->a->value && e->b->value)
        e->value =
            e->op == Tok::AndAnd ? *e->a->value && *e->b->value : *e->a->value || *e->b->value;
    return finish(e, types_.basic(TypeKind::Int));
}

Expr *Sema::conditional(Expr *e)
{
    e->a = operand(e->a);
    if (e->b)
        note_pointer_result(e->a, nullptr);
    Expr *&yes = e->b ? e->b : e->a; // GNU: a ?: c
    yes = value(yes);
    e->c = value(e->c);
    const Type *b = value_type(yes), *c = value_type(e->c);
    const Type *type;
    if (b->is_far() || c->is_far()) {
        type = join_pointers(yes, e->c, "conditional expression");
        if (!type) {
            diag_.error(range(e), "the two results are " + quoted(b) + " and " + quoted(c));
            type = types_.unknown();
        }
    } else if (b->is_pointer() && c->is_pointer()) {
        bool take_c =
            is_null_constant(yes) || (c->base->kind == TypeKind::Void && !is_null_constant(e->c));
        type = take_c ? c : b;
    } else if (b->is_pointer() || c->is_pointer()) {
        type = b->is_pointer() ? b : c;
    } else if (b->is_arithmetic() && c->is_arithmetic()) {
        type = arithmetic(b, c);
    } else {
        type = b->kind == TypeKind::Void ? b : c->kind == TypeKind::Void ? c : b;
    }
    if (e->a->value && e->b)
        e->value = *e->a->value ? e->b->value : e->c->value;
    return finish(e, type);
}

Expr *Sema::comma(Expr *e)
{
    e->a = discard(e->a);
    e->b = value(e->b);
    return finish(e, value_type(e->b));
}

} // namespace splitcc
