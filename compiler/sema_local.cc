// SPDX-License-Identifier: BSD-3-Clause
//
// -Wlocal-escape and -Wcast-local: far pointers that become local ones, and with
// it forget which processor they point into.
#include "sema.h"

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

// `(typeof(*(g)) *)(g)`, which tolocal(g) is: whoever writes it means it.
bool is_tolocal(const Expr *cast)
{
    const Node *operand = cast->type_name->specifiers.typeof_operand;
    return operand && operand->node == NodeKind::Expr &&
           static_cast<const Expr *>(operand)->kind == ExprKind::Deref;
}

} // namespace

// Where the pointer that loses its processor was declared.
void Sema::note_declaration(const Report &report, const Expr *e)
{
    if (const Symbol *symbol = variable(e))
        report.note(range(symbol->token),
                    "'" + std::string(symbol->name->text) + "' is declared here");
}

void Sema::warn_of_escape(const Expr *e, const Type *from, std::string_view what)
{
    Report report = diag_.warning(range(e), "-Wlocal-escape",
                                  std::string(what) + " drops the processor of '" + describe(from) +
                                      "'; write tolocal() if that is meant");
    report.surround(range(e), "tolocal(", ")");
    note_declaration(report, e);
}

void Sema::warn_of_local_cast(const Expr *e)
{
    if (is_tolocal(e))
        return;
    Report report =
        diag_.warning(range(e), "-Wcast-local",
                      "this cast drops the processor of '" + describe(value_type(e->a)) +
                          "'; write tolocal() if that is meant");
    note_declaration(report, e->a);
}

} // namespace splitcc
