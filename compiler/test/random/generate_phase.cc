// SPDX-License-Identifier: BSD-3-Clause
//
// Makes what each processor does by itself between two barriers.
#include "generator.h"
#include <algorithm>

namespace random_program {
namespace {

// Returns the processor that is `by` further.
Expr shifted(long by)
{
    return binary_node("%", binary_node("+", proc(), constant(by, &basic::Int)), procs());
}

} // namespace

void Generator::write_leaf(Body &body, const Expr &place)
{
    static const std::vector<std::string> tokens{"", "", "", "+", "-", "*", "&", "|", "^"};
    const Type *type = place->type;
    Expr write;
    if (type->kind == Kind::Pointer)
        write = assign("", place, pointer_expr(type));
    else if (type->kind == Kind::Real)
        write = chance(25) ? assign("*", place, half()) : assign("", place, real_expr(place));
    else if (chance(15))
        write = step(chance(50) ? "++" : "--", place, chance(50));
    else if (chance(20))
        write = assign(pick(std::vector<std::string>{"/", "%", "<<", ">>"}), place,
                       constant(1 + below(7), &basic::Int));
    else
        write = assign(pick(tokens), place, expr(3));
    if (type->kind == Kind::Integer && chance(25))
        write = assign("", name(pick(targets_of_gets_)), write);
    body.push_back(evaluate(write));
}

void Generator::write_record(Body &body, const Place &own)
{
    Expr place = whole_element(own());
    size_t which = std::find(program_.records.begin(), program_.records.end(), place->type) -
                   program_.records.begin();
    Expr mine = name(records_[which]);
    if (chance(50)) {
        body.push_back(evaluate(assign("", mine, place)));
        write_leaf(body, leaf(mine));
    }
    body.push_back(evaluate(assign("", place, mine)));
}

// Gets into own variables, and a put, followed by sync().
void Generator::split_phase(Body &body, const Place &own)
{
    plain_indices_ = far_only_ = true;
    size_t gets = 1 + static_cast<size_t>(below(3));
    for (size_t i = 0; i < gets; i++) {
        Expr from = leaf(readable_.empty() || chance(30) ? own() : some_element(pick(readable_)));
        if (from->type->kind == Kind::Integer)
            body.push_back(transfer(Do::Get, name(targets_of_gets_[i]), load(from)));
    }
    plain_indices_ = false;
    body.push_back(simple(Do::Sync));
    Expr to = leaf(own());
    far_only_ = false;
    if (to->type->kind == Kind::Integer) {
        body.push_back(transfer(Do::Put, to, expr(2)));
        body.push_back(simple(Do::Sync));
    }
}

// { T *global p = &element; ... } with steps over the block.
void Generator::with_pointer(Body &body, const Place &own)
{
    Expr place = own();
    const Type *type = pointer(Space::Global, place->type);
    long length = product(place->block, 0);
    for (Expr first = place; !first->block.empty();)
        place = first = subscript(first, constant(0, &basic::Int));
    const Variable *p = variable("p" + std::to_string(names_++), type);
    Statement with{Do::Declare, {address_of(place, type)}};
    with.variable = p;
    for (long at = 0; at < length && at < 4; at++) {
        bool steps = chance(50) && at + 1 < length;
        Expr here = steps        ? deref(step("++", name(p), false))
                    : chance(50) ? deref(load(name(p)))
                                 : pointer_index(load(name(p)), constant(0, &basic::Int));
        // p++ is evaluated once, so the value is a plain number.
        if (steps && here->type->kind == Kind::Integer)
            with.body.push_back(evaluate(assign("", here, expr(2))));
        else if (steps)
            with.body.push_back(evaluate(step("++", name(p), true)));
        else
            write_leaf(with.body, leaf(here));
    }
    body.push_back(std::make_shared<Statement>(with));
}

// Copies the whole block out and in again.  Numbers are doubled in between.
void Generator::bulk(Body &body, const Variable *object, const Place &own)
{
    Expr place = own();
    Expr length = constant(product(place->block, 0), &basic::Long);
    for (Expr first = place; !first->block.empty();)
        place = first = subscript(first, constant(0, &basic::Int));
    const Type *type = pointer(Space::Global, object->type);
    const Variable *b = buffer(object->type);
    bool split = chance(50);
    body.push_back(
        bulk_node(split ? "bulk_get" : "bulk_read", name(b), address_of(place, type), length, b));
    if (split)
        body.push_back(simple(Do::Sync));
    write_leaf(body, leaf(subscript(name(b), constant(0, &basic::Int))));
    split = chance(50);
    body.push_back(
        bulk_node(split ? "bulk_put" : "bulk_write", address_of(place, type), name(b), length, b));
    if (split)
        body.push_back(simple(Do::Sync));
}

Body Generator::own_statements(const Variable *object, const Place &own)
{
    Body body;
    own_ = own;
    for (long i = 1 + below(3); i > 0; i--) {
        switch (below(9)) {
        case 0:
            split_phase(body, own);
            break;
        case 1:
            with_pointer(body, own);
            break;
        case 2:
            bulk(body, object, own);
            break;
        case 3:
            if (object->type->kind == Kind::Record)
                write_record(body, own);
            break;
        case 4: {
            Statement choice{Do::If, {expr(2)}};
            write_leaf(choice.body, leaf(own()));
            if (chance(50))
                write_leaf(choice.otherwise, leaf(own()));
            body.push_back(std::make_shared<Statement>(choice));
            break;
        }
        case 5:
            private_statement(body);
            break;
        default:
            write_leaf(body, leaf(own()));
        }
    }
    own_ = nullptr;
    return body;
}

// Visits the elements of this processor.
Statement Generator::sweep(const Variable *object, const Slice &slice,
                           const std::function<Body(Place)> &f)
{
    Expr me = shifted(slice.shift);
    if (object->home == Home::Static) {
        Statement block{Do::If, {constant(1, &basic::Int)}};
        block.body = f([=, this] {
            return slice.shift == 0 && !far_only_
                       ? subscript(name(object), some_index(object->block[0]))
                       : static_element(object, me);
        });
        return block;
    }
    const Variable *i = indices_[depth_++];
    Expr all = elements_expr(object), wide = cast(&basic::Long, me);
    Expr from = wide, to = all, by = procs();
    if (!slice.cyclic) {
        Expr next = binary_node("+", wide, constant(1, &basic::Long));
        from = binary_node("/", binary_node("*", wide, all), procs());
        to = binary_node("/", binary_node("*", next, all), procs());
        by = constant(1, &basic::Long);
    }
    Statement loop{Do::For, {from, to, by}};
    loop.variable = i;
    loop.body = f([=, this] { return element(object, load(name(i))); });
    depth_--;
    return loop;
}

// A spread pointer that passes this processor's elements forwards or backwards.
void Generator::spread_walk(Body &body, const Variable *array)
{
    const Type *type = pointer(Space::Spread, array->type, array->block);
    const Variable *p = variable("p" + std::to_string(names_++), type);
    const Variable *i = indices_[depth_];
    bool back = chance(50);
    Expr me = shifted(below(3));
    Expr all = elements_expr(array), start = decay(array, type);
    // It goes backwards from the last element that is a multiple of PROCS away from the first.
    Expr steps = binary_node("/",
                             binary_node("-", binary_node("+", all, procs()),
                                         binary_node("+", me, constant(1, &basic::Int))),
                             procs());
    Expr last =
        binary_node("+", cast(&basic::Long, me),
                    binary_node("*", binary_node("-", steps, constant(1, &basic::Int)), procs()));
    Statement with{Do::Declare, {pointer_add("+", start, back ? last : cast(&basic::Long, me))}};
    with.variable = p;
    Statement loop{Do::For, {constant(0, &basic::Int), steps, constant(1, &basic::Int)}};
    loop.variable = i;
    depth_++;
    own_ = [p] { return deref(load(name(p))); };
    loop.body.push_back(
        evaluate(assign("+", name(targets_of_gets_[0]), pointer_difference(load(name(p)), start))));
    write_leaf(loop.body, leaf(own_()));
    own_ = nullptr;
    loop.body.push_back(evaluate(assign(back ? "-" : "+", name(p), procs())));
    depth_--;
    with.body.push_back(std::make_shared<Statement>(loop));
    body.push_back(std::make_shared<Statement>(with));
}

void Generator::private_statement(Body &body)
{
    if (chance(20)) {
        Statement choice{Do::If, {expr(2)}};
        choice.body.push_back(evaluate(assign("", name(pick(targets_of_gets_)), expr(2))));
        body.push_back(std::make_shared<Statement>(choice));
    } else if (chance(20)) {
        write_leaf(body, leaf(name(pick(records_))));
    } else {
        body.push_back(evaluate(assign(pick(std::vector<std::string>{"", "+", "^", "-"}),
                                       name(pick(targets_of_gets_)), expr(3))));
    }
}

// All processors add to the same elements.
void Generator::count(Body &body, const Variable *object)
{
    const Type *type = pointer(Space::Global, object->type);
    for (long i = 1 + below(3); i > 0; i--)
        body.push_back(
            evaluate(fetch_add(address_of(whole_element(some_element(object)), type), expr(1))));
}

// Each leaf is stored to once, because stores arrive in any order.
Body Generator::store_body(const Variable *object, const Place &own)
{
    Body body;
    Expr place = own();
    while (!place->block.empty())
        place = subscript(place, constant(below(place->block[0].fixed), &basic::Int));
    if (object->type->kind == Kind::Record && chance(50)) {
        size_t which = std::find(program_.records.begin(), program_.records.end(), place->type) -
                       program_.records.begin();
        body.push_back(transfer(Do::Store, place, name(records_[which])));
        return body;
    }
    while (place->type->kind == Kind::Record) {
        const Member &m = pick(place->type->members);
        if (m.bits)
            return body;
        place = member_of(place, m);
        if (m.count)
            place = subscript(place, constant(0, &basic::Int));
    }
    const Type *type = place->type;
    Expr value = type->kind == Kind::Pointer ? pointer_expr(type)
                 : type->kind == Kind::Real  ? cast(type, cast(&basic::Int, expr(2)))
                                             : expr(3);
    body.push_back(transfer(Do::Store, place, value));
    return body;
}

void Generator::add_sweep(Body &body, const Variable *object, bool only_stores)
{
    bool is_static = object->home == Home::Static;
    if (only_stores) {
        auto f = [&](const Place &own) { return store_body(object, own); };
        // A static array is one element here, and only constant subscripts store once.
        if (!is_static)
            body.push_back(std::make_shared<Statement>(sweep(object, {chance(50), below(3)}, f)));
        return;
    }
    bool counts = !is_static && object->block.empty() &&
                  (object->type == &basic::Int || object->type == &basic::Long);
    if (counts && chance(25))
        return count(body, object);
    if (!is_static && chance(20))
        return spread_walk(body, object);
    auto f = [&](const Place &own) { return own_statements(object, own); };
    Slice slice{chance(50), below(3)};
    // A slice of a static object belongs to one processor, so it is visited once.
    body.push_back(std::make_shared<Statement>(sweep(object, slice, f)));
}

} // namespace random_program
