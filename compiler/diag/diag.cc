// SPDX-License-Identifier: BSD-3-Clause
#include "diag/diag.h"

namespace splitcc {

bool Report::in_line(Range where, Located &at) const
{
    if (!message_)
        return false;
    at = diag_.locator_.locate(where);
    return at.whole && at.macro.empty() && at.position.line == message_->position.line &&
           at.position.file == message_->position.file;
}

const Report &Report::note(Range where, std::string_view text) const
{
    if (!message_)
        return *this;
    message_->notes.push_back(diag_.message(Severity::Note, where, text));
    if (message_ == diag_.last_ && diag_.source_.included_twice(diag_.last_begin_, where.begin))
        message_->notes.back().text += kIncludedTwice;
    return *this;
}

const Report &Report::replace(Range where, std::string_view text) const
{
    if (Located at; in_line(where, at))
        message_->fixes.push_back({at.span, std::string(text)});
    return *this;
}

const Report &Report::insert_before(Range where, std::string_view text) const
{
    if (Located at; in_line(where, at))
        message_->fixes.push_back({{at.span.begin, at.span.begin}, std::string(text)});
    return *this;
}

const Report &Report::insert_after(Range where, std::string_view text) const
{
    if (Located at; in_line(where, at))
        message_->fixes.push_back({{at.span.end, at.span.end}, std::string(text)});
    return *this;
}

const Report &Report::surround(Range where, std::string_view before, std::string_view after) const
{
    if (Located at; in_line(where, at)) {
        std::string text(before);
        text += at.line.substr(at.span.begin - 1, at.span.end - at.span.begin);
        message_->fixes.push_back({at.span, text += after});
    }
    return *this;
}

Report Diagnostics::error(Range where, std::string_view text)
{
    return report(Severity::Error, where, "", text);
}

Report Diagnostics::warning(Range where, std::string_view option, std::string_view text)
{
    Level level = pragmas_.level(option, where.begin, options_.level(option));
    if (options_.quiet() || level == Level::Off || source_.position(where.begin).system) {
        last_ = nullptr;
        return Report(*this, nullptr);
    }
    if (level == Level::Warning)
        return report(Severity::Warning, where, option, text);
    std::string error = option.empty() ? "" : "-Werror=" + std::string(option.substr(2));
    return report(Severity::Error, where, error, text);
}

Report Diagnostics::report(Severity severity, Range where, std::string_view option,
                           std::string_view text)
{
    last_ = nullptr;
    if (too_many())
        return Report(*this, nullptr);
    errors_ += severity == Severity::Error;
    Message m = message(severity, where, text);
    m.option = option;
    // A macro that uses its argument twice makes the same error twice; the first report is enough.
    if (!messages_.empty()) {
        const Message &before = messages_.back();
        if (before.text == m.text && before.position.line == m.position.line &&
            before.caret.begin == m.caret.begin && before.position.file == m.position.file)
            return Report(*this, nullptr);
    }
    last_ = &messages_.emplace_back(std::move(m));
    last_begin_ = where.begin;
    return Report(*this, last_);
}

Message Diagnostics::message(Severity severity, Range where, std::string_view text)
{
    Located at = locator_.locate(where);
    Message m;
    m.severity = severity;
    m.text = text;
    m.position = at.position;
    m.caret = at.span;
    m.line = at.line;
    for (const Inclusion &from : source_.included_from(where.begin))
        m.included_from.push_back({std::string(from.file), from.line});
    if (!at.macro.empty())
        m.text += " (in the expansion of '" + at.macro + "')";
    return m;
}

} // namespace splitcc
