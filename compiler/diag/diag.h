// SPDX-License-Identifier: BSD-3-Clause
//
// The folder diag/ holds what splitcc tells its user.  Diagnostics collects errors and warnings in
// the order in which they are found, Locator finds their places in the user's files, Message is
// what gets printed.  The folder includes source/ only.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "diag/locate.h"
#include "diag/message.h"
#include "diag/warnings.h"
#include "source/source.h"

namespace splitcc {

class Diagnostics;

// Is added to a note about the same place as its message.
inline constexpr std::string_view kIncludedTwice =
    ": this file is included twice, which #ifndef and #define around its contents prevent";

// A message that has just been reported, and can be extended.  If the message is not shown, the
// calls have no effect.
class Report {
public:
    Report(Diagnostics &diag, Message *message) : diag_(diag), message_(message) {}

    const Report &note(Range where, std::string_view text) const;
    // Suggests a fix: other text in the place of the range, or text before or after it.
    const Report &replace(Range where, std::string_view text) const;
    const Report &insert_before(Range where, std::string_view text) const;
    const Report &insert_after(Range where, std::string_view text) const;
    const Report &surround(Range where, std::string_view before, std::string_view after) const;

private:
    // Finds where a range is in the message's line.  Returns false if a fix cannot be shown there.
    bool in_line(Range where, Located &at) const;

    Diagnostics &diag_;
    Message *message_; // null if the message is not shown
};

class Diagnostics {
public:
    Diagnostics(const Source &source, const WarningOptions &options, const WarningPragmas &pragmas)
        : source_(source), options_(options), pragmas_(pragmas), locator_(source)
    {
    }

    Report error(Range where, std::string_view text);
    Report warning(Range where, std::string_view option, std::string_view text);
    // Adds a note to the message that was reported last.
    void note(Range where, std::string_view text) { Report(*this, last_).note(where, text); }

    unsigned errors() const { return errors_; }
    bool too_many() const { return errors_ >= limit_; }
    void set_limit(unsigned limit) { limit_ = limit; }

    std::vector<Message> take() { return {messages_.begin(), messages_.end()}; }

private:
    friend class Report;
    Report report(Severity severity, Range where, std::string_view option, std::string_view text);
    Message message(Severity severity, Range where, std::string_view text);

    const Source &source_;
    const WarningOptions &options_;
    const WarningPragmas &pragmas_;
    Locator locator_;
    unsigned errors_ = 0;
    unsigned limit_ = 20;
    std::deque<Message> messages_;
    Message *last_ = nullptr;
    uint32_t last_begin_ = 0; // where it is
};

} // namespace splitcc
