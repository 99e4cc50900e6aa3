// SPDX-License-Identifier: BSD-3-Clause
#include "sema/subobjects.h"

#include <algorithm>
#include <utility>

namespace splitcc {
namespace {

bool is_record(const Type *type)
{
    return type->kind == TypeKind::Record && type->record->complete;
}

bool takes_no_value(const Member &member)
{
    return member.bit_field && !member.name;
}

// Returns whether a value can be stored into a part of the type.
bool has_parts(const Type *type)
{
    if (type->kind == TypeKind::Array)
        return type->extent.value.value_or(1) > 0;
    return is_record(type) &&
           !std::all_of(type->record->members.begin(), type->record->members.end(), takes_no_value);
}

bool is_string(const Expr *e)
{
    return strip(e)->kind == ExprKind::String;
}

// Returns whether the value initializes the whole aggregate.
bool is_whole(const Expr *value, const Type *aggregate)
{
    const Type *type = value->type;
    if (type->kind == TypeKind::Unknown || type->kind == TypeKind::Opaque)
        return true;
    return aggregate->kind == TypeKind::Array ? is_string(value) : same_type(type, aggregate);
}

// Returns the position of the member that has the name, or contains it anonymously.
size_t member_position(const Record *record, const Name *name)
{
    auto holds = [&](const Member &member) {
        return member.name == name ||
               (!member.name && is_record(member.type) && find_member(member.type, name));
    };
    const std::vector<Member> &all = record->members;
    return static_cast<size_t>(std::find_if(all.begin(), all.end(), holds) - all.begin());
}

} // namespace

// Passes the next member and returns its type; null if there is none.
const Type *Subobjects::pass_member(Level &level)
{
    const std::vector<Member> &members = level.type->record->members;
    while (level.position < members.size() && takes_no_value(members[level.position]))
        level.position++;
    if (level.position >= members.size())
        return nullptr;
    const Type *type = members[level.position].type;
    level.position = level.type->record->is_union ? members.size() : level.position + 1;
    return type;
}

// Does the same for an array, or a scalar in braces.  The C compiler reports too many values for an
// array in braces.
const Type *Subobjects::pass_element(Level &level)
{
    const bool array = level.type->kind == TypeKind::Array;
    const int64_t count = array ? level.type->extent.value.value_or(INT64_MAX) : 1;
    if (!(array && level.braced) && level.position >= static_cast<uint64_t>(count))
        return nullptr;
    level.position++;
    return array ? level.type->base : level.type;
}

// Passes the next part and returns its type.
const Type *Subobjects::pass()
{
    while (!levels_.empty()) {
        Level &level = levels_.back();
        if (const Type *part = is_record(level.type) ? pass_member(level) : pass_element(level))
            return part;
        if (level.braced)
            return unknown_; // there are more values than parts
        levels_.pop_back();
    }
    return std::exchange(next_, unknown_);
}

void Subobjects::open()
{
    const Type *part = pass();
    enter(part, true);
}

void Subobjects::close()
{
    while (!levels_.back().braced)
        levels_.pop_back();
    levels_.pop_back();
}

const Type *Subobjects::take(const Expr *value)
{
    const Type *part = pass();
    while (!levels_.empty() && has_parts(part) && !is_whole(value, part)) {
        enter(part, false);
        part = pass();
    }
    return part;
}

void Subobjects::designation()
{
    while (!levels_.back().braced)
        levels_.pop_back();
    first_step_ = true;
}

// Enters what the previous step of the designation designates.  If that is no such kind of
// aggregate, nothing is known of its parts.
Subobjects::Level &Subobjects::step(TypeKind kind)
{
    if (!std::exchange(first_step_, false)) {
        const Type *part = pass();
        enter(part, false);
    }
    if (levels_.back().type->kind != kind)
        enter(unknown_, false);
    return levels_.back();
}

void Subobjects::member(const Name *name)
{
    Level *level = &step(TypeKind::Record);
    while (is_record(level->type)) {
        const Record *record = level->type->record;
        level->position = member_position(record, name);
        if (level->position == record->members.size() ||
            record->members[level->position].name == name)
            return;
        const Type *anonymous = pass();
        enter(anonymous, false);
        level = &levels_.back();
    }
}

void Subobjects::element(std::optional<int64_t> index)
{
    step(TypeKind::Array).position = static_cast<uint64_t>(std::max(index.value_or(0), int64_t{0}));
}

} // namespace splitcc
