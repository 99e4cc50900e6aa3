// SPDX-License-Identifier: BSD-3-Clause
//
// Which object each value of an initializer is for (C17 6.7.9).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ast/ast.h"

namespace splitcc {

// A walk over the parts of an object, led by its initializer while the parser reads it.
class Subobjects {
public:
    // `static_object` is the object if it has static storage, so that its values have to be
    // constant, else null.
    Subobjects(const Type *whole, const Type *unknown, Symbol *static_object)
        : next_(whole), unknown_(unknown), static_object_(static_object)
    {
    }

    Symbol *static_object() const { return static_object_; }
    // Returns whether a value is for the whole object.
    bool is_outermost() const { return levels_.empty(); }

    // `{` and `}`: the values between them are for the next part.
    void open();
    void close();
    // Begins a designation, whose steps follow.
    void designation();
    void member(const Name *name);
    void element(std::optional<int64_t> index);
    // Returns the type of the object that takes the value, or unknown if there is none.  Aggregates
    // without braces of their own are entered, unless the value is such an aggregate.
    const Type *take(const Expr *value);

private:
    // An object that is being initialized.
    struct Level {
        const Type *type;
        bool braced;
        uint64_t position = 0; // the part that comes next
    };

    static const Type *pass_member(Level &level);
    static const Type *pass_element(Level &level);
    const Type *pass();
    void enter(const Type *type, bool braced) { levels_.push_back({type, braced}); }
    Level &step(TypeKind kind);

    const Type *next_; // the next object outside all braces
    const Type *unknown_;
    Symbol *static_object_;
    bool first_step_ = false; // of a designation
    std::vector<Level> levels_;
};

} // namespace splitcc
