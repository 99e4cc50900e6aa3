// SPDX-License-Identifier: BSD-3-Clause
//
// Which warnings are given: -W options, and #pragma GCC diagnostic in the source.  A new warning
// needs a line in the table of warnings.cc.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "source/source.h"

namespace splitcc {

// The names of the warnings that splitcc gives, such as "-Wlocal-escape".
std::vector<std::string_view> known_warnings();

enum class Level { Off, Warning, Error };

class WarningOptions {
public:
    // Reads `-w` or `-W...`.  Returns true if the C compiler must not see the option, because only
    // splitcc has a warning of that name.
    bool read(std::string_view word);

    // Returns the level of the warning `name` (such as "-Wlocal-escape") that the options ask for.
    Level level(std::string_view name) const;
    bool quiet() const { return quiet_; }

private:
    bool quiet_ = false;
    bool all_errors_ = false;
    bool all_ = false; // -Wall
    std::map<std::string, bool, std::less<>> enabled_, error_;
};

// The diagnostic pragmas of a source.  Those that name one of splitcc's own warnings are blanked,
// because the C compiler would warn of them.
class WarningPragmas {
public:
    explicit WarningPragmas(Source &source);

    // Returns the level that the pragmas before `offset` set, or `otherwise` if none does.
    Level level(std::string_view name, uint32_t offset, Level otherwise) const;

private:
    struct Pragma {
        uint32_t offset;
        enum Kind { Push, Pop, Ignored, Warning, Error } kind;
        std::string name;
    };
    std::vector<Pragma> pragmas_; // in the order of the text
};

} // namespace splitcc
