// SPDX-License-Identifier: BSD-3-Clause
//
// What an editor asks of a source: what a name means and where it is declared, and what an access
// costs.  The parser and semantic analysis note it as they find it, if somebody wants it
// (Ast::index).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ast/ast.h"
#include "diag/diag.h"

namespace splitcc {

// Something in the user's file, with its places there.
struct IndexEntry {
    FilePosition at;
    Span span;
    std::string text;      // one line
    FilePosition declared; // its line is 0 if nothing is declared there
    Span declared_span;
};

class Index {
public:
    // `file` is the user's, as line markers name it.  What headers contain is not noted.
    Index(const Source &source, Tokens &tokens, std::string file)
        : source_(source), tokens_(tokens), file_(std::move(file))
    {
    }

    // The token names the symbol, or declares it.
    void name(uint32_t token, const Symbol *symbol);
    void member(uint32_t token, const Type *record, const Member *member);
    // The operator accesses an object of the global address space.
    void access(const Expr *e);
    void split_phase(const Expr *e);

    // All that was noted, in the order of the file.  What macros have made has no place there.
    std::vector<IndexEntry> take();

private:
    struct Note {
        Range where;
        std::string text;
        std::optional<uint32_t> declared; // the token
    };
    bool is_users(Range where) const;
    void note(uint32_t first, uint32_t last, std::string text,
              std::optional<uint32_t> declared = std::nullopt);

    const Source &source_;
    Tokens &tokens_;
    std::string file_;
    std::vector<Note> notes_;
};

// Returns the entries as JSON, an array of objects.
std::string render_index(const std::vector<IndexEntry> &entries);

} // namespace splitcc
