// SPDX-License-Identifier: BSD-3-Clause
#include "sema/place.h"

namespace splitcc {

// Returns the place of a[i], or of *a if there is no index, which is a[0].
static std::optional<Place> element_of(const Expr *array, const Expr *index)
{
    using Step = Place::Step;
    std::optional<Place> place = place_of(array);
    if (!place)
        return {};
    if (strip(array)->type->is_pointer())
        place->steps.push_back({.kind = Step::Deref});
    if (!index || index->value)
        place->steps.push_back({.kind = Step::Element, .index = index ? *index->value : 0});
    else if (index->kind == ExprKind::Ident && index->symbol)
        place->steps.push_back({.kind = Step::ElementAt, .variable = index->symbol});
    else
        return {};
    return place;
}

std::optional<Place> place_of(const Expr *e)
{
    std::optional<Place> place;
    switch (e->kind) {
    case ExprKind::Paren:
    case ExprKind::GlobalRead: // a pointer that is itself in global memory
    case ExprKind::GlobalDecay:
    case ExprKind::SpreadDecay:
        return place_of(e->a);
    case ExprKind::Ident:
        if (e->symbol && e->symbol->kind == SymbolKind::Object)
            place = Place{e->symbol, {}};
        return place;
    case ExprKind::Index:
        return element_of(e->a, strip(e->b));
    case ExprKind::Deref:
        return element_of(e->a, nullptr);
    case ExprKind::Dot:
    case ExprKind::Arrow:
        place = e->kind == ExprKind::Arrow ? element_of(e->a, nullptr) : place_of(e->a);
        if (place)
            place->steps.push_back({.kind = Place::Step::Member, .member = e->member});
        return place;
    default:
        return {};
    }
}

std::optional<Place> pointee(const Expr *e, const Expr *bytes)
{
    e = strip(e);
    while (e->kind == ExprKind::Convert || e->kind == ExprKind::Cast ||
           e->kind == ExprKind::ToLocal)
        e = strip(e->a);
    if (e->kind == ExprKind::AddressOf)
        return place_of(e->a);
    std::optional<int64_t> size = size_of(e->type);
    bool whole = e->type->kind == TypeKind::Array && size && bytes->value && *bytes->value >= *size;
    if (whole)
        return place_of(e);
    return e->type->is_pointer() || e->type->kind == TypeKind::Array ? element_of(e, nullptr)
                                                                     : std::nullopt;
}

} // namespace splitcc
