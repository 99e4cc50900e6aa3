// SPDX-License-Identifier: BSD-3-Clause
//
// Finds where a piece of the preprocessed text stands in the user's files.
//
// The preprocessor tells lines but not columns, and each macro moves what follows it on its line.
// About one line of Split-C in ten has a macro (MYPROC, PROCS, on_one, NULL), and toglobal() is one
// itself.  Therefore the locator compares the preprocessed line with the line in the user's file,
// token by token.  Without the comparison these lines would have no carets, and fixes could not be
// suggested there.
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
    bool whole = true; // the span covers the whole range, not only its beginning
    std::string macro; // the macro whose expansion holds the range; `span` is then its name
};

class Locator {
public:
    explicit Locator(const Source &source) : source_(source) {}
    Located locate(Range where);

    // Returns the comments between `before` and `after` in the user's file that stand directly in
    // front of `after`.  Each is returned as a block comment on one line.
    std::string comments_between(Range before, Range after);

private:
    struct Piece {
        size_t offset, length;
    };
    // A physical line that shows a part of a line of the user's, and where that is in `shown_`.
    struct Part {
        uint32_t physical_line, start; // an offset of the preprocessed text
        size_t column;
    };
    bool shows(uint32_t physical_line, const Position &at) const;
    void gather(uint32_t physical_line, const Position &at);
    size_t column_of(uint32_t offset) const;
    static std::vector<Piece> pieces(std::string_view text, size_t at, bool comments);
    void compare(uint32_t physical_line, const Position &at);
    size_t match_from(std::string_view preprocessed, size_t at);
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
    // The result of the last comparison, which the next messages about this line use again.
    std::vector<Part> parts_;
    std::string shown_; // the preprocessed line: all parts, with spaces in between
    std::string user_;  // the user's line, and those that the preprocessor joined to it
    bool same_ = false; // the preprocessor changed nothing in this line
    std::vector<Piece> user_pieces_, pieces_;
    std::vector<size_t> matches_; // for each of pieces_: the index into user_pieces_, or SIZE_MAX
};

} // namespace splitcc
