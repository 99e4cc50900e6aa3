// SPDX-License-Identifier: BSD-3-Clause
//
// Which warnings are given: -W options, and #pragma GCC diagnostic in the source.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "source/source.h"

namespace splitcc {

enum class Level { Off, Warning, Error };

class WarningOptions {
public:
    // Take in `-w` or `-W...`.  True if the C compiler must not see it, for it
    // names a warning that only we have.
    bool read(std::string_view word);

    // What is to become of the warning `name` (as in "-Wlocal-escape") by default.
    Level level(std::string_view name) const;
    bool quiet() const { return quiet_; }
    bool all_errors() const { return all_errors_; }

private:
    bool quiet_ = false;
    bool all_errors_ = false;
    bool all_ = false; // -Wall
    std::map<std::string, bool, std::less<>> enabled_, error_;
};

// The pragmas of a source.  Those that name a warning of ours are taken out of
// the text, for the C compiler would complain of them.
class WarningPragmas {
public:
    explicit WarningPragmas(Source &source);

    // What the pragmas before `offset` say; `otherwise` if nothing.
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
