// SPDX-License-Identifier: BSD-3-Clause
//
// Places: objects as expressions name them, in a form in which two can be compared.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "ast/ast.h"

namespace splitcc {

// An object as an expression names it: a variable, and the steps that lead from it.
struct Place {
    struct Step {
        enum Kind : uint8_t { Deref, Member, Element, ElementAt } kind;
        const splitcc::Member *member = nullptr;
        int64_t index = 0;
        const Symbol *variable = nullptr; // ElementAt
        bool operator==(const Step &) const = default;
    };
    const Symbol *base = nullptr;
    std::vector<Step> steps;
    bool operator==(const Place &) const = default;

    // Returns whether the longer of the two begins with all steps of the shorter.
    bool begins_like(const Place &other) const
    {
        auto common = static_cast<std::ptrdiff_t>(std::min(steps.size(), other.steps.size()));
        return base == other.base &&
               std::equal(steps.begin(), steps.begin() + common, other.steps.begin());
    }
    // Returns whether one of the two certainly contains the other.
    bool overlaps(const Place &other) const
    {
        const auto &longer = steps.size() > other.steps.size() ? steps : other.steps;
        auto common = static_cast<std::ptrdiff_t>(std::min(steps.size(), other.steps.size()));
        return begins_like(other) &&
               std::none_of(longer.begin() + common, longer.end(),
                            [](const Step &step) { return step.kind == Step::Deref; });
    }
    // Returns whether the address of this object depends on the value of the other.
    bool depends_on(const Place &other) const
    {
        bool through = steps.size() > other.steps.size() && begins_like(other) &&
                       steps[other.steps.size()].kind == Step::Deref;
        return through || std::any_of(steps.begin(), steps.end(), [&](const Step &step) {
                   return other.steps.empty() && step.variable == other.base;
               });
    }
};

// Returns the place that the expression names; nothing if it cannot be compared with others.
std::optional<Place> place_of(const Expr *e);

// Returns the place of the object that the first `bytes` bytes behind a pointer belong to.
std::optional<Place> pointee(const Expr *e, const Expr *bytes);

} // namespace splitcc
