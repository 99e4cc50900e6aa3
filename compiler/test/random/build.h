// SPDX-License-Identifier: BSD-3-Clause
//
// Short functions that make the nodes of a random program, with their types.
#pragma once

#include "numbers.h"

namespace random_program {

inline Expr node(Op op, const Type *type, std::vector<Expr> kids = {}, std::string token = "")
{
    return std::make_shared<Node>(Node{op, type, std::move(kids), {}, std::move(token)});
}

// Makes a place; if `block` is not empty, that of an array of this shape.
inline Expr place_node(Op op, const Type *type, std::vector<Expr> kids,
                       std::vector<Dimension> block)
{
    return std::make_shared<Node>(Node{op, type, std::move(kids), std::move(block)});
}

// ---- values

inline Expr constant(long value, const Type *type)
{
    return std::make_shared<Node>(Node{Op::Constant, type, {}, {}, "", value});
}

inline Expr half()
{
    return node(Op::Half, &basic::Double);
}
inline Expr proc()
{
    return node(Op::MyProc, &basic::Int);
}
inline Expr procs()
{
    return node(Op::Procs, &basic::Int);
}
inline Expr null(const Type *type)
{
    return node(Op::Null, type);
}
inline Expr load(const Expr &place)
{
    return node(Op::Load, place->type, {place});
}
inline Expr cast(const Type *type, const Expr &e)
{
    return node(Op::Cast, type, {e});
}

inline Expr size_expr(const Dimension &dimension)
{
    return place_node(Op::Size, &basic::Long, {}, {dimension});
}

inline Expr binary_node(const std::string &token, const Expr &a, const Expr &b)
{
    const Type *type = is_comparison(token) ? &basic::Int
                       : is_shift(token)    ? promoted(*a)
                                            : usual(promoted(*a), promoted(*b));
    return node(Op::Binary, type, {a, b}, token);
}

inline Expr unary_node(const std::string &token, const Expr &e)
{
    return node(Op::Unary, token == "!" ? &basic::Int : promoted(*e), {e}, token);
}

inline Expr conditional_node(const Expr &test, const Expr &a, const Expr &b)
{
    return node(Op::Conditional, usual(promoted(*a), promoted(*b)), {test, a, b});
}

inline Expr assign(const std::string &token, const Expr &place, const Expr &value)
{
    return node(Op::Assign, place->type, {place, value}, token);
}

inline Expr step(const std::string &token, const Expr &place, bool prefix)
{
    Node made{Op::Step, place->type, {place}, {}, token};
    made.prefix = prefix;
    return std::make_shared<Node>(made);
}

inline Expr fetch_add(const Expr &pointer, const Expr &value)
{
    return node(Op::FetchAdd, pointer->type->target, {pointer, value});
}

// Returns the number of elements of a spread array.
inline Expr elements_expr(const Variable *array)
{
    Expr all = size_expr(array->spread[0]);
    for (size_t i = 1; i < array->spread.size(); i++)
        all = binary_node("*", all, size_expr(array->spread[i]));
    return all;
}

// ---- places

inline Expr name(const Variable *variable)
{
    Node made{Op::Name, variable->type, {}, variable->block};
    made.variable = variable;
    return std::make_shared<Node>(made);
}

inline Expr subscript(const Expr &array, const Expr &index)
{
    return place_node(Op::Subscript, array->type, {array, index},
                      {array->block.begin() + 1, array->block.end()});
}

inline Expr access_member(Op op, const Expr &record, const Type *type, const Member &m)
{
    Node made{op, type, {record}};
    if (m.count)
        made.block = {{0, m.count, std::to_string(m.count)}};
    made.member = &m;
    return std::make_shared<Node>(made);
}

inline Expr member_of(const Expr &record, const Member &m)
{
    return access_member(Op::MemberOf, record, m.type, m);
}

inline Expr arrow(const Expr &pointer, const Member &m)
{
    return access_member(Op::Arrow, pointer, m.type, m);
}

inline Expr deref(const Expr &pointer)
{
    return place_node(Op::Deref, pointer->type->target, {pointer}, pointer->type->block);
}

inline Expr pointer_index(const Expr &pointer, const Expr &index)
{
    return place_node(Op::PointerIndex, pointer->type->target, {pointer, index},
                      pointer->type->block);
}

// Returns A[i][j] for the element at a position in row-major order.
inline Expr spread_element(const Variable *array, const Expr &position)
{
    Node made{Op::Element, array->type, {}, array->block};
    made.variable = array;
    for (size_t i = 0; i < array->spread.size(); i++) {
        Expr index = position;
        for (size_t k = array->spread.size() - 1; k > i; k--)
            index = binary_node("/", index, size_expr(array->spread[k]));
        made.kids.push_back(i == 0 ? index : binary_node("%", index, size_expr(array->spread[i])));
    }
    return std::make_shared<Node>(made);
}

// Returns whether the place is, certainly or possibly, part of a private variable.
inline bool place_is_private(const Node &place)
{
    if (place.op == Op::Name)
        return true;
    return (place.op == Op::Subscript || place.op == Op::MemberOf) &&
           place_is_private(*place.kids[0]);
}

// ---- pointers

inline Expr decay(const Variable *array, const Type *type)
{
    Node made{Op::Decay, type};
    made.variable = array;
    return std::make_shared<Node>(made);
}

inline Expr address_of(const Expr &place, const Type *type)
{
    return node(Op::AddressOf, type, {place});
}

inline Expr to_global(const Expr &rank, const Expr &place, const Type *type)
{
    return node(Op::ToGlobal, type, {rank, place});
}

inline Expr pointer_add(const std::string &token, const Expr &pointer, const Expr &by)
{
    return node(Op::PointerAdd, pointer->type, {pointer, by}, token);
}

inline Expr pointer_difference(const Expr &a, const Expr &b)
{
    return node(Op::PointerDifference, &basic::Long, {a, b});
}

inline Expr pointer_equal(const std::string &token, const Expr &a, const Expr &b)
{
    return node(Op::PointerEqual, &basic::Int, {a, b}, token);
}

// ---- statements

using Made = std::shared_ptr<const Statement>;

inline Made simple(Do what)
{
    return std::make_shared<Statement>(Statement{what});
}

inline Made evaluate(const Expr &e)
{
    return std::make_shared<Statement>(Statement{Do::Evaluate, {e}});
}

inline Made transfer(Do what, const Expr &to, const Expr &from)
{
    return std::make_shared<Statement>(Statement{what, {to, from}});
}

inline Made bulk_node(const std::string &function, const Expr &to, const Expr &from,
                      const Expr &length, const Variable *buffer)
{
    Statement made{Do::Bulk, {to, from, length}};
    made.variable = buffer;
    made.token = function;
    return std::make_shared<Statement>(made);
}

} // namespace random_program
