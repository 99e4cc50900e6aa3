// SPDX-License-Identifier: BSD-3-Clause
#include "sema/scope.h"

namespace splitcc {
namespace {

Symbol *&slot(Symbol *symbol)
{
    return symbol->kind == SymbolKind::Tag ? symbol->name->tag : symbol->name->ordinary;
}

} // namespace

void Scopes::declare(Symbol *symbol)
{
    Symbol *&meaning = slot(symbol);
    symbol->shadowed = meaning;
    symbol->depth = depth();
    meaning = symbol;
    if (!at_file_scope())
        undo_.push_back(symbol);
}

void Scopes::leave()
{
    while (undo_.size() > marks_.back()) {
        Symbol *symbol = undo_.back();
        slot(symbol) = symbol->shadowed;
        undo_.pop_back();
    }
    marks_.pop_back();
}

} // namespace splitcc
