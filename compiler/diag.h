// SPDX-License-Identifier: BSD-3-Clause
//
// Diagnostics: file:line:column, the source line, a caret.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "source.h"

namespace splitcc {

// A range of bytes of the preprocessed text; the caret stands at `begin`.
struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
};

enum class Severity { Note, Warning, Error };

class Diagnostics {
public:
    Diagnostics(const Source &source, bool color) : source_(source), color_(color) {}

    void error(Range where, std::string_view message);
    void warning(Range where, std::string_view option, std::string_view message);
    void note(Range where, std::string_view message);

    unsigned errors() const { return errors_; }
    bool too_many() const { return errors_ >= limit_; }
    void set_limit(unsigned limit) { limit_ = limit; }
    void set_quiet(bool quiet) { quiet_ = quiet; }          // -w
    void set_warnings_are_errors(bool on) { werror_ = on; } // -Werror

    // What has been reported, ready to be printed.
    const std::string &text() const { return text_; }

private:
    void report(Severity severity, Range where, std::string_view message);

    const Source &source_;
    bool color_;
    bool quiet_ = false;
    bool werror_ = false;
    unsigned errors_ = 0;
    unsigned limit_ = 20;
    std::string text_;
};

} // namespace splitcc
