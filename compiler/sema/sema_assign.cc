// SPDX-License-Identifier: BSD-3-Clause
//
// Operators that change an object: =, :=, :-, ++, -- and the compound assignments.
#include <cctype>

#include "sema/index.h"
#include "sema/sema.h"

namespace splitcc {

// Reports an object that is const, or has a member that is.  The C compiler sees no assignment to
// it where the object is written by a call.
bool Sema::not_const(const Expr *e, uint32_t token)
{
    const std::string object = e->global ? "this global object " : "this object ";
    if (object_quals(e->type) & kConst) {
        diag_.error(range(token), object + "is const: it cannot be assigned to");
        return false;
    }
    if (const Member *member = const_member_of(e->type)) {
        const std::string name = member->name
                                     ? "the const member '" + std::string(member->name->text) + "'"
                                     : "a const member";
        diag_.error(range(token), object + "has " + name + ": it cannot be assigned to");
        return false;
    }
    return true;
}

// Reports PROCS and its like, which are members of an object of the library, by their names.
bool Sema::not_of_job(const Expr *e, uint32_t token)
{
    const Expr *member = strip(e);
    if (member->kind != ExprKind::Dot || !member->member || !member->member->name)
        return true;
    const Expr *job = strip(member->a);
    if (job->kind != ExprKind::Ident || !job->symbol || job->symbol->name->text != "splitc_job")
        return true;
    std::string name(member->member->name->text);
    for (char &c : name)
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const bool assigned = tokens_[token].kind == Tok::Assign;
    diag_.error(range(token),
                "'" + name + "' cannot be assigned to" + (assigned ? "; '==' compares" : ""));
    return false;
}

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
    if ((e->global && !not_const(e, token)) || !not_of_job(e, token))
        return false;
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

// What a value can be an object of.  A choice of two global objects is one, as choices of any
// objects were to gcc until version 4.0: `x := up ? *above : *below`.  So are choices of such
// choices, what stands behind a comma, a member of these, and, with -std=gnu89, a choice of local
// ones.
Sema::Place Sema::place_of(const Expr *e) const
{
    while (e->kind == ExprKind::Paren && !e->lvalue)
        e = e->a;
    if (e->kind == ExprKind::GlobalRead)
        return is_bit_field(e->a) ? Place::None : Place::Global;
    if (e->lvalue)
        return ast_.gnu89 && !e->global && !is_bit_field(e) && e->type->kind != TypeKind::Array
                   ? Place::Local
                   : Place::None;
    if (e->kind == ExprKind::Comma)
        return place_of(e->b);
    if (e->kind == ExprKind::Dot && e->member)
        return is_bit_field(e) ? Place::None : place_of(e->a);
    if (e->kind != ExprKind::Conditional || !e->b || !same_type(e->b->type, e->c->type) ||
        place_of(e->b) != place_of(e->c))
        return Place::None;
    return place_of(e->b);
}

Expr *Sema::as_object(Expr *e, bool global)
{
    if (e->kind == ExprKind::GlobalRead)
        return e->a;
    if (e->lvalue)
        return e;
    if (e->kind == ExprKind::Paren || e->kind == ExprKind::Dot) {
        e->a = as_object(e->a, global);
    } else {
        e->b = as_object(e->b, global);
        if (e->kind == ExprKind::Conditional)
            e->c = as_object(e->c, global);
    }
    e->lvalue = e->touched = true;
    e->global = global;
    if (e->kind == ExprKind::Paren)
        e->type = e->a->type;
    else if (e->kind == ExprKind::Dot)
        e->type = types_.qualified(e->member->type, e->a->type->quals);
    else
        e->type = e->c && e->c->type->quals & kConst ? e->c->type : e->b->type;
    return e;
}

Expr *Sema::choice_as_object(Expr *e)
{
    const Expr *choice = e;
    while (choice->kind == ExprKind::Paren)
        choice = choice->a;
    if (choice->lvalue || choice->kind == ExprKind::GlobalRead)
        return e;
    const Place place = place_of(choice);
    return place == Place::None ? e : as_object(e, place == Place::Global);
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
    if (e->a->type->is_far())
        can_step(e, e->a->type);
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
        else
            can_step(e, type);
    } else if (const Type *operand = value_type(e->b); operand->is_far() && !type->is_unknown()) {
        // The C compiler would take the pointer for an integer.
        const bool read = type->is_arithmetic() && operand->base->is_arithmetic();
        diag_.error(range(e->name_token), "no arithmetic on " + quoted(type) + " and " +
                                              quoted(operand) +
                                              (read ? "; '*' reads what it points to" : ""));
    }
    return finish(e, type->unqualified);
}

// The C compiler, which finds a call here, does not warn of an assignment that might have been
// meant to compare.
void Sema::check_condition(const Expr *condition)
{
    if (condition->kind == ExprKind::Assign && condition->op == Tok::Assign && condition->a->global)
        diag_.warning(range(condition), "-Wparentheses",
                      "an assignment is the condition; write '==' to compare, or put parentheses "
                      "around it if it is meant");
}

// Reports a get of what is in no other memory; with -std=gnu89, it is an assignment.
Expr *Sema::local_split_phase(Expr *e)
{
    const Type *nothing = types_.basic(TypeKind::Void);
    const Type *to = value_type(e->a), *from = value_type(e->b);
    const bool value = e->b->touched && !e->b->lvalue && !from->is_far();
    const bool lacks_star = (to->is_far() || from->is_far()) &&
                            to->is_pointer() != from->is_pointer() && !is_null_constant(e->b);
    if (ast_.gnu89 && !value && !lacks_star) {
        if (!writable(e->a, e->name_token))
            return finish(e, nothing);
        diag_
            .warning(range(e), "-Wsplit-phase",
                     "':=' needs a global side: both operands are local, so this assigns at once; "
                     "write '='")
            .replace(tokens_.range(e->name_token, e->name_token + 2), "=");
        e->b = convert(e->b, e->a->type, "':='");
        return finish(e, nothing);
    }
    Report report = diag_.error(
        range(e), value ? "':=' gets an object, and the right side is a value that is computed; "
                          "use '=', or get what it is computed from"
                        : "':=' needs a global side: both operands are local");
    for (const Expr *side : {e->a, e->b})
        if (value_type(side)->is_far() && side->kind == ExprKind::Ident)
            report.insert_before(range(side), "*");
    return finish(e, types_.unknown());
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
    const CastOfGlobal cast = e->a->global ? CastOfGlobal() : cast_of_global(e->b);
    bool fetch = !e->a->global && (e->b->global || result || cast.object);
    if (!e->a->global && !fetch)
        return local_split_phase(e);
    if (!writable(e->a, e->name_token) || (!e->a->global && !not_const(e->a, e->name_token))) {
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
        if (cast.object) {
            const bool same_bytes = cast.same_bytes && is_held_alike(e->a->type, e->b->type);
            e->b = convert(e->b, e->a->type, "':='");
            if (addressable && same_bytes)
                e->b = cast.object;
        } else if (e->b->type->kind == TypeKind::Array || e->b->type->kind == TypeKind::Void ||
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
