// SPDX-License-Identifier: BSD-3-Clause
//
// Places in texts: splitcc counts lines and bytes from 1, the protocol lines and UTF-16 units from
// 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace splitcc::lsp {

class Lines {
public:
    explicit Lines(std::string_view text = {});

    // Both return the end of the line for a column behind it, and 0 for a line that is not there.
    size_t units_at(uint32_t line, size_t byte, bool utf8) const;
    size_t byte_at(uint32_t line, size_t units, bool utf8) const;

private:
    std::string_view line(uint32_t number) const; // from 0

    std::vector<std::string> lines_;
};

// The path of a URI file://..., or an empty one of any other; and back.
std::filesystem::path path_of_uri(std::string_view uri);
std::string uri_of_path(const std::filesystem::path &path);

} // namespace splitcc::lsp
