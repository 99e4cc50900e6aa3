// SPDX-License-Identifier: BSD-3-Clause
//
// Far pointers that become local pointers, which do not know their processor: tolocal(), and the
// warnings -Wlocal-escape and -Wcast-local.
#include "sema/sema.h"

namespace splitcc {
namespace {

const Symbol *variable(const Expr *e)
{
    while (e->kind == ExprKind::Paren || e->kind == ExprKind::SpreadDecay ||
           e->kind == ExprKind::GlobalRead)
        e = e->a;
    bool object = e->kind == ExprKind::Ident && e->symbol && e->symbol->name &&
                  e->symbol->kind == SymbolKind::Object;
    return object ? e->symbol : nullptr;
}

} // namespace

// Returns whether this is a call of split-c.h whose type no declaration can express.
bool Sema::is_typed_here(const Symbol *symbol)
{
    if (!symbol || !symbol->library)
        return false;
    std::string_view name = symbol->name->text;
    return name == "tolocal" || name == "toproc" || name == "atomic";
}

Expr *Sema::typed_call(Expr *e)
{
    std::string_view name = e->a->symbol->name->text;
    if (name == "atomic")
        return run_at_owner(e);
    check_argument_count(e, e->a->type);
    if (e->args.size() != 1)
        return finish(e, types_.unknown());
    return name == "tolocal" ? to_local(e) : to_proc(e);
}

// tolocal(pointer).  Old programs use it also for pointers that are local already.
Expr *Sema::to_local(Expr *e)
{
    Expr *operand = value(e->args[0]);
    const Type *from = value_type(operand);
    e->kind = ExprKind::ToLocal;
    e->a = operand;
    e->args.clear();
    e->touched = true;
    if (from->is_far())
        return finish(e, types_.pointer(from->base));
    if (from->is_unknown() || is_null_constant(operand))
        return finish(e, from);
    if (!from->is_pointer() && !from->is_integer())
        return fail(e, "'tolocal' takes a global pointer; this is " + quoted(from));
    diag_.warning(range(operand), "-Wtolocal",
                  "'tolocal' takes a global pointer; this is " + quoted(from) +
                      ", and stays what it is");
    return finish(e, from);
}

// toproc(pointer).  Programs also pass integers that hold a pointer.
Expr *Sema::to_proc(Expr *e)
{
    Expr *operand = value(e->args[0]);
    const Type *from = value_type(operand);
    const bool null = is_null_constant(operand);
    e->kind = ExprKind::ToProc;
    e->args.clear();
    e->touched = true;
    if (from->is_local_pointer() && !null)
        operand = to_far(operand, types_.pointer(from->base, Space::Global));
    e->a = operand;
    if (!from->is_pointer() && !from->is_integer() && !from->is_unknown())
        return fail(e, "'toproc' takes a global pointer; this is " + quoted(from));
    if (from->is_integer() && size_of(from) < 8 && !null)
        diag_.warning(range(operand), "-Wint-conversion",
                      "'toproc' takes a global pointer; this is " + quoted(from) +
                          ", which can hold none");
    return finish(e, types_.basic(TypeKind::Int));
}

// The result of tolocal() for a spread array points to its block.  Programs use it also as a
// pointer to the block's first element, so it takes the type that the context wants.
Expr *Sema::retyped_local(Expr *e, const Type *to)
{
    Expr *call = e;
    while (call->kind == ExprKind::Paren)
        call = call->a;
    if (call->kind != ExprKind::ToLocal || !call->type->is_pointer() || !to->is_local_pointer())
        return e;
    for (const Type *part = call->type->base; part->kind == TypeKind::Array; part = part->base)
        if (same_type(part->base, to->base) && !(object_quals(part) & ~object_quals(to->base))) {
            for (Expr *outer = e; outer != call; outer = outer->a)
                outer->type = to;
            call->type = to;
            break;
        }
    return e;
}

// Adds a note that shows the declaration of the pointer which loses its processor.
void Sema::note_declaration(const Report &report, const Expr *e)
{
    if (const Symbol *symbol = variable(e))
        report.note(range(symbol->token),
                    "'" + std::string(symbol->name->text) + "' is declared here");
}

void Sema::warn_of_escape(const Expr *e, const Type *from, std::string_view what)
{
    const bool of_spread_heap = from->space == Space::Spread && what == "argument 1 of 'free'";
    Report report = diag_.warning(
        range(e), "-Wlocal-escape",
        std::string(what) + " drops the processor of '" + describe(from) + "'; " +
            (of_spread_heap ? "all_spread_free() frees what all_spread_malloc() returned"
                            : "write tolocal() if that is meant"));
    if (!of_spread_heap)
        report.surround(range(e), "tolocal(", ")");
    note_declaration(report, e);
}

void Sema::warn_of_local_cast(const Expr *e)
{
    Report report =
        diag_.warning(range(e), "-Wcast-local",
                      "this cast drops the processor of '" + describe(value_type(e->a)) +
                          "'; write tolocal() if that is meant");
    note_declaration(report, e->a);
}

} // namespace splitcc
