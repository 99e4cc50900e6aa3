// SPDX-License-Identifier: BSD-3-Clause
//
// The preprocessed text of one translation unit, and where each byte of it
// came from: cc -E leaves line markers (`# 12 "file.sc" 3`) that say so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace splitcc {

// A range of bytes of the preprocessed text.
struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
};

// A place in the user's files.
struct Position {
    std::string_view file;
    uint32_t line = 0;   // from 1
    uint32_t column = 0; // from 1, in the preprocessed line
    bool system = false; // in a system header
};

// A place where a file was included.
struct Inclusion {
    std::string_view file;
    uint32_t line = 0;
};

class Source {
public:
    // Text beyond 4 GiB is refused by the driver: offsets are 32 bits.
    explicit Source(std::string text);

    const std::string &text() const { return text_; }
    Position position(uint32_t offset) const;
    // From where the file at offset was included, innermost first.
    std::vector<Inclusion> included_from(uint32_t offset) const;

    // The number, from 0, of the line of the preprocessed text that holds offset.
    uint32_t physical_line(uint32_t offset) const;
    std::string_view physical_text(uint32_t physical_line) const;
    // The physical lines that are this line of the file.
    std::vector<uint32_t> find(std::string_view file, uint32_t line) const;
    uint32_t line_start(uint32_t physical_line) const { return line_starts_[physical_line]; }

    // The physical lines that begin with # and are no line markers.
    const std::vector<uint32_t> &directives() const { return directives_; }
    // Make a line of the text empty, its length unchanged.
    void blank(uint32_t physical_line);

    // True when the two physical lines lie between the same two markers, so that
    // newlines alone lead from one to the other.
    bool same_region(uint32_t line_a, uint32_t line_b) const;

    // A line marker that says that what follows is this line.
    std::string marker(uint32_t physical_line) const;

private:
    struct Region {
        uint32_t first_line; // physical
        uint32_t file;
        uint32_t line; // of the file, at first_line
        bool system;
        uint32_t includer; // index into inclusions_
    };

    // An #include that is open, and the one around it.
    struct OpenInclusion {
        uint32_t file, line;
        uint32_t outer; // index into inclusions_; 0 for none
    };

    void read_marker(uint32_t physical_line);
    void enter_or_leave(Region &region, const Region &before, char flag);
    const Region &region(uint32_t physical_line) const;

    std::string text_;
    std::vector<uint32_t> line_starts_;
    std::vector<Region> regions_;
    std::vector<OpenInclusion> inclusions_; // [0] is none
    std::vector<uint32_t> directives_;
    std::vector<std::string> files_;
};

} // namespace splitcc
