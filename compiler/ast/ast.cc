// SPDX-License-Identifier: BSD-3-Clause
#include "ast/ast.h"

#include <algorithm>

namespace splitcc {

const Expr *strip(const Expr *e)
{
    while (e->kind == ExprKind::Paren)
        e = e->a;
    return e;
}

bool is_bit_field(const Expr *e)
{
    const Expr *named = strip(e);
    return named->member && named->member->bit_field;
}

bool Ast::defines(const Name *function) const
{
    return std::any_of(unit.begin(), unit.end(), [&](const Node *n) {
        if (n->node != NodeKind::Declaration)
            return false;
        const auto *d = static_cast<const Declaration *>(n);
        return d->is_definition && d->declarators[0].declarator.name == function;
    });
}

void Ast::release(const Mark &since)
{
    exprs_.release(std::max(since.exprs, kept_.exprs));
    stmts_.release(std::max(since.stmts, kept_.stmts));
    declarations_.release(std::max(since.declarations, kept_.declarations));
    type_names_.release(std::max(since.type_names, kept_.type_names));
    init_lists_.release(std::max(since.init_lists, kept_.init_lists));
    record_bodies_.release(std::max(since.record_bodies, kept_.record_bodies));
}

void Ast::release_scope(const Mark &since)
{
    if (kept_.exprs > since.exprs)
        kept_ = since;
    release(since);
}

} // namespace splitcc
