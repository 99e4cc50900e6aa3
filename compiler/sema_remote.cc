// SPDX-License-Identifier: BSD-3-Clause
//
// Functions that run on other processors.  Only functions that have a name can:
// what a pointer points to means nothing elsewhere.
#include "sema.h"

namespace splitcc {
namespace {

// The function that an expression names, or null.
Symbol *named_function(const Expr *e)
{
    while (e->kind == ExprKind::Paren || e->kind == ExprKind::AddressOf ||
           e->kind == ExprKind::Deref)
        e = e->a;
    return e->kind == ExprKind::Ident && e->symbol && e->symbol->kind == SymbolKind::Function
               ? e->symbol
               : nullptr;
}

// A result that fits into an answer.
bool returns_scalar(const Type *function)
{
    const Type *result = function->base;
    return result->kind == TypeKind::Void || result->is_pointer() ||
           (result->is_arithmetic() && size_of(result) <= 24);
}

} // namespace

// The default argument promotions (C17 6.5.2.2).
const Type *Sema::promoted_argument(const Type *type)
{
    return type->kind == TypeKind::Float ? types_.basic(TypeKind::Double) : promote(type);
}

bool Sema::is_atomic(const Symbol *symbol)
{
    return symbol && symbol->library && symbol->name->text == "atomic";
}

// Why that function cannot be run with so many arguments behind its object; empty
// if it can.
std::string Sema::unfit_for_atomic(const Symbol *fn, size_t arguments)
{
    const Type *type = fn->type;
    std::string name = "'" + std::string(fn->name->text) + "'";
    if (!fn->file_scope)
        return name + " has to be declared at file scope to run elsewhere";
    if (!returns_scalar(type))
        return name + " cannot be run by atomic(): it has to return a scalar or nothing, not '" +
               describe(type->base) + "'";
    if (!type->prototype)
        return {};
    if (type->params.empty() || !type->params[0]->is_pointer())
        return name + " cannot be run by atomic(): its first parameter has to be a pointer to "
                      "the object";
    if (type->params.size() != arguments + 1)
        return "atomic() passes " + std::to_string(arguments + 1) + " arguments to " + name +
               ", which has " + std::to_string(type->params.size()) + " parameters";
    return {};
}

// atomic(fn, object, arguments...)
Expr *Sema::run_at_owner(Expr *e)
{
    if (e->args.size() < 2)
        return fail(e, "atomic() needs a function and a global pointer to the object it is for");
    Symbol *fn = named_function(e->args[0]);
    if (!fn) {
        if (!e->args[0]->type->is_unknown())
            diag_.error(range(e->args[0]), "atomic() needs the name of a function: other "
                                           "processors do not know what a pointer points to here");
        return finish(e, types_.unknown());
    }
    if (std::string why = unfit_for_atomic(fn, e->args.size() - 2); !why.empty())
        return fail(e, why);
    std::vector<const Type *> params = fn->type->params;
    if (!fn->type->prototype)
        params = {types_.pointer(types_.basic(TypeKind::Void))};
    e->args[1] = convert(e->args[1], types_.pointer(params[0]->base, Space::Global),
                         "argument 2 of 'atomic'");
    for (size_t i = 2; i < e->args.size(); i++) {
        if (!fn->type->prototype)
            params.push_back(promoted_argument(value_type(e->args[i])));
        e->args[i] =
            convert(e->args[i], params[i - 1],
                    "argument " + std::to_string(i) + " of '" + std::string(fn->name->text) + "'");
    }
    // The call as it is made; the function's name is in the first argument's symbol.
    e->kind = ExprKind::RunAtOwner;
    e->touched = true;
    e->args[0]->symbol = fn;
    e->a->type = types_.function(fn->type->base, std::move(params), true, false);
    return finish(e, fn->type->base->unqualified);
}

} // namespace splitcc
