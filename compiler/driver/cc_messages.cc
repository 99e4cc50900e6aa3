// SPDX-License-Identifier: BSD-3-Clause
#include "driver/cc_messages.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "diag/diag.h"
#include "diag/locate.h"

namespace splitcc {
namespace {

// A line of the form FILE:LINE:COLUMN: error: TEXT [OPTION].
struct CcLine {
    std::string_view file;
    uint32_t line = 0, column = 0;
    Severity severity = Severity::Error;
    std::string_view text, option;
};

// Returns the number behind the last colon, and removes both from the text.
std::optional<uint32_t> take_number(std::string_view &text)
{
    size_t colon = text.rfind(':');
    if (colon == std::string_view::npos)
        return {};
    std::string_view digits = text.substr(colon + 1);
    uint32_t number = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.empty())
        return {};
    text = text.substr(0, colon);
    return number;
}

std::optional<CcLine> parse_line(std::string_view line)
{
    struct Kind {
        std::string_view word;
        Severity severity;
    };
    static constexpr std::array<Kind, 4> kinds = {{{": fatal error: ", Severity::Fatal},
                                                   {": error: ", Severity::Error},
                                                   {": warning: ", Severity::Warning},
                                                   {": note: ", Severity::Note}}};
    size_t at = std::string_view::npos;
    Kind kind{};
    for (const Kind &k : kinds)
        if (size_t found = line.find(k.word); found < at) {
            at = found;
            kind = k;
        }
    if (at == std::string_view::npos)
        return {};
    CcLine parsed;
    parsed.severity = kind.severity;
    parsed.text = line.substr(at + kind.word.size());
    parsed.file = line.substr(0, at);
    auto last = take_number(parsed.file), first = take_number(parsed.file);
    if (!last)
        return {};
    parsed.line = first.value_or(*last);
    parsed.column = first ? *last : 0;
    size_t option = parsed.text.rfind(" [-W");
    if (option != std::string_view::npos && parsed.text.ends_with(']')) {
        parsed.option = parsed.text.substr(option + 2, parsed.text.size() - option - 3);
        parsed.text = parsed.text.substr(0, option);
    }
    return parsed;
}

bool is_name_char(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Returns where, from `at` on, the next name is that begins with splitc_ and that programs do not
// use; npos if there is none.
size_t made_name(std::string_view text, size_t at, size_t &length)
{
    static constexpr std::string_view known[] = {"splitc_main", "splitc_poll",    "splitc_exit",
                                                 "splitc_lock", "splitc_trylock", "splitc_unlock"};
    while ((at = text.find("splitc_", at)) != std::string_view::npos) {
        length = 0;
        while (at + length < text.size() && is_name_char(text[at + length]))
            length++;
        std::string_view name = text.substr(at, length);
        bool whole = at == 0 || !is_name_char(text[at - 1]);
        if (whole && std::find(std::begin(known), std::end(known), name) == std::end(known))
            return at;
        at += length;
    }
    return at;
}

void replace_all(std::string &text, std::string_view what, std::string_view with)
{
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
        text.replace(at, what.size(), with);
}

// Removes what follows a type in quotes to say what it is made of.
void drop_aka(std::string &text, size_t behind)
{
    struct Aka {
        std::string_view begin, end;
    };
    for (const Aka &aka : {Aka{" {aka ‘", "’}"}, Aka{" {aka '", "'}"}, Aka{" (aka '", "')"}}) {
        const size_t end = text.find(aka.end, behind);
        if (text.compare(behind, aka.begin.size(), aka.begin) == 0 && end != std::string::npos)
            text.erase(behind, end + aka.end.size() - behind);
    }
}

// Writes types that global pointers occur in, as in ‘splitc_global (*)(void)’ {aka ...}, as far as
// the C compiler knows them: ‘T *global (*)(void)’.  Returns whether there were any.
bool write_far_types(std::string &text)
{
    struct FarType {
        std::string_view made, written;
    };
    bool any = false;
    for (const FarType &type :
         {FarType{"splitc_global", "T *global"}, FarType{"splitc_spread", "T *spread"}})
        for (size_t at = 0; (at = text.find(type.made, at)) != std::string::npos; at++) {
            if (is_name_char(text[at + type.made.size()]))
                continue;
            any = true;
            text.replace(at, type.made.size(), type.written);
            for (std::string_view quote : {"’", "'"})
                if (size_t end = text.find(quote, at); end != std::string::npos)
                    drop_aka(text, end + quote.size());
        }
    if (any)
        replace_all(text, ",  ", ", ");
    return any;
}

// Whether a warning that names types is about what the program does with them.
bool is_about_types(std::string_view option)
{
    for (std::string_view name :
         {"-Wformat", "-Wformat=", "-Wint-conversion", "-Wincompatible-pointer-types",
          "-Wincompatible-function-pointer-types"})
        if (option == name)
            return true;
    return false;
}

// What is known of names that splitcc has made.
struct Made {
    bool names = false;     // there are some
    bool far_types = false; // types were written in the user's terms
};

// Returns the text without names that splitcc has made.
std::string in_users_terms(std::string_view said, Made &made)
{
    std::string text(said);
    for (std::string_view prefix : {"splitc_own_", "splitc_system_"}) // of types of one name
        replace_all(text, prefix, "");
    for (std::string name : {"splitc_global", "splitc_spread", "splitc_ptr"})
        for (std::string type :
             {"‘" + name + "’ {aka ‘long unsigned int’}",
              "'" + name + "' {aka 'long unsigned int'}", "'" + name + "' (aka 'unsigned long')",
              "‘" + name + "’", "'" + name + "'"})
            replace_all(text, type, "a global pointer");
    replace_all(text, "has type a global pointer", "is a global pointer");
    made.far_types = write_far_types(text);
    size_t length = 0;
    for (size_t at = 0; (at = made_name(text, at, length)) != std::string::npos;) {
        made.names = true;
        text.replace(at, length, "this");
    }
    for (std::string_view quoted : {"‘this’", "'this'"})
        replace_all(text, quoted, "this");
    // gcc names a function by its expression, and writes what reads that from a global object so.
    const size_t read = text.find("({...})"), begin = text.rfind(" of ‘", read),
                 end = text.find("’", read);
    if (read != std::string::npos && begin != std::string::npos && end != std::string::npos)
        text.erase(begin, end + std::string_view("’").size() - begin);
    return text;
}

// Whether a note tells where to add an #include, which is a place between lines.
bool is_about_include(const CcLine &said)
{
    return said.severity == Severity::Note &&
           (said.text.starts_with("include ‘<") ||
            said.text.find("’ is declared in header ‘<") != said.text.npos);
}

// Returns what to do about a call of a function that split-c.h declares; empty for other messages.
std::string header_of(const CcLine &said)
{
    static constexpr std::string_view functions[] = {"all_bcast",
                                                     "all_reduce_to_all_add",
                                                     "all_reduce_to_all_max",
                                                     "all_reduce_to_all_min",
                                                     "all_spread_free",
                                                     "all_spread_malloc",
                                                     "all_store_sync",
                                                     "barrier",
                                                     "bulk_get",
                                                     "bulk_put",
                                                     "bulk_read",
                                                     "bulk_store",
                                                     "bulk_write",
                                                     "fetch_add",
                                                     "get_seconds",
                                                     "is_store_sync",
                                                     "is_sync",
                                                     "reset_store_sync",
                                                     "store_sync",
                                                     "sync",
                                                     "test_and_set"};
    if (!said.option.ends_with("implicit-function-declaration"))
        return {};
    for (std::string_view function : functions) {
        const std::string name(function);
        if (said.text.find("‘" + name + "’") != std::string_view::npos ||
            said.text.find("'" + name + "'") != std::string_view::npos)
            return "; #include <split-c/split-c.h> declares it";
    }
    return {};
}

// What a message is about.  It is not sure which one where several places could be meant.
struct Place {
    bool any = false, sure = true;
    std::optional<Range> range;
};

class Reader {
public:
    explicit Reader(const Translation &t) : t_(t), output_(t.c), locator_(*t.source) {}
    CcMessages read(std::string_view said);

private:
    void line(std::string_view line);
    void message(const CcLine &said);
    bool same_place(const std::optional<Range> &a, const std::optional<Range> &b) const;
    Place source_of(const CcLine &said) const;
    bool said_already(const CcLine &said, const Place &place);

    const Translation &t_;
    Source output_;
    Locator locator_;
    CcMessages result_;
    std::optional<Range> last_; // where the last message is that is no note
    bool shown_ = true;         // whether the last message was shown; its notes are treated alike
};

// Whether a token begins at the column, as far as the text tells.
bool begins_token(std::string_view text, uint32_t column)
{
    if (column > text.size() || text[column - 1] == ' ')
        return false;
    return column == 1 || !is_name_char(text[column - 1]) || !is_name_char(text[column - 2]);
}

// Returns whether the message quotes the word that begins at the column.
bool quotes_word(const CcLine &said, std::string_view text)
{
    if (!begins_token(text, said.column) || !is_name_char(text[said.column - 1]))
        return false;
    size_t end = said.column;
    while (end < text.size() && is_name_char(text[end]))
        end++;
    const std::string word(text.substr(said.column - 1, end - (said.column - 1)));
    return said.text.find("‘" + word + "’") != said.text.npos ||
           said.text.find("'" + word + "'") != said.text.npos;
}

// Whether both are the same place of the source, or of a file that is included twice.
bool Reader::same_place(const std::optional<Range> &a, const std::optional<Range> &b) const
{
    return a == b || (a && b && t_.source->included_twice(a->begin, b->begin));
}

// The column is one of the translation, where one line of the source can be several: the
// preprocessor breaks a line at a macro of a system header, of which there are hardly any messages.
// A message is about the word that it quotes on one of them, else about the beginning of a token,
// about some place, or about the end of the line.
Place Reader::source_of(const CcLine &said) const
{
    if (said.column == 0)
        return {};
    const std::vector<uint32_t> lines = output_.find(said.file, said.line);
    auto found = [&](auto fits) {
        Place place;
        for (uint32_t line : lines) {
            const uint32_t start = output_.line_start(line);
            if (!fits(output_.physical_text(line), output_.position(start).system))
                continue;
            const std::optional<Range> range =
                t_.origins.source_of(start + said.column - 1, t_.source->text());
            place.sure = !place.any || (place.sure && same_place(range, place.range));
            // What a file that is included twice has is wrong the second time.
            if (!place.any || (place.sure && said.severity != Severity::Note))
                place.range = range;
            place.any = true;
        }
        return place;
    };
    auto quoted = [&](std::string_view text, bool) { return quotes_word(said, text); };
    auto begins_in_users = [&](std::string_view text, bool system) {
        return !system && begins_token(text, said.column);
    };
    auto begins = [&](std::string_view text, bool) { return begins_token(text, said.column); };
    auto holds = [&](std::string_view text, bool) {
        return said.column <= text.size() && text[said.column - 1] != ' ';
    };
    auto ends = [&](std::string_view text, bool) { return said.column <= text.size() + 1; };
    for (const Place &place : {found(quoted), found(begins_in_users), found(begins), found(holds)})
        if (place.any)
            return place;
    return found(ends);
}

// Returns whether splitcc has warned of the same on that line.  The compilers name different
// places of an initialization.
bool Reader::said_already(const CcLine &said, const Place &place)
{
    if (!place.range || !place.sure || said.severity != Severity::Warning)
        return false;
    const FilePosition at = locator_.locate(*place.range).position;
    return std::any_of(t_.messages.begin(), t_.messages.end(), [&](const Message &m) {
        return m.option == said.option && m.position.line == at.line && m.position.file == at.file;
    });
}

void Reader::message(const CcLine &said)
{
    const bool note = said.severity == Severity::Note;
    if (note && !shown_)
        return;
    Made names;
    Message m;
    m.severity = said.severity;
    m.text = in_users_terms(said.text, names) + header_of(said);
    m.option = said.option;
    m.position = {std::string(said.file), said.line};
    const bool of_abi = said.file.ends_with("split-c/abi.h");
    // A warning about text that splitcc has made does not concern the user; an error does.
    const Place place = source_of(said);
    const std::optional<Range> &where = place.range;
    const bool ours = names.names || (names.far_types && !note && !is_about_types(said.option));
    const bool made =
        ours || (!where && said.column && !output_.find(said.file, said.line).empty());
    const bool drop = of_abi || (made && (note || said.severity == Severity::Warning)) ||
                      (names.far_types && said_already(said, place));
    if (!note)
        shown_ = !drop;
    if (drop)
        return;
    if (!note)
        last_ = where;
    if (is_about_include(said) && !result_.messages.empty()) {
        m.position = result_.messages.back().position;
    } else if (where && place.sure) {
        Located at = locator_.locate(*where);
        m.position = at.position;
        m.caret = at.span;
        m.line = at.line;
        for (const Inclusion &from : t_.source->included_from(where->begin))
            m.included_from.push_back({std::string(from.file), from.line});
        if (!at.macro.empty())
            m.text += " (in the expansion of '" + at.macro + "')";
        if (note && last_ && t_.source->included_twice(last_->begin, where->begin))
            m.text += kIncludedTwice;
    }
    auto &list =
        note && !result_.messages.empty() ? result_.messages.back().notes : result_.messages;
    list.push_back(std::move(m));
}

// Other lines are excerpts of the source, which splitcc shows itself, and messages without a place.
void Reader::line(std::string_view line)
{
    if (std::optional<CcLine> said = parse_line(line))
        return message(*said);
    const bool about_a_file = line.starts_with("In file included") || line.starts_with(" ") ||
                              line.ends_with(": At top level:") ||
                              line.find(": In function ") != std::string_view::npos ||
                              line.ends_with(" generated.");
    const size_t colon = line.find(": ");
    const bool time = line.starts_with("# "); // of -time
    if (time || (!about_a_file && colon != std::string_view::npos && line.find(' ') > colon))
        result_.other.append(line).append("\n");
}

CcMessages Reader::read(std::string_view said)
{
    while (!said.empty()) {
        size_t end = std::min(said.find('\n'), said.size());
        line(said.substr(0, end));
        said.remove_prefix(std::min(end + 1, said.size()));
    }
    return std::move(result_);
}

} // namespace

std::vector<std::string> cc_message_options(bool display_columns)
{
    std::vector<std::string> options = {"-fshow-column", "-fmessage-length=0",
                                        "-fdiagnostics-color=never"};
    if (display_columns)
        options.insert(options.end(),
                       {"-fdiagnostics-column-unit=byte", "-fdiagnostics-column-origin=1"});
    return options;
}

CcMessages read_cc_messages(std::string_view said, const Translation &translation)
{
    return said.empty() ? CcMessages() : Reader(translation).read(said);
}

} // namespace splitcc
