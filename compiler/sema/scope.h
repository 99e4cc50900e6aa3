// SPDX-License-Identifier: BSD-3-Clause
//
// Scopes: what names mean, as ordinary identifiers and as tags.
#pragma once

#include <vector>

#include "ast/ast.h"

namespace splitcc {

class Scopes {
public:
    void enter() { marks_.push_back(undo_.size()); }
    void leave();
    // Leaves all scopes deeper than `depth`.
    void leave_to(uint32_t depth)
    {
        while (this->depth() > depth)
            leave();
    }
    bool at_file_scope() const { return marks_.empty(); }
    uint32_t depth() const { return static_cast<uint32_t>(marks_.size()); }

    // Makes `symbol` the meaning of its name up to the end of the innermost scope.
    void declare(Symbol *symbol);

    // Returns whether the symbol was declared in the innermost scope.
    bool is_local(const Symbol *symbol) const { return symbol->depth == depth(); }

private:
    std::vector<Symbol *> undo_;
    std::vector<size_t> marks_;
};

} // namespace splitcc
