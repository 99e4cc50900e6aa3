// SPDX-License-Identifier: BSD-3-Clause
#include "source/spelling.h"

#include <algorithm>
#include <cstdlib>

namespace splitcc {
namespace {

void append_utf8(std::string &text, uint32_t c)
{
    if (c < 0x80) {
        text += static_cast<char>(c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3; // the number of bytes after the first
    const uint32_t first[] = {0, 0xc0, 0xe0, 0xf0};
    text += static_cast<char>(first[more] | c >> 6 * more);
    while (more-- > 0)
        text += static_cast<char>(0x80 | (c >> 6 * more & 0x3f));
}

} // namespace

std::string decoded(std::string_view spelling)
{
    std::string name;
    for (size_t i = 0; i < spelling.size();) {
        size_t digits = spelling[i] != '\\' ? 0 : spelling[i + 1] == 'u' ? 4 : 8;
        if (digits == 0) {
            name += spelling[i++];
            continue;
        }
        std::string number(spelling.substr(i + 2, digits));
        append_utf8(name, static_cast<uint32_t>(std::strtoul(number.c_str(), nullptr, 16)));
        i = std::min(i + 2 + digits, spelling.size());
    }
    return name;
}

std::string c_string(std::string_view text)
{
    std::string quoted = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            quoted += '\\';
        quoted += c;
    }
    return quoted + "\"";
}

} // namespace splitcc
