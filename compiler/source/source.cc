// SPDX-License-Identifier: BSD-3-Clause
#include "source/source.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "source/spelling.h"

namespace splitcc {

Source::Source(std::string text) : text_(std::move(text))
{
    files_.push_back("<input>");
    regions_.push_back({0, 0, 1, false, 0});
    inclusions_.push_back({0, 0, 0});
    const char *begin = text_.data();
    const char *end = begin + text_.size();
    for (const char *p = begin; p < end;) {
        line_starts_.push_back(static_cast<uint32_t>(p - begin));
        if (*p == '#')
            read_marker(static_cast<uint32_t>(line_starts_.size() - 1));
        const void *newline = std::memchr(p, '\n', static_cast<size_t>(end - p));
        p = newline ? static_cast<const char *>(newline) + 1 : end;
    }
    if (line_starts_.empty())
        line_starts_.push_back(0);
}

// Reads `# 12 "file" flags`, or `#line 12 "file"`.  Other lines that begin with # are kept as
// directives, for the pragmas among them.
void Source::read_marker(uint32_t physical_line)
{
    const char *p = text_.c_str() + line_starts_[physical_line] + 1;
    while (*p == ' ')
        p++;
    if (std::strncmp(p, "line ", 5) == 0)
        p += 5;
    if (!std::isdigit(static_cast<unsigned char>(*p))) {
        directives_.push_back(physical_line);
        return;
    }
    uint32_t line = 0;
    while (std::isdigit(static_cast<unsigned char>(*p)))
        line = line * 10 + static_cast<uint32_t>(*p++ - '0');
    while (*p == ' ')
        p++;
    const Region before = regions_.back();
    Region region = before;
    region.first_line = physical_line + 1;
    region.line = line;
    if (*p == '"') {
        std::string file;
        for (p++; *p && *p != '"' && *p != '\n'; p++) {
            if (*p == '\\' && p[1])
                p++;
            file += *p;
        }
        auto known = std::find(files_.rbegin(), files_.rend(), file);
        if (known == files_.rend()) {
            files_.push_back(std::move(file));
            known = files_.rbegin();
        }
        region.file = static_cast<uint32_t>(files_.rend() - known - 1);
        region.system = false;
        for (p += *p == '"'; *p && *p != '\n'; p++) {
            region.system |= *p == '3';
            enter_or_leave(region, before, *p);
        }
    }
    regions_.push_back(region);
}

// Follows the flags of a marker: 1 means that a file begins, 2 that its includer goes on.
void Source::enter_or_leave(Region &region, const Region &before, char flag)
{
    if (flag == '1') {
        // The marker stands on the line that held the #include.
        uint32_t line = before.line + (region.first_line - 1 - before.first_line);
        inclusions_.push_back({before.file, line, before.includer});
        region.includer = static_cast<uint32_t>(inclusions_.size() - 1);
    } else if (flag == '2') {
        region.includer = inclusions_[before.includer].outer;
    }
}

std::vector<Inclusion> Source::included_from(uint32_t offset) const
{
    std::vector<Inclusion> list;
    uint32_t i = region(physical_line(offset)).includer;
    for (; i; i = inclusions_[i].outer)
        if (files_[inclusions_[i].file] != "<command-line>")
            list.push_back({files_[inclusions_[i].file], inclusions_[i].line});
    return list;
}

void Source::blank(uint32_t physical_line)
{
    const size_t length = physical_text(physical_line).size();
    text_.replace(line_starts_[physical_line], length, length, ' ');
}

const Source::Region &Source::region(uint32_t physical_line) const
{
    auto after =
        std::upper_bound(regions_.begin(), regions_.end(), physical_line,
                         [](uint32_t line, const Region &r) { return line < r.first_line; });
    return *std::prev(after);
}

uint32_t Source::physical_line(uint32_t offset) const
{
    auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    return static_cast<uint32_t>(after - line_starts_.begin()) - 1;
}

std::string_view Source::physical_text(uint32_t physical_line) const
{
    uint32_t begin = line_starts_[physical_line];
    size_t end = text_.find('\n', begin);
    return std::string_view(text_).substr(begin, end == std::string::npos ? end : end - begin);
}

std::vector<uint32_t> Source::find(std::string_view file, uint32_t line) const
{
    std::vector<uint32_t> found;
    for (size_t i = 0; i < regions_.size(); i++) {
        const Region &r = regions_[i];
        // The next region begins on the line after its marker.
        const size_t end =
            i + 1 < regions_.size() ? regions_[i + 1].first_line - 1 : line_starts_.size();
        if (files_[r.file] == file && line >= r.line && r.first_line + (line - r.line) < end)
            found.push_back(r.first_line + (line - r.line));
    }
    return found;
}

Position Source::position(uint32_t offset) const
{
    uint32_t physical = physical_line(offset);
    const Region &r = region(physical);
    return {files_[r.file], r.line + (physical - r.first_line), offset - line_starts_[physical] + 1,
            r.system};
}

bool Source::included_twice(uint32_t a, uint32_t b) const
{
    const Position at = position(a), other = position(b);
    return physical_line(a) != physical_line(b) && at.line == other.line &&
           at.column == other.column && at.file == other.file && !included_from(b).empty();
}

bool Source::same_region(uint32_t line_a, uint32_t line_b) const
{
    return &region(line_a) == &region(line_b);
}

std::string Source::marker(uint32_t physical_line) const
{
    const Region &r = region(physical_line);
    return "# " + std::to_string(r.line + (physical_line - r.first_line)) + " " +
           c_string(files_[r.file]) + (r.system ? " 3" : "");
}

} // namespace splitcc
