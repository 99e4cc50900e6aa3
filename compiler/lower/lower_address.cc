// SPDX-License-Identifier: BSD-3-Clause
//
// Where an object in the global address space is: the pointer and the offset that lead to it.
#include "lower/lower.h"

namespace splitcc {

// Returns the pointer by which `e` is instrumented, and its offset from what that points to.  Both
// are on the same processor, so the window of the pointer is that of the object, and the C compiler
// can look it up once for a loop over an array.
Lower::Target Lower::locate(const Expr *e)
{
    e = strip(e);
    switch (e->kind) {
    case ExprKind::Deref:
        return locate_pointee(e->a);
    case ExprKind::Dot:
    case ExprKind::Arrow:
        return locate_member(e);
    case ExprKind::Index: {
        if (e->a->type->kind == TypeKind::SpreadArray)
            return {spread_element(e), {}};
        bool swapped = !e->a->type->is_far();
        const Expr *pointer = swapped ? e->b : e->a, *index = swapped ? e->a : e->b;
        return locate_element(pointer, block_index(e, pointer, index));
    }
    case ExprKind::Unary: { // the real or imaginary part of a complex number
        Target number = locate(e->a);
        if (e->op == Tok::KwReal)
            return number;
        return std::move(number) + ("sizeof(" + type(e->type->unqualified) + ")");
    }
    case ExprKind::Comma:
        return {"(" + node(e->a) + ", " + address(e->b) + ")", {}};
    case ExprKind::Conditional:
        return {"(" + node(e->a) + " ? " + address(e->b) + " : " + address(e->c) + ")", {}};
    default:
        return {"(" + node(e) + ")", {}};
    }
}

// Locates *p, where p may be a sum.
Lower::Target Lower::locate_pointee(const Expr *pointer)
{
    const Expr *sum = strip(pointer);
    if (sum->kind == ExprKind::Binary && sum->op == Tok::Plus) {
        if (sum->a->type->is_far())
            return locate_element(sum->a, node(sum->b));
        if (sum->b->type->is_far())
            return locate_element(sum->b, node(sum->a));
    }
    return {"(" + node(pointer) + ")", {}};
}

// Locates p[index].
Lower::Target Lower::locate_element(const Expr *pointer, Rope index)
{
    const Type *t = pointer->type;
    if (t->space == Space::Spread)
        return {advance(node(pointer), t, std::move(index)), {}};
    const Expr *array = strip(pointer);
    Target target = array->kind == ExprKind::GlobalDecay ? locate(array->a)
                                                         : Target{"(" + node(pointer) + ")", {}};
    return std::move(target) + scaled(t, std::move(index));
}

// Locates g->a.b, which is the offset of a.b in *g.
Lower::Target Lower::locate_member(const Expr *e)
{
    Rope path = tokens_.spelling(e->name_token);
    const Expr *object = e;
    while (object->kind == ExprKind::Dot) {
        const Expr *inner = strip(object->a);
        if (inner->kind != ExprKind::Dot && inner->kind != ExprKind::Arrow)
            return locate(inner) + offset_of(inner->type, std::move(path));
        object = inner;
        path = Rope(tokens_.spelling(object->name_token)) + "." + std::move(path);
    }
    return locate_pointee(object->a) + offset_of(object->a->type->base, std::move(path));
}

Rope Lower::offset_of(const Type *record, Rope path)
{
    return "__builtin_offsetof(" + type(record->unqualified) + ", " + std::move(path) + ")";
}

Rope Lower::address(const Expr *e)
{
    Target target = locate(e);
    if (target.offset.empty())
        return std::move(target.pointer);
    return "(" + std::move(target.pointer) + " + " + std::move(target.offset) + ")";
}

// Describes which dimension of its array the index is for.
std::string Lower::spread_dimension(const Expr *e) const
{
    int dimension = 1;
    const Expr *base = strip(e->a);
    for (; base->kind == ExprKind::Index && base->a->type->kind == TypeKind::SpreadArray;
         base = strip(base->a))
        dimension++;
    bool only = base->type->spread.size() == 1;
    return (only ? "" : "dimension " + std::to_string(dimension) + " of ") + quoted_source(base);
}

// Returns the row-major position of an element, or of a sub-array's first element.
Rope Lower::spread_position(const Expr *e, const Expr *&base)
{
    e = strip(e);
    if (e->kind != ExprKind::Index || e->a->type->kind != TypeKind::SpreadArray) {
        base = e;
        return {};
    }
    Rope before = spread_position(e->a, base);
    // The first size of a parameter may be missing.
    bool checked = checks_ && e->a->type->spread.front()->size;
    Rope index = checked ? checked_index(node(e->b), extent(*e->a->type->spread.front()),
                                         spread_dimension(e), e)
                         : "(long)(" + node(e->b) + ")";
    if (before.empty())
        return index;
    const Type *array = strip(e->a)->type;
    return "(" + std::move(before) + ") * (long)(" + extent(*array->spread.front()) + ") + " +
           std::move(index);
}

// Returns the address of an element; for a whole array or sub-array, that of its first block.
Rope Lower::spread_element(const Expr *e)
{
    const Expr *base = nullptr;
    Rope position = spread_position(e, base);
    Rope start = "(" + node(base) + ")";
    if (position.empty())
        return start;
    const Type *t = strip(e)->type, *block = t;
    if (t->kind == TypeKind::SpreadArray) {
        block = t->base;
        for (const Extent *rest : t->spread)
            position = "(" + std::move(position) + ") * (long)(" + extent(*rest) + ")";
    }
    return "splitc_spread_add(" + std::move(start) + ", " + std::move(position) + ", " +
           size_of(block) + ")";
}

// Returns a far pointer that is `count` elements further.
Rope Lower::advance(Rope pointer, const Type *t, Rope count)
{
    if (t->space == Space::Spread)
        return "splitc_spread_add(" + std::move(pointer) + ", (long)(" + std::move(count) + "), " +
               size_of(t->base) + ")";
    return "((" + std::move(pointer) + ") + " + scaled(t, std::move(count)) + ")";
}

// Returns the size of `count` elements in bytes.
Rope Lower::scaled(const Type *t, Rope count)
{
    return "(splitc_ptr)((long)(" + std::move(count) + ") * (long)" + size_of(t->base) + ")";
}

} // namespace splitcc
