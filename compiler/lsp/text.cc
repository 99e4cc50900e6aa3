// SPDX-License-Identifier: BSD-3-Clause
#include "lsp/text.h"

#include <algorithm>
#include <cctype>

namespace splitcc::lsp {
namespace {

bool begins_character(char c)
{
    return (c & 0xc0) != 0x80;
}

// UTF-16 units of the character that begins with this byte: two beyond the basic plane.
size_t units_of(char first)
{
    return (first & 0xf8) == 0xf0 ? 2 : 1;
}

int hex(char c)
{
    return std::isdigit(static_cast<unsigned char>(c))    ? c - '0'
           : std::isxdigit(static_cast<unsigned char>(c)) ? (c | 0x20) - 'a' + 10
                                                          : -1;
}

} // namespace

Lines::Lines(std::string_view text)
{
    while (true) {
        const size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        lines_.emplace_back(line);
        if (end == std::string_view::npos)
            break;
        text.remove_prefix(end + 1);
    }
}

std::string_view Lines::line(uint32_t number) const
{
    return number < lines_.size() ? std::string_view(lines_[number]) : std::string_view();
}

size_t Lines::units_at(uint32_t number, size_t byte, bool utf8) const
{
    const std::string_view text = line(number).substr(0, byte);
    size_t units = 0;

    if (utf8)
        return text.size();
    for (char c : text)
        units += begins_character(c) ? units_of(c) : 0;
    return units;
}

size_t Lines::byte_at(uint32_t number, size_t units, bool utf8) const
{
    const std::string_view text = line(number);
    size_t byte = 0;

    if (utf8)
        return std::min(units, text.size());
    for (; byte < text.size() && (units > 0 || !begins_character(text[byte])); byte++)
        if (begins_character(text[byte]))
            units -= std::min(units, units_of(text[byte]));
    return byte;
}

std::filesystem::path path_of_uri(std::string_view uri)
{
    constexpr std::string_view scheme = "file://";
    std::string path;

    if (!uri.starts_with(scheme))
        return {};
    uri.remove_prefix(scheme.size());
    uri.remove_prefix(std::min(uri.find('/'), uri.size())); // the name of a host
    for (size_t i = 0; i < uri.size(); i++) {
        if (uri[i] == '%' && i + 2 < uri.size() && hex(uri[i + 1]) >= 0 && hex(uri[i + 2]) >= 0) {
            path += static_cast<char>(hex(uri[i + 1]) * 16 + hex(uri[i + 2]));
            i += 2;
        } else {
            path += uri[i];
        }
    }
    return path.find('\0') == std::string::npos ? path : std::string();
}

std::string uri_of_path(const std::filesystem::path &path)
{
    constexpr std::string_view plain = "/-_.~", digits = "0123456789ABCDEF";
    std::string uri = "file://";

    for (char c : path.string()) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) || plain.find(c) != std::string_view::npos)
            uri += c;
        else
            uri.append({'%', digits[byte >> 4], digits[byte & 15]});
    }
    return uri;
}

} // namespace splitcc::lsp
