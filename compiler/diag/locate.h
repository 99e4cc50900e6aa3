// SPDX-License-Identifier: BSD-3-Clause
//
// Where in the user's files a piece of the preprocessed text stands.  The
// preprocessor tells lines but not columns, and macros move those: the two
// lines are compared token by token.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diag/message.h"
#include "source/source.h"

namespace splitcc {

struct Located {
    FilePosition position;
    Span span;
    std::string line;
    bool whole = true; // the span is all of the place, not only its beginning
    std::string macro; // the one that the place is in the expansion of; then span is its name
};

class Locator {
public:
    explicit Locator(const Source &source) : source_(source) {}
    Located locate(Range where);

    // The comments that stand directly in front of `after` in the user's file, behind
    // `before`, each as one that ends on its line.
    std::string comments_between(Range before, Range after);

private:
    struct Piece {
        size_t offset, length;
    };
    static std::vector<Piece> pieces(std::string_view text, bool comments);
    void compare(uint32_t physical_line, const Position &at);
    void match(const std::vector<std::string_view> &a, const std::vector<std::string_view> &b);
    void repeat(const std::vector<std::string_view> &a, const std::vector<std::string_view> &b);
    std::pair<size_t, size_t> gap_around(size_t token) const;
    size_t macro_before(size_t token) const;
    std::optional<size_t> in_user_text(size_t column) const;
    Located in_line(const Position &at, size_t begin, size_t end) const;
    Located in_expansion(const Position &at, size_t column) const;
    const std::vector<std::string> &file(std::string_view name);
    std::string text_between(const Located &from, const Located &to);

    const Source &source_;
    std::map<std::string, std::vector<std::string>, std::less<>> files_;
    // What was compared last.
    uint32_t compared_ = UINT32_MAX; // the physical line
    std::string user_;               // its line, and those that the preprocessor joined to it
    bool same_ = false;              // the preprocessor changed nothing
    std::vector<Piece> user_pieces_, pieces_;
    std::vector<size_t> matches_; // of pieces_: index into user_pieces_, or SIZE_MAX
};

} // namespace splitcc
