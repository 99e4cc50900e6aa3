// SPDX-License-Identifier: BSD-3-Clause
#include "lsp/check.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "driver/process.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace splitcc::lsp {
namespace {

constexpr const char *kSeconds = "10"; // for one run of splitcc

// A document that is no JSON, or of another shape, is as none.
json parsed(const std::string &text)
{
    return json::parse(text, nullptr, false);
}

template <class T> T value(const json &object, const char *key, T otherwise)
{
    if (!object.is_object() || !object.contains(key))
        return otherwise;
    try {
        return object[key].get<T>();
    } catch (const json::exception &) {
        return otherwise;
    }
}

// ---- options

// Options with a value of their own behind them that say what the source means.
bool takes_next(const std::string &word)
{
    static const std::vector<std::string> names = {"-I",       "-D",         "-U",      "-include",
                                                   "-isystem", "-idirafter", "-iquote", "-cc"};
    return std::find(names.begin(), names.end(), word) != names.end();
}

// The file comes with a source that somebody only wants to look at.  So options that load code
// (-fplugin=, -wrapper, -Wp,... and their like) or write files (-fdump-..., -fopt-info-...=) are
// none of these.
bool says_what_source_means(const std::string &word)
{
    static const std::regex options(
        "-([IDU].*|isystem.*|iquote.*|std=.*|W(?![alp],)[^,]*|m[^,]*|"
        "f(no-)?(un)?signed-(char|bitfields)|f(no-)?short-(enums|wchar)|f(no-)?openmp(-simd)?|"
        "f(no-)?(builtin|freestanding|hosted|gnu89-inline|ms-extensions|plan9-extensions|"
        "check|pack-struct|math-errno|fast-math|common)|"
        "f(no-)?(strict-aliasing|wrapv|trapping-math)|f(input|exec|wide-exec)-charset=.*)");
    return std::regex_match(word, options);
}

// Whether a compiler that a file names is one of the user's: opening a source must not run a
// program that lies beside it.
bool is_on_path(const std::string &compiler)
{
    const char *path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");

    if (compiler.find('/') == std::string::npos)
        return true;
    for (std::string folder; std::getline(folders, folder, ':');)
        if (folder.starts_with('/') &&
            fs::path(compiler).parent_path() == fs::path(folder).lexically_normal())
            return true;
    return false;
}

std::vector<std::string> fitting(const std::vector<std::string> &words)
{
    std::vector<std::string> kept;

    for (size_t i = 0; i < words.size(); i++) {
        if (takes_next(words[i]) && i + 1 < words.size()) {
            if (words[i] != "-cc" || is_on_path(words[i + 1]))
                kept.insert(kept.end(), {words[i], words[i + 1]});
            i++;
        } else if (says_what_source_means(words[i])) {
            kept.push_back(words[i]);
        }
    }
    return kept;
}

bool flags_of_commands(const fs::path &database, const fs::path &file, Flags &flags)
{
    std::error_code error;
    const json commands = parsed(read_file(database).value_or(""));

    if (!commands.is_array())
        return false;
    for (const json &command : commands) {
        const fs::path folder = value<std::string>(command, "directory", "");
        const fs::path source = folder / value<std::string>(command, "file", "");
        if (!fs::equivalent(source, file, error) || error)
            continue;
        auto words = value<std::vector<std::string>>(command, "arguments", {});
        if (words.empty())
            words = shell_words(value<std::string>(command, "command", ""));
        flags = {fitting(words), folder};
        return true;
    }
    return false;
}

bool flags_of_lines(const fs::path &list, Flags &flags)
{
    const auto text = read_file(list);
    std::istringstream lines(text.value_or(""));
    std::vector<std::string> words;

    for (std::string line; std::getline(lines, line);)
        if (!line.empty())
            words.push_back(line);
    if (text)
        flags = {fitting(words), list.parent_path()};
    return text.has_value();
}

// ---- what splitcc says

class Reader {
public:
    // `copy` is what splitcc was given in the place of `file`.
    Reader(fs::path copy, fs::path file, fs::path folder)
        : copy_(std::move(copy)), file_(std::move(file)), folder_(std::move(folder))
    {
    }
    Finding message(const json &from) const;
    Finding line(const std::smatch &match) const;
    Entry entry(const json &from) const;

private:
    fs::path path(const std::string &name) const
    {
        return name.empty() || name == copy_ ? file_ : (folder_ / name).lexically_normal();
    }
    Place place(const json &from) const;

    fs::path copy_, file_, folder_;
};

int severity_of(const std::string &kind)
{
    return kind == "warning" ? 2 : kind == "note" ? 3 : 1;
}

uint32_t column(const json &place)
{
    return value<uint32_t>(place, "byte-column", value<uint32_t>(place, "column", 1));
}

Place Reader::place(const json &from) const
{
    const json caret = value<json>(from, "caret", {}), finish = value<json>(from, "finish", caret);
    Place place{path(value<std::string>(caret, "file", "")), value<uint32_t>(caret, "line", 1),
                column(caret), column(finish) + 1};

    if (value<uint32_t>(finish, "line", place.line) != place.line || place.end <= place.begin)
        place.end = place.begin + 1;
    return place;
}

Finding Reader::message(const json &from) const
{
    Finding finding{severity_of(value<std::string>(from, "kind", "error")),
                    value<std::string>(from, "message", ""),
                    value<std::string>(from, "option", ""),
                    {},
                    {},
                    {}};
    const json locations = value<json>(from, "locations", json::array());

    finding.where = place(locations.is_array() && !locations.empty() ? locations[0] : json());
    for (const json &fix : value<std::vector<json>>(from, "fixits", {})) {
        const json start = value<json>(fix, "start", {}), next = value<json>(fix, "next", {});
        finding.fixes.push_back({{path(value<std::string>(start, "file", "")),
                                  value<uint32_t>(start, "line", 1), column(start), column(next)},
                                 value<std::string>(fix, "string", "")});
    }
    for (const json &child : value<std::vector<json>>(from, "children", {}))
        finding.notes.push_back(message(child));
    return finding;
}

// A message of the preprocessor.
Finding Reader::line(const std::smatch &match) const
{
    const auto number = [](const std::string &digits) {
        return static_cast<uint32_t>(std::strtoul(digits.c_str(), nullptr, 10));
    };
    const uint32_t at = match[3].matched ? number(match[3]) : 1;

    return {severity_of(match[4]),
            match[5],
            "",
            {path(match[1]), number(match[2]), at, at + 1},
            {},
            {}};
}

Entry Reader::entry(const json &from) const
{
    Entry entry{{file_, value<uint32_t>(from, "line", 0), value<uint32_t>(from, "begin", 0),
                 value<uint32_t>(from, "end", 0)},
                value<std::string>(from, "text", ""),
                {}};

    if (const auto declared = value<uint32_t>(from, "declared", 0))
        entry.declared = {path(value<std::string>(from, "file", "")), declared,
                          value<uint32_t>(from, "declared-begin", 1),
                          value<uint32_t>(from, "declared-end", 1)};
    return entry;
}

// Messages of splitcc and of the C compiler are lines of JSON, those of the preprocessor text.
std::vector<Finding> findings_of(const Reader &reader, const std::string &said)
{
    static const std::regex text(
        "(.*?):([0-9]+):(?:([0-9]+):)? (fatal error|error|warning|note): (.*)");
    std::vector<Finding> findings;
    std::istringstream lines(said);

    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (const json messages = line.starts_with('[') ? parsed(line) : json();
            messages.is_array())
            for (const json &message : messages)
                findings.push_back(reader.message(message));
        else if (std::regex_match(line, match, text))
            findings.push_back(reader.line(match));
    }
    return findings;
}

} // namespace

std::vector<std::string> shell_words(const std::string &text)
{
    std::vector<std::string> words;
    std::string word;
    bool any = false;
    char quote = 0;

    for (size_t i = 0; i < text.size(); i++) {
        const char c = text[i];
        if (quote ? c == quote : c == '"' || c == '\'') {
            quote = quote ? 0 : c;
            any = true;
        } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
            word += text[++i];
        } else if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
            if (any || !word.empty())
                words.push_back(word);
            word.clear();
            any = false;
        } else {
            word += c;
        }
    }
    if (any || !word.empty())
        words.push_back(word);
    return words;
}

Flags flags_of(const fs::path &file)
{
    Flags flags{{}, file.parent_path()};

    for (fs::path folder = file.parent_path(); !folder.empty(); folder = folder.parent_path()) {
        for (const fs::path &database :
             {folder / "compile_commands.json", folder / "build/compile_commands.json"})
            if (flags_of_commands(database, file, flags))
                return flags;
        if (flags_of_lines(folder / "compile_flags.txt", flags) || folder == folder.root_path())
            break;
    }
    return flags;
}

Checked check(const fs::path &splitcc, const fs::path &file, const std::string &text)
{
    TemporaryDirectory temporary;
    const std::string copy = temporary.file(file.stem(), ".sc"),
                      index = temporary.file("index", ""), errors = temporary.file("errors", "");
    const Flags flags = flags_of(file);
    std::error_code gone;
    const fs::path folder = fs::is_directory(flags.folder, gone) ? flags.folder : "/";
    Checked checked;

    if (!write_file(copy, text))
        return {{{1, cannot("write", copy), "", {file, 1, 1, 1}, {}, {}}}, {}};
    Command command{"env", "-C", folder, "timeout", "-k", "1", kSeconds, splitcc.string()};
    append(command, flags.words);
    append(command, {"-fsyntax-only", "-fdiagnostics-format=json", "-fdiagnostics-color=never",
                     "-findex=" + index, "-iquote", file.parent_path(), "-x", "splitc", copy});
    std::string output;
    const int code = run_captured(command, output, errors);
    const std::string said = read_file(errors).value_or("");
    const Reader reader(copy, file, folder);
    checked.findings = findings_of(reader, said);
    if (const json entries = parsed(read_file(index).value_or("")); entries.is_array())
        for (const json &entry : entries)
            checked.index.push_back(reader.entry(entry));
    if (code != 0 && checked.findings.empty())
        checked.findings.push_back(
            {1,
             code == 124 || code == 137
                 ? std::string("splitcc has not finished within ") + kSeconds + " seconds"
                 : said.substr(0, said.find('\n')),
             "",
             {file, 1, 1, 1},
             {},
             {}});
    return checked;
}

} // namespace splitcc::lsp
