// SPDX-License-Identifier: BSD-3-Clause
//
// Which object each value of an initializer is for (C17 6.7.9).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ast/ast.h"

namespace splitcc {

// A walk over the parts of an object, led by its initializer while that is parsed.
class Subobjects {
public:
    Subobjects(const Type *whole, const Type *unknown, bool is_static)
        : next_(whole), unknown_(unknown), is_static_(is_static)
    {
    }

    // The object lives as long as the program: its values are constants.
    bool is_static() const { return is_static_; }

    // `{` and `}`: what stands between them is for the next part.
    void open();
    void close();
    // A designation begins; its steps follow.
    void designation();
    void member(const Name *name);
    void element(std::optional<int64_t> index);
    // The type of the object that takes the value; unknown if there is none.  Aggregates
    // without braces of their own are entered for values that are no such aggregates.
    const Type *take(const Expr *value);

private:
    // An object that is being filled.
    struct Level {
        const Type *type;
        bool braced;
        uint64_t position = 0; // of the part that is next
    };

    static const Type *pass_member(Level &level);
    static const Type *pass_element(Level &level);
    const Type *pass();
    void enter(const Type *type, bool braced) { levels_.push_back({type, braced}); }
    Level &step(TypeKind kind);

    const Type *next_; // outside all braces
    const Type *unknown_;
    bool is_static_;
    bool first_step_ = false; // of a designation
    std::vector<Level> levels_;
};

} // namespace splitcc
