// SPDX-License-Identifier: BSD-3-Clause
//
// Values of expressions, and conversions that involve far pointers.  The C compiler does the other
// ones.
#include "sema/sema.h"

namespace splitcc {

const Type *Sema::value_type(const Expr *e)
{
    const Type *type = e->type;
    if (type->kind == TypeKind::Array)
        return types_.pointer(type->base, e->global ? Space::Global : Space::Local);
    if (type->kind == TypeKind::Function)
        return types_.pointer(type);
    return types_.decayed(type)->unqualified;
}

Expr *Sema::value(Expr *e)
{
    if (e->type->kind == TypeKind::SpreadArray)
        return wrap(ExprKind::SpreadDecay, e, value_type(e));
    if (!e->global)
        return e;
    if (e->type->kind == TypeKind::Array)
        return wrap(ExprKind::GlobalDecay, e, value_type(e));
    if (e->type->kind == TypeKind::Void)
        return fail(e,
                    "a 'void *global' has to be cast to the type of the object before it is read");
    if (e->type->kind == TypeKind::Function)
        return fail(e, "a function cannot be called through a global pointer");
    return wrap(ExprKind::GlobalRead, e, e->type->unqualified);
}

// A global pointer is an integer in the translation, where the C compiler cannot refuse it.
Expr *Sema::integer_value(Expr *e, std::string_view what)
{
    e = value(e);
    const Type *type = value_type(e);
    return type->is_far()
               ? fail(e, std::string(what) + " has to be an integer, not " + quoted(type))
               : e;
}

static bool is_global_write(const Expr *e)
{
    e = strip(e);
    bool writes =
        e->kind == ExprKind::Assign || e->kind == ExprKind::PreInc || e->kind == ExprKind::PostInc;
    return writes && e->a->global;
}

void Sema::mark_discarded(Expr *e, bool discarded)
{
    if (e->discarded == discarded)
        return;
    e->discarded = discarded;
    if (e->kind == ExprKind::Paren) {
        mark_discarded(e->a, discarded);
    } else if (e->kind == ExprKind::Call && e->a->symbol && e->a->symbol->implicit) {
        e->a->symbol->kept_calls += discarded ? -1u : 1;
    } else if (e->kind == ExprKind::Comma) {
        mark_discarded(e->b, discarded);
    } else if (e->kind == ExprKind::Conditional && e->b && is_global_write(e->b) &&
               is_global_write(e->c)) { // both become void
        mark_discarded(e->b, discarded);
        mark_discarded(e->c, discarded);
    }
}

Expr *Sema::discard(Expr *e)
{
    if (e->type->kind != TypeKind::Void)
        e = value(e);
    mark_discarded(e, true);
    return e;
}

bool Sema::is_null_constant(const Expr *e)
{
    e = strip(e);
    if (e->kind == ExprKind::Cast && e->type->is_local_pointer() &&
        e->type->base->kind == TypeKind::Void && !e->type->base->quals)
        return is_null_constant(e->a);
    return e->type->is_integer() && e->value == 0;
}

// Reports what is used as a value and waits for none.
bool Sema::check_waits(Expr *e)
{
    const ExprKind kind = strip(e)->kind;
    if (kind != ExprKind::SplitPhase && kind != ExprKind::Store)
        return true;
    if (!e->type->is_unknown())
        fail(e, kind == ExprKind::Store ? "':-' has no value: it does not wait for what it moves"
                                        : "':=' has no value: it does not wait for what it moves");
    return false;
}

// Returns the value of what an operator of C computes with.
Expr *Sema::operand(Expr *e)
{
    check_waits(e);
    return value(e);
}

// Makes a far pointer of a null constant or a local pointer.
Expr *Sema::to_far(Expr *e, const Type *far)
{
    return value_type(e)->is_far() ? e : wrap(ExprKind::Convert, e, far);
}

// Gives the computed address of a global object a type of its own in the output, too, where the C
// compiler may speak of that: as an argument of an ellipsis.
Expr *Sema::named_far(Expr *e)
{
    const ExprKind kind = strip(e)->kind;
    const bool has_name =
        kind == ExprKind::Ident || kind == ExprKind::GlobalRead || kind == ExprKind::Call;
    return value_type(e)->is_far() && !has_name ? wrap(ExprKind::Convert, e, value_type(e)) : e;
}

void Sema::check_pointees(const Expr *e, const Type *from, const Type *to, std::string_view what)
{
    std::string makes = std::string(what) + " makes " + quoted(to) + " from " + quoted(from);
    switch (compare_pointees(from->base, to->base)) {
    case Pointees::Compatible:
        break;
    case Pointees::OtherSign:
        diag_.warning(range(e), "-Wpointer-sign", makes + ", whose signedness differs");
        break;
    case Pointees::Different:
        diag_.warning(range(e), "-Wincompatible-pointer-types", makes);
    }
}

// Checks the conversion of a pointer to a far one, by the rules by which the C compiler checks that
// to a local one.
void Sema::check_pointers(const Expr *e, const Type *from, const Type *to, std::string_view what)
{
    if (to->space == Space::Spread && from->space != Space::Spread)
        diag_.warning(range(e), "-Wspread-conversion",
                      std::string(what) + " makes a spread pointer from a " +
                          (from->space == Space::Global ? "global" : "local") +
                          " one without a cast");
    uint8_t dropped =
        object_quals(from->base) & ~object_quals(to->base) & (kConst | kVolatile | kAtomic);
    if (dropped)
        diag_.warning(range(e), "-Wdiscarded-qualifiers",
                      std::string(what) + " discards '" +
                          (dropped & kConst      ? "const"
                           : dropped & kVolatile ? "volatile"
                                                 : "_Atomic") +
                          "' of what " + quoted(from) + " points to");
    // Spread pointers convert freely into each other, since programs use one for a block and for
    // the block's first element.
    if (from->space != Space::Spread || to->space != Space::Spread)
        check_pointees(e, from, to, what);
}

Expr *Sema::convert(Expr *e, const Type *to, std::string_view what)
{
    if (!check_waits(e))
        return e;
    to = types_.decayed(to)->unqualified;
    e = retyped_local(value(e), to);
    note_pointer_result(e, to);
    const Type *from = value_type(e);
    if (from->is_unknown() || to->is_unknown())
        return e;
    if (to->is_far()) {
        if (is_null_constant(e))
            return wrap(ExprKind::Convert, e, to);
        if (from->is_pointer()) {
            check_pointers(e, from, to, what);
            return to_far(e, to);
        }
        if (from->is_integer()) {
            note_implicit(diag_.warning(range(e), "-Wint-conversion",
                                        std::string(what) + " makes " + quoted(to) +
                                            " from an integer without a cast"),
                          e);
            return e;
        }
        diag_.error(range(e),
                    std::string(what) + " cannot make " + quoted(to) + " from " + quoted(from));
        return e;
    }
    // The C compiler cannot check this, because all far pointers have one type in the translation,
    // and what it says of one and a local one would speak of that.
    if (from->is_local_pointer() && to->is_local_pointer() &&
        (from->base->is_far() || to->base->is_far()) && !is_null_constant(e) &&
        compare_pointees(from->base->unqualified, to->base->unqualified) == Pointees::Different &&
        (from->base->is_far() == to->base->is_far() || !what.starts_with("argument ")))
        diag_.warning(range(e), "-Wincompatible-pointer-types",
                      std::string(what) + " makes " + quoted(to) + " from " + quoted(from));
    if (!from->is_far() || to->kind == TypeKind::Bool || to->kind == TypeKind::Opaque)
        return e;
    if (to->is_local_pointer()) {
        warn_of_escape(e, from, what);
        return wrap(ExprKind::Convert, e, to);
    }
    if (to->is_integer())
        diag_.warning(range(e), "-Wint-conversion",
                      std::string(what) + " makes an integer from " + quoted(from) +
                          " without a cast");
    else
        diag_.error(range(e),
                    std::string(what) + " cannot make " + quoted(to) + " from " + quoted(from));
    return e;
}

// Checks an argument of a function with a K&R definition, which gets what the call has: of a local
// pointer a function that takes a global one reads the processor 0.
Expr *Sema::unconverted(Expr *e, const Type *to, std::string_view what)
{
    const Type *from = value_type(e);
    note_pointer_result(e, to);
    if (from->is_pointer() && to->is_pointer() && from->is_far() != to->is_far() &&
        !is_null_constant(e))
        diag_.warning(range(e), "-Wincompatible-pointer-types",
                      std::string(what) + " is " + quoted(from) + ", and the parameter is " +
                          quoted(to) +
                          ": a function without a prototype converts nothing; cast it");
    return e;
}

const Type *Sema::promote(const Type *type)
{
    if (type->kind == TypeKind::Enum)
        return types_.basic(type->enumeration->complete && !type->enumeration->negative
                                ? TypeKind::UInt
                                : TypeKind::Int);
    if (type->kind >= TypeKind::Bool && type->kind < TypeKind::Int)
        return types_.basic(TypeKind::Int);
    return type->unqualified;
}

// Returns the type of the usual arithmetic conversions (C17 6.3.1.8).
const Type *Sema::arithmetic(const Type *a, const Type *b)
{
    if (!a->is_arithmetic() || !b->is_arithmetic())
        return types_.unknown();
    for (const Type *type : {a, b})
        if (type->kind == TypeKind::Opaque)
            return type->unqualified;
    if (a->kind == TypeKind::Complex || b->kind == TypeKind::Complex) {
        auto part = [](const Type *t) { return t->kind == TypeKind::Complex ? t->base : t; };
        return types_.complex(arithmetic(part(a), part(b)));
    }
    a = promote(a);
    b = promote(b);
    if (a->kind == b->kind)
        return a;
    const Type *high = a->kind > b->kind ? a : b, *low = a->kind > b->kind ? b : a;
    // The kinds are ordered by rank, each unsigned type behind the signed one of its size.
    if (high->kind == TypeKind::LLong && low->kind == TypeKind::ULong)
        return types_.basic(TypeKind::ULLong);
    return high;
}

} // namespace splitcc
