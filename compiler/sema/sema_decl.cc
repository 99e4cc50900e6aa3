// SPDX-License-Identifier: BSD-3-Clause
//
// The rules of Split-C for declarations.
#include "sema/sema.h"

#include <algorithm>

namespace splitcc {

// Returns whether the value of an expression is known only inside a function.
static bool uses_automatic(const Expr *e)
{
    const Symbol *symbol = e->kind == ExprKind::Ident ? e->symbol : nullptr;
    if (symbol && symbol->kind == SymbolKind::Object && !symbol->file_scope)
        return symbol->storage != Storage::Static && symbol->storage != Storage::Extern;
    for (const Expr *part : {e->a, e->b, e->c})
        if (part && uses_automatic(part))
            return true;
    return false;
}

// Returns whether the value of a size may change before functions run.  PROCS is const.
static bool may_change(const Expr *e)
{
    const Symbol *symbol = e->symbol;
    switch (e->kind) {
    case ExprKind::Ident:
        return symbol && symbol->kind == SymbolKind::Object &&
               !(symbol->file_scope && (object_quals(symbol->type) & kConst));
    case ExprKind::Call: // builtins have no symbols
        if (e->a->kind != ExprKind::Ident || e->a->symbol)
            return true;
        break;
    case ExprKind::StmtExpr:
    case ExprKind::RunAtOwner:
        return true;
    case ExprKind::SizeofExpr:
        return uses_automatic(e->a);
    default:
        break;
    }
    auto changes = [](const Expr *part) { return part && may_change(part); };
    return changes(e->a) || changes(e->b) || changes(e->c) ||
           std::any_of(e->args.begin(), e->args.end(), changes);
}

// Returns what is wrong with a dimension; empty if nothing is.  If `fixed`, it has to be known
// before functions run.
std::string Sema::wrong_dimension(const Extent &extent, bool fixed)
{
    if (!extent.size)
        return "a spread array needs the size of every dimension";
    if (extent.value)
        return *extent.value >= 0
                   ? std::string()
                   : "a dimension cannot have " + std::to_string(*extent.value) + " elements";
    const Type *type = value_type(extent.size);
    if (!type->is_unknown() && type->kind != TypeKind::Opaque && !type->is_integer())
        return "the size of a dimension has to be an integer, not '" + describe(type) + "'";
    if (fixed && may_change(extent.size))
        return "a static spread array is allocated before the program begins: its sizes may "
               "use PROCS and constants, but neither variables nor calls";
    return {};
}

bool Sema::check_spread_array(const InitDeclarator &d, const Symbol &symbol)
{
    const Token name = tokens_[d.declarator.name_token];
    if (symbol.storage == Storage::Register && !symbol.parameter) {
        diag_.error(name.range(),
                    "a spread array is shared by all processors; it cannot be 'register'");
        return false;
    }
    const bool fixed =
        !symbol.parameter && (symbol.file_scope || symbol.storage == Storage::Static ||
                              symbol.storage == Storage::Extern);
    auto check = [&](const Extent &extent) {
        std::string wrong = wrong_dimension(extent, fixed);
        if (!wrong.empty())
            diag_.error(extent.size ? range(extent.size) : name.range(), wrong);
        return wrong.empty();
    };
    // A parameter points to the first of any number of blocks, and an array that is defined
    // elsewhere may have any number, so their first size may be missing.
    const bool open = symbol.parameter || symbol.storage == Storage::Extern;
    for (size_t i = open && !d.type->spread[0]->size; i < d.type->spread.size(); i++)
        if (!check(*d.type->spread[i]))
            return false;
    for (const Type *block = d.type->base;
         block->kind == TypeKind::Array && block->captured.empty(); block = block->base)
        if (!check(block->extent))
            return false;
    return true;
}

// The launcher calls splitc_main with int and char **; integers and pointers of other types are
// what old programs leave them, and get what is passed as well as it fits.
void Sema::check_splitc_main(const InitDeclarator &d)
{
    const Type *type = d.symbol->type, *result = type->base->unqualified;
    // What a definition in the old style does not declare is int.
    auto is_vector = [type](const Type *t) {
        return (t->is_local_pointer() && t->base->is_local_pointer()) ||
               (!type->prototype && t->kind == TypeKind::Int);
    };
    auto is_word = [](const Type *t) { return t->is_local_pointer() || t->is_integer(); };
    const std::vector<const Type *> &params = type->params;
    if (std::ranges::any_of(params, &Type::is_unknown)) // its declaration was reported
        return;
    bool right = result->kind == TypeKind::Int || result->kind == TypeKind::Void;
    bool possible = (right || result->is_integer()) && params.size() <= 3 && !type->variadic;
    for (size_t i = 0; possible && i < params.size(); i++) {
        right = right &&
                (i == 0 ? params[i]->unqualified->kind == TypeKind::Int : is_vector(params[i]));
        possible = i == 0 ? params[i]->is_integer() : is_word(params[i]);
    }
    const Token before = tokens_[std::max(d.declarator.name_token, 1u) - 1];
    if (result->kind == TypeKind::Record &&
        before.kind == Tok::RBrace) { // of the struct in front of it
        diag_.error(before.range(), "expected ';' after the definition before 'splitc_main'")
            .insert_after(before.range(), ";");
        return;
    }
    const std::string text =
        "'splitc_main' is called as 'int splitc_main(int argc, char *argv[])'; it is '" +
        // One of old style has its parameters, too.
        describe(types_.function(type->base, params, true, type->variadic)) + "'";
    if (!possible)
        diag_.error(tokens_[d.declarator.name_token].range(), text);
    else if (!right)
        diag_.warning(tokens_[d.declarator.name_token].range(), "-Wmain", text);
}

bool Sema::check_redeclaration(const Symbol *old, const Symbol *fresh)
{
    if (old->kind == SymbolKind::Builtin)
        return true;
    bool far = old->type && fresh->type && (mentions_far(old->type) || mentions_far(fresh->type));
    if (old->kind != fresh->kind) {
        diag_.error(tokens_[fresh->token].range(),
                    "'" + std::string(fresh->name->text) + "' is declared again as something else");
        diag_.note(tokens_[old->token].range(), "it was declared here");
        return false;
    }
    if (far && !same_type(old->type, fresh->type)) {
        diag_.error(tokens_[fresh->token].range(), "'" + std::string(fresh->name->text) +
                                                       "' is declared again with another type, '" +
                                                       describe(fresh->type) + "'");
        diag_.note(tokens_[old->token].range(),
                   "it was declared here as '" + describe(old->type) + "'");
    }
    return true;
}

// What the prototype converts arguments to is what the parameters are.
void Sema::check_old_style(const InitDeclarator &d, const Type *definition)
{
    const std::vector<const Type *> &promised = d.symbol->type->params, &own = definition->params;
    for (size_t i = 0; i < promised.size() && i < own.size(); i++) {
        bool far = mentions_far(promised[i]) || mentions_far(own[i]);
        if (!far || own[i]->is_unknown() || same_type(promised[i], own[i]))
            continue;
        const Part &function = d.declarator.parts.front();
        diag_.error(tokens_[function.param_symbols[i]->token].range(),
                    "this parameter is " + quoted(own[i]) + ", but a prototype says " +
                        quoted(promised[i]));
        return;
    }
}

const Type *Sema::typeof_value(const Expr *e)
{
    if (e->type->kind != TypeKind::SpreadArray)
        return e->type;
    const Expr *operand = strip(e);
    if (operand->kind == ExprKind::Ident && operand->symbol->parameter)
        return types_.decayed(e->type);
    diag_.error(range(e), "typeof of a spread array names no type; declare another array "
                          "with its dimensions");
    return types_.unknown();
}

} // namespace splitcc
