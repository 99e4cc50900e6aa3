// SPDX-License-Identifier: BSD-3-Clause
//
// Makes expressions, and places in memory, which it spells in different ways.
#include "generator.h"
#include "numbers.h"

#include <algorithm>

namespace random_program {

Expr Generator::constant_expr()
{
    static const std::vector<const Type *> all{&basic::Int, &basic::Int, &basic::UInt, &basic::Long,
                                               &basic::ULong};
    const Type *type = pick(all);
    long n = chance(70) ? below(100) : below(1L << 31);
    return constant(type->is_signed && chance(20) ? -n : n, type);
}

Expr Generator::leaf_expr()
{
    switch (below(8)) {
    case 0:
        return chance(50) ? proc() : procs();
    case 1:
        return constant_expr();
    case 2:
    case 3:
        if (depth_ > 0)
            return load(name(indices_[below(static_cast<long>(depth_))]));
        return constant_expr();
    case 4:
    case 5:
        if (!plain_indices_)
            return load(name(pick(numbers_)));
        return load(name(pick(uniform_)));
    default:
        if (plain_indices_)
            return proc();
        return memory_expr();
    }
}

// Returns the value of some element.  Its indices may read memory, but the indices of those may
// not, and a phase reads a limited number of times, because most indices are evaluated several
// times.
Expr Generator::memory_expr()
{
    if (index_depth_ >= 2 || reads_ >= 100)
        return constant_expr();
    reads_++;
    if (own_ && chance(40))
        return number_of(leaf(own_()));
    if (!readable_.empty())
        return number_of(leaf(some_element(pick(readable_))));
    return constant_expr();
}

Expr Generator::binary_expr(int depth)
{
    static const std::vector<std::string> any{"+",  "-",  "*", "+", "-",  "&",  "|",  "^",
                                              "==", "!=", "<", ">", "<=", ">=", "&&", "||"};
    if (chance(15)) {
        std::string token = chance(50) ? "<<" : ">>";
        return binary_node(token, expr(depth - 1), constant(below(8), &basic::Int));
    }
    if (chance(15)) {
        std::string token = chance(50) ? "/" : "%";
        return binary_node(token, expr(depth - 1), constant(1 + below(9), &basic::Int));
    }
    return binary_node(pick(any), expr(depth - 1), expr(depth - 1));
}

Expr Generator::expr(int depth)
{
    if (depth <= 0)
        return leaf_expr();
    switch (below(8)) {
    case 0:
        return cast(number_type(), expr(depth - 1));
    case 1:
        return unary_node(pick(std::vector<std::string>{"-", "~", "!"}), expr(depth - 1));
    case 2:
        return conditional_node(expr(depth - 1), expr(depth - 1), expr(depth - 1));
    case 3:
        return leaf_expr();
    default:
        return binary_expr(depth);
    }
}

// Returns the value of that place as an integer.
Expr Generator::number_of(const Expr &place)
{
    if (place->type->kind == Kind::Integer)
        return load(place);
    if (place->type->kind == Kind::Real)
        return cast(&basic::Long, load(place));
    bool may_follow = std::find(readable_.begin(), readable_.end(), targets_) != readable_.end();
    Expr empty = pointer_equal("==", load(place), null(place->type));
    if (!may_follow || chance(30))
        return chance(50) ? empty : pointer_equal("!=", load(place), pointer_expr(place->type));
    return conditional_node(empty, constant_expr(), load(deref(load(place))));
}

// Returns a number that stays small, to whatever and however often it is assigned.
Expr Generator::real_expr(const Expr &place)
{
    Expr small = cast(&basic::Double, cast(&basic::Int, expr(2)));
    if (chance(30))
        return small;
    return binary_node("+", binary_node("*", load(place), half()), small);
}

Expr Generator::pointer_expr(const Type *type)
{
    if (chance(15))
        return null(type);
    Expr position = index(elements_expr(targets_));
    Expr spread = pointer_add("+", decay(targets_, pointer(Space::Spread, &basic::Int)), position);
    if (type->space == Space::Spread)
        return spread;
    if (chance(30))
        return cast(type, spread);
    return address_of(element(targets_, position), pointer(Space::Global, &basic::Int));
}

// Returns an expression in the range 0 .. size - 1.
Expr Generator::index(const Expr &size)
{
    index_depth_++;
    Expr any = expr(1);
    index_depth_--;
    return binary_node("%", cast(&basic::ULong, any), cast(&basic::ULong, size));
}

// Returns the element, or block, at a position in an array, in one of many spellings.
Expr Generator::element(const Variable *array, const Expr &position)
{
    const Type *block_pointer = pointer(Space::Spread, array->type, array->block);
    Expr start = decay(array, block_pointer);
    Expr all = elements_expr(array);
    switch (below(6)) {
    case 0:
        return deref(pointer_add("+", start, position));
    case 1: // A[i] would be a sub-array if there are several spread dimensions
        return pointer_index(
            array->spread.size() == 1 ? start : pointer_add("+", start, constant(0, &basic::Int)),
            position);
    case 2: // counted from the end
        return deref(pointer_add("-", pointer_add("+", start, all),
                                 binary_node("-", all, cast(&basic::Long, position))));
    case 3:
        return deref(cast(pointer(Space::Global, array->type, array->block),
                          pointer_add("+", start, position)));
    default:
        return spread_element(array, position);
    }
}

Expr Generator::static_element(const Variable *variable, const Expr &owner)
{
    Expr first = subscript(name(variable), constant(0, &basic::Int));
    Expr start = to_global(owner, first, pointer(Space::Global, variable->type));
    Expr at = some_index(variable->block[0]);
    return chance(50) ? pointer_index(start, at) : deref(pointer_add("+", start, at));
}

Expr Generator::some_element(const Variable *object)
{
    if (object->home == Home::Static)
        return chance(30) && !far_only_ ? subscript(name(object), some_index(object->block[0]))
                                        : static_element(object, index(procs()));
    return element(object, index(elements_expr(object)));
}

Expr Generator::member(const Expr &place, const Member &m)
{
    bool far = place->op != Op::Name;
    if (chance(30) && far && !place_is_private(*place))
        return arrow(address_of(place, pointer(Space::Global, place->type)), m);
    return member_of(place, m);
}

Expr Generator::whole_element(Expr place)
{
    while (!place->block.empty())
        place = subscript(place, chance(40) ? constant(below(place->block[0].fixed), &basic::Int)
                                            : some_index(place->block[0]));
    return place;
}

// Descends to a scalar.
Expr Generator::leaf(Expr place)
{
    place = whole_element(place);
    while (place->type->kind == Kind::Record)
        place = whole_element(member(place, pick(place->type->members)));
    return place;
}

} // namespace random_program
