// SPDX-License-Identifier: BSD-3-Clause
//
// Operators that change an object: =, :=, :-, ++, -- and the compound assignments.
#include "sema/index.h"
#include "sema/sema.h"

namespace splitcc {

bool Sema::writable(const Expr *e, uint32_t token)
{
    if (!e->lvalue && !e->type->is_unknown()) {
        diag_.error(range(token), "this cannot be assigned to: it is no object");
        return false;
    }
    if (e->type->kind == TypeKind::SpreadArray) {
        diag_.error(range(token), "a whole spread array cannot be assigned to");
        return false;
    }
    if (e->global && (e->type->quals & kConst)) {
        diag_.error(range(token), "this global object is const: it cannot be assigned to");
        return false;
    }
    if (e->global && e->type->kind == TypeKind::Void) {
        diag_.error(range(token), "a 'void *global' has to be cast to the type of the object "
                                  "before it is written");
        return false;
    }
    if (e->global && e->type->kind == TypeKind::Array) {
        diag_.error(range(token), "an object of type " + quoted(e->type) +
                                      " cannot be assigned to; copy it with bulk_write");
        return false;
    }
    return true;
}

// A parameter that is declared as a spread array is a spread pointer.
Expr *Sema::parameter_as_pointer(Expr *e)
{
    const Expr *operand = strip(e);
    if (e->type->kind == TypeKind::SpreadArray && operand->kind == ExprKind::Ident &&
        operand->symbol->parameter)
        for (Expr *at = e;; at = at->a) {
            at->type = types_.decayed(at->type);
            if (at == operand)
                break;
        }
    return e;
}

// A choice of two global objects is an object, as choices of any objects were to gcc until version
// 4.0: `x := up ? *above : *below`.  So is what stands behind a comma, and, with -std=gnu89, a
// choice of two local ones.
Expr *Sema::choice_as_object(Expr *e)
{
    Expr *choice = e;
    while (choice->kind == ExprKind::Paren)
        choice = choice->a;
    Expr *yes = choice->kind == ExprKind::Conditional ? choice->b
                : choice->kind == ExprKind::Comma     ? choice->b
                                                      : nullptr;
    Expr *no = choice->kind == ExprKind::Conditional ? choice->c : yes;
    if (!yes || !same_type(yes->type, no->type))
        return e;
    const bool global = yes->kind == ExprKind::GlobalRead && no->kind == ExprKind::GlobalRead;
    if (global) {
        yes = yes->a;
        no = no->a;
    } else if (!ast_.gnu89 || !yes->lvalue || !no->lvalue || yes->global || no->global ||
               yes->type->kind == TypeKind::Array) {
        return e;
    }
    if (is_bit_field(yes) || is_bit_field(no))
        return e;
    choice->b = yes;
    if (choice->kind == ExprKind::Conditional)
        choice->c = no;
    for (Expr *at = e;; at = at->a) {
        at->lvalue = at->touched = true;
        at->global = global;
        at->type = no->type->quals & kConst ? no->type : yes->type;
        if (at == choice)
            return e;
    }
}

Expr *Sema::step(Expr *e)
{
    e->a = choice_as_object(parameter_as_pointer(e->a));
    if (const Expr *cast = as_cast_of_object(e->a))
        return change_cast(e, cast);
    if (!writable(e->a, e->name_token)) {
        e->a->global = false;
        return finish(e, types_.unknown());
    }
    e->touched = e->a->global || e->a->type->is_far();
    return finish(e, e->a->type->unqualified);
}

Expr *Sema::assign(Expr *e)
{
    e->a = choice_as_object(parameter_as_pointer(e->a));
    if (const Expr *cast = as_cast_of_object(e->a))
        return change_cast(e, cast);
    const Type *type = e->a->type;
    if (!writable(e->a, e->name_token)) {
        e->a->global = false;
        e->b = value(e->b);
        return finish(e, types_.unknown());
    }
    if (e->op == Tok::Assign) {
        e->b = convert(e->b, type, "assignment");
        if (e->a->global || reads_globally(e->b))
            check_kept(e->b, type, "assignment");
        return finish(e, type->unqualified);
    }
    e->b = value(e->b);
    if (e->a->global || reads_globally(e->b))
        check_kept_by_compound(e);
    if (type->is_far()) {
        e->touched = true;
        bool integer = value_type(e->b)->is_integer() || value_type(e->b)->is_unknown();
        if ((e->op != Tok::AddAssign && e->op != Tok::SubAssign) || !integer)
            diag_.error(range(e->name_token), "no such arithmetic on " + quoted(type));
    }
    return finish(e, type->unqualified);
}

Expr *Sema::split_phase(Expr *e)
{
    e->touched = true;
    e->a = choice_as_object(e->a);
    if (!e->a->global)
        e->b = choice_as_object(e->b);
    const Type *nothing = types_.basic(TypeKind::Void);
    if (e->a->type->is_unknown() || e->b->type->is_unknown())
        return finish(e, nothing);
    bool result = strip(e->b)->kind == ExprKind::RunAtOwner;
    if (result && e->b->type->kind == TypeKind::Void)
        return fail(e, "':=' needs a value, and the function that atomic() runs returns nothing");
    bool fetch = !e->a->global && (e->b->global || result);
    if (!e->a->global && !fetch) {
        const bool value = e->b->touched && !value_type(e->b)->is_far();
        Report report = diag_.error(
            range(e), value
                          ? "':=' gets an object, and the right side is a value that is computed; "
                            "use '=', or get what it is computed from"
                          : "':=' needs a global side: both operands are local");
        for (const Expr *side : {e->a, e->b})
            if (value_type(side)->is_far() && side->kind == ExprKind::Ident)
                report.insert_before(range(side), "*");
        return finish(e, types_.unknown());
    }
    if (!writable(e->a, e->name_token)) {
        e->a->global = e->b->global = false;
        return finish(e, nothing);
    }
    check_kept(e->b, e->a->type, "':='");
    if (fetch) {
        // A get copies bytes.  If the value has to be converted, or the target has no address, the
        // read completes at once, which a get may do.
        const Expr *to = strip(e->a);
        bool addressable = !(to->kind == ExprKind::Ident && to->symbol &&
                             to->symbol->storage == Storage::Register) &&
                           !is_bit_field(to);
        bool bits = is_bit_field(e->b);
        if (e->b->type->kind == TypeKind::Array || e->b->type->kind == TypeKind::Void ||
            !addressable || bits || !same_type(e->a->type, e->b->type))
            e->b = convert(e->b, e->a->type, "':='");
        else
            e->b->global = true; // a result is fetched, too
    } else {
        e->b = convert(e->b, e->a->type, "':='");
    }
    if (ast_.index)
        ast_.index->split_phase(e);
    return finish(e, nothing);
}

Expr *Sema::store(Expr *e)
{
    e->touched = true;
    e->a = choice_as_object(e->a);
    const Type *nothing = types_.basic(TypeKind::Void);
    if (e->a->type->is_unknown()) {
        e->b = value(e->b);
        return finish(e, nothing);
    }
    if (!e->a->global)
        return fail(e, "':-' stores into a global object; its left side is local");
    if (is_bit_field(e->a))
        return fail(e,
                    "':-' cannot store into a bit-field: it stores whole bytes; assign with '=', "
                    "or with ':=' and sync()");
    if (!writable(e->a, e->name_token)) {
        e->a->global = false;
        e->b = value(e->b);
        return finish(e, nothing);
    }
    e->b = convert(e->b, e->a->type, "':-'");
    check_kept(e->b, e->a->type, "':-'");
    if (ast_.index)
        ast_.index->split_phase(e);
    return finish(e, nothing);
}

} // namespace splitcc
