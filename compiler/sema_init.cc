// SPDX-License-Identifier: BSD-3-Clause
//
// Initializers: which object each value initializes (C17 6.7.9), so that
// pointers into the global address space are converted wherever they stand.
#include "sema.h"

#include <algorithm>

namespace splitcc {
namespace {

bool is_aggregate(const Type *type)
{
    return type->kind == TypeKind::Array ||
           (type->kind == TypeKind::Record && type->record->complete);
}

bool is_string(const Expr *e)
{
    while (e->kind == ExprKind::Paren)
        e = e->a;
    return e->kind == ExprKind::String;
}

// The position of the member that has the name, itself or within an anonymous one.
size_t member_position(const Record *record, const Name *name)
{
    for (size_t i = 0; i < record->members.size(); i++) {
        const Member &member = record->members[i];
        if (member.name == name)
            return i;
        if (!member.name && member.type->kind == TypeKind::Record && find_member(member.type, name))
            return i;
    }
    return record->members.size();
}

// The first designation of the item at i; its others follow.
std::vector<InitList::Designation>::const_iterator first_designation(const InitList *list, size_t i)
{
    return std::lower_bound(
        list->designations.begin(), list->designations.end(), i,
        [](const InitList::Designation &d, size_t item) { return d.item < item; });
}

bool is_designated(const InitList *list, size_t i)
{
    auto d = first_designation(list, i);
    return d != list->designations.end() && d->item == i;
}

} // namespace

Node *Sema::initializer(Node *init, const Type *type, bool is_static)
{
    bool outer = static_initializer_;
    static_initializer_ = is_static;
    init = item(init, type);
    static_initializer_ = outer;
    return init;
}

// A far pointer with static storage can start only as NULL or as a number.
void Sema::check_static(const Expr *e, const Type *type)
{
    while (e->kind == ExprKind::Paren)
        e = e->a;
    bool number = e->kind == ExprKind::Cast && e->a->value;
    if (type->is_far() && !is_null_constant(e) && !number && !e->type->is_unknown())
        diag_.error(range(e),
                    "a static global pointer cannot start with this: its processor is known "
                    "only when the program runs; assign it in splitc_main");
}

// One initializer, braced or not, for an object of that type.
Node *Sema::item(Node *node, const Type *type)
{
    if (node->node == NodeKind::Expr) {
        Expr *e = static_cast<Expr *>(node);
        if (static_initializer_)
            check_static(e, type);
        return type->kind == TypeKind::Array ? value(e) : convert(e, type, "initialization");
    }
    InitList *list = static_cast<InitList *>(node);
    size_t i = 0;
    if (is_aggregate(type))
        aggregate(list, type, i, true);
    else if (!list->items.empty())
        list->items[i++] = item(list->items[0], type);
    for (; i < list->items.size(); i++) // more than fit, or a type not known
        list->items[i] = item(list->items[i], types_.unknown());
    for (const Node *inner : list->items)
        list->touched |= inner->touched;
    for (const InitList::Designation &d : list->designations)
        for (const auto &[name, index] : d.path)
            list->touched |= index && index->touched;
    return list;
}

// The subobjects of an aggregate take items from `i` on.  Without braces of its
// own it ends at the next designator.
void Sema::aggregate(InitList *list, const Type *type, size_t &i, bool braced)
{
    bool array = type->kind == TypeKind::Array;
    size_t count = array ? SIZE_MAX : type->record->members.size();
    if (array && type->extent.value && !braced)
        count = static_cast<size_t>(*type->extent.value);
    for (size_t position = 0; i < list->items.size(); position++) {
        if (is_designated(list, i)) {
            if (!braced)
                return;
            position = designated(list, type, i);
            continue;
        }
        if (position >= count || (!braced && !array && type->record->is_union && position > 0))
            return;
        if (array) {
            element(list, type->base, i);
        } else {
            const Member &member = type->record->members[position];
            if (member.bit_field && !member.name)
                continue;
            element(list, member.type, i);
        }
    }
}

// The item at i for an object of that type; with elided braces, as many as it needs.
void Sema::element(InitList *list, const Type *type, size_t &i)
{
    Node *node = list->items[i];
    if (node->node == NodeKind::Expr && is_aggregate(type)) {
        const Expr *e = static_cast<const Expr *>(node);
        bool whole = (type->kind == TypeKind::Array && is_string(e)) ||
                     e->type->kind == TypeKind::Record || e->type->is_unknown();
        if (!whole) {
            size_t before = i;
            aggregate(list, type, i, false);
            if (i > before)
                return;
        }
    }
    list->items[i] = item(node, type);
    i++;
}

// The item at i, which has a designator.  Returns the position in `type` where
// the items after it go on, less one.
size_t Sema::designated(InitList *list, const Type *type, size_t &i)
{
    size_t position = 0;
    bool first = true;
    auto d = first_designation(list, i);
    for (; d != list->designations.end() && d->item == i; ++d) {
        for (const auto &[name, index] : d->path) {
            size_t here = 0;
            if (name && type->kind == TypeKind::Record) {
                const Member *member = find_member(type, name);
                here = member_position(type->record, name);
                type = member ? member->type : types_.unknown();
            } else if (index && type->kind == TypeKind::Array) {
                here = static_cast<size_t>(index->value.value_or(0));
                type = type->base;
            } else {
                type = types_.unknown();
            }
            if (first)
                position = here;
            first = false;
        }
    }
    list->items[i] = item(list->items[i], type);
    i++;
    return position;
}

} // namespace splitcc
