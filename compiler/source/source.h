// SPDX-License-Identifier: BSD-3-Clause
//
// The folder source/ holds the text that all passes work on: Source is the preprocessed text of one
// translation unit, with the file and line that each byte came from, which `cc -E` tells by line
// markers (`# 12 "file.sc" 3`).  The folder includes no other one.
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
    bool operator==(const Range &) const = default;
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
    // The driver refuses text beyond 2 GiB, since offsets have 32 bits.
    explicit Source(std::string text);

    const std::string &text() const { return text_; }
    Position position(uint32_t offset) const;
    // Returns where the file that holds `offset` was included, the innermost #include first.
    std::vector<Inclusion> included_from(uint32_t offset) const;

    // Whether both are the same place of one file, which is included twice.
    bool included_twice(uint32_t a, uint32_t b) const;

    // Returns the number, from 0, of the line of the preprocessed text that holds `offset`.
    uint32_t physical_line(uint32_t offset) const;
    std::string_view physical_text(uint32_t physical_line) const;
    uint32_t physical_lines() const { return static_cast<uint32_t>(line_starts_.size()); }
    // Returns the physical lines that show this line of the file.
    std::vector<uint32_t> find(std::string_view file, uint32_t line) const;
    uint32_t line_start(uint32_t physical_line) const { return line_starts_[physical_line]; }

    // Returns the physical lines that begin with # and are no line markers.
    const std::vector<uint32_t> &directives() const { return directives_; }
    // Overwrites a line with spaces, so that all offsets stay as they are.
    void blank(uint32_t physical_line);

    // Returns whether both physical lines lie between the same two markers.  Newlines alone then
    // lead from one to the other.
    bool same_region(uint32_t line_a, uint32_t line_b) const;

    // Returns a line marker which says that the next line is this one.
    std::string marker(uint32_t physical_line) const;

private:
    struct Region {
        uint32_t first_line; // a physical line
        uint32_t file;
        uint32_t line; // the line of the file at first_line
        bool system;
        uint32_t includer; // index into inclusions_
    };

    // An #include whose file is being read, and the one around it.
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
