// SPDX-License-Identifier: BSD-3-Clause
//
// Values of initializers.  Far pointers are converted wherever they are in the object.
#include "sema/sema.h"

namespace splitcc {

// Returns whether the value is the same on all processors once static spread arrays are allocated:
// an array's name and, at file scope, what constants make of it.
static bool known_with_arrays(const Expr *e, bool file_scope)
{
    const Symbol *symbol = e->symbol;
    switch (e->kind) {
    case ExprKind::Ident:
        return symbol && (symbol->file_scope || symbol->storage == Storage::Static) &&
               (symbol->kind == SymbolKind::Constant || e->type->kind == TypeKind::SpreadArray);
    case ExprKind::SpreadDecay:
    case ExprKind::Convert:
    case ExprKind::Paren:
        return known_with_arrays(e->a, file_scope);
    case ExprKind::Number:
    case ExprKind::Char:
        return file_scope;
    case ExprKind::Cast:
    case ExprKind::GlobalDecay:
        return file_scope && known_with_arrays(e->a, true);
    case ExprKind::AddressOf: {
        const Expr *place = strip(e->a);
        return file_scope && place->kind == ExprKind::Index && known_with_arrays(place->a, true) &&
               known_with_arrays(place->b, true);
    }
    case ExprKind::Index:
        if (e->type->kind != TypeKind::Array && e->type->kind != TypeKind::SpreadArray)
            return false; // an element is read
        [[fallthrough]];
    case ExprKind::Binary:
        return file_scope && known_with_arrays(e->a, true) && known_with_arrays(e->b, true);
    default:
        return false;
    }
}

static bool names_spread_array(const Expr *e)
{
    return e && (e->type->kind == TypeKind::SpreadArray || names_spread_array(e->a) ||
                 names_spread_array(e->b));
}

// Returns the part of the value that reads or changes a global object; null if there is none.
static const Expr *use_of_global(const Expr *e)
{
    if (!e || e->value || e->kind == ExprKind::SizeofExpr)
        return nullptr;
    const bool changes =
        e->kind == ExprKind::Assign || e->kind == ExprKind::PreInc || e->kind == ExprKind::PostInc;
    if (e->kind == ExprKind::GlobalRead || (changes && e->a->global))
        return e;
    for (const Expr *operand : {e->a, e->b, e->c})
        if (const Expr *use = use_of_global(operand))
            return use;
    for (const Expr *arg : e->args)
        if (const Expr *use = use_of_global(arg))
            return use;
    return nullptr;
}

// The C compiler would speak of the call that the use of a global object becomes.
void Sema::check_constant(const Expr *e, std::string_view needed, std::string_view instead)
{
    if (const Expr *use = use_of_global(e))
        diag_.error(range(use), std::string(needed) +
                                    "; the value of this is known only when the "
                                    "program runs" +
                                    std::string(instead));
}

// A far pointer with static storage can be initialized with NULL or a number; by itself also with a
// place in static spread arrays.
bool Sema::check_static(const Expr *e, const Type *type)
{
    e = strip(e);
    const bool number =
        (e->type->is_integer() && e->value) ||
        (e->kind == ExprKind::Cast && (e->a->value || is_null_constant(strip(e->a))));
    if (!type->is_far() || is_null_constant(e) || number || e->type->is_unknown())
        return true;
    const std::string kind = type->space == Space::Spread ? "spread" : "global";
    const std::string what = names_spread_array(e) ? "value" : "processor";
    diag_.error(range(e), "a static " + kind + " pointer cannot start with this: its " + what +
                              " is known only when the program runs; assign it in splitc_main");
    return false;
}

Expr *Sema::initialize(Subobjects &objects, Expr *e)
{
    const Type *type = objects.take(e);
    Symbol *object = objects.static_object();
    const bool starts_later = object && objects.is_outermost() && type->is_far() &&
                              names_spread_array(e) && known_with_arrays(e, object->file_scope);
    if (object && !starts_later && !check_static(e, type))
        return value(e);
    if (type->kind == TypeKind::Array)
        return value(e);
    e = convert(e, type, "initialization");
    if (object && !type->is_far())
        check_constant(e, "a static object has to start with a constant",
                       "; assign it in splitc_main");
    if (reads_globally(e))
        check_kept(e, type, "initialization");
    if (starts_later)
        object->start = e;
    return e;
}

} // namespace splitcc
