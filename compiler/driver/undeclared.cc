// SPDX-License-Identifier: BSD-3-Clause
#include "driver/undeclared.h"

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <vector>

#include "source/similar.h"

namespace splitcc {
namespace {

constexpr const char *kHeaders[] = {"split-c", "am",     "atomic",  "castable", "collective",
                                    "gather",  "handle", "strided", "team"};

struct LibraryFunction {
    std::string label, result, header;
    // A call without a declaration passes what the function takes: words, and doubles.
    bool takes_what_it_gets = false;
};

using LibraryFunctions = std::map<std::string, LibraryFunction>;

// Adds the function that the text declares with the name of a symbol, if it does.
void add_function(const std::string &text, const std::string &header, LibraryFunctions &functions)
{
    static const std::regex declaration(
        R"(extern\s+([\w\s*]*?)\s*(\(?)(\w+)\)?\s*\(([^()]*)\)\s*__asm__\s*\(([^()]*)\))");
    std::smatch found;
    if (text.find("__asm__") == text.npos || !std::regex_search(text, found, declaration))
        return;
    LibraryFunction function{"", found[1], header};
    bool quoted = false;
    for (char c : found[5].str())
        if (c == '"')
            quoted = !quoted;
        else if (quoted)
            function.label += c;
    // Handlers are registered where they are named in a call that is declared; splitcc makes the
    // code of calls with an ellipsis, of toproc() and tolocal(); and for names in parentheses there
    // are macros.
    const std::string parameters = found[4];
    function.takes_what_it_gets =
        found[3] != "toproc" && found[3] != "tolocal" && found[2].length() == 0;
    for (const char *other : {"float", "am_handler", "..."})
        function.takes_what_it_gets &= parameters.find(other) == parameters.npos;
    functions.emplace(found[3], std::move(function));
}

// Returns the functions that the headers of the library declare.
LibraryFunctions library_functions(Toolchain &tools)
{
    std::string source = tools.temporary().file("library", ".c"), includes, text;
    for (const char *header : kHeaders)
        includes += "#include <split-c/" + std::string(header) + ".h>\n";
    if (!write_file(source, includes))
        fatal(cannot("write", source));
    Command command = tools.cc({"-E", "-D__SPLITC__=1"});
    append(command, tools.include_options());
    command.push_back(source);
    tools.run_captured(command, text, tools.temporary().file("library", ".err"));
    LibraryFunctions functions;
    std::istringstream lines(text);
    std::string declaration, header;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# ")) {
            const size_t name = line.find("/split-c/");
            header =
                name == line.npos ? "" : line.substr(name + 1, line.find('"', name) - name - 1);
            continue;
        }
        for (char c : line + "\n")
            if (c == ';' || c == '{' || c == '}') {
                add_function(declaration, header, functions);
                declaration.clear();
            } else {
                declaration += c;
            }
    }
    return functions;
}

// Returns the name that the linker misses, as GNU ld, gold and lld say it, and has `line` end where
// that begins; empty if the line is about something else.  (std::regex has no stack for long
// names.)
std::string take_undefined_name(std::string &line)
{
    const size_t says = line.rfind(": undefined ");
    for (const std::string kind :
         {": undefined reference to `", ": undefined reference to '", ": undefined symbol: "})
        if (says != line.npos && line.compare(says, kind.size(), kind) == 0) {
            const size_t begin = says + kind.size();
            const std::string name = line.substr(begin, line.find('\'', begin) - begin);
            line.resize(says);
            return name;
        }
    return "";
}

// Returns where names are used that the linker does not find, by the names.
std::map<std::string, std::string> undefined_names(const std::string &said,
                                                   const std::string &temporary)
{
    std::map<std::string, std::string> names;
    std::istringstream lines(said);
    for (std::string place; std::getline(lines, place);) {
        const std::string name = take_undefined_name(place);
        if (name.empty())
            continue;
        // "ld: FILE:(.text+0x7)" or "ld: FILE:LINE"
        if (const size_t begin = place.rfind(": "); begin != place.npos)
            place.erase(0, begin + 2);
        place.resize(std::min(place.size(), place.find(":(")));
        if (place.find('<') != place.npos || place.starts_with(temporary) || place == "error")
            place.clear();
        names.emplace(name, place);
    }
    return names;
}

bool gives_int(const LibraryFunction &function)
{
    return function.result == "void" || function.result == "int" || function.result == "unsigned";
}

// Returns what there is to say of a name that nothing defines, if it looks like one of the library.
std::string advice(const std::string &name, const std::vector<std::string> &known)
{
    if (name.starts_with("splitc_")) // as splitcc makes them
        return "";
    const std::string near = most_similar(name, known, edits_too_many(name));
    return near.empty() ? ""
                        : "splitcc: note: nothing defines '" + name +
                              "', which the linker misses; did you mean '" + near + "'?\n";
}

// A module may declare the function itself, as `double get_seconds();`.
std::string message(const std::string &name, const std::string &place,
                    const LibraryFunction &function)
{
    const bool linked = function.takes_what_it_gets;
    const std::string why =
        !linked ? ", without which it cannot be called"
        : !gives_int(function)
            ? ", where its '" + function.result + "' is taken for an int unless it is declared"
            : "";
    return std::string("splitcc: ") + (linked ? "warning" : "error") + ": '" + name +
           "' of the library is called where <" + function.header + "> is not included" +
           (place.empty() ? "" : " (" + place + ")") + why + "; include it\n";
}

} // namespace

UndeclaredCalls undeclared_calls(Toolchain &tools, const std::string &said, bool quiet)
{
    UndeclaredCalls calls;
    const auto names = undefined_names(said, tools.temporary().path());
    const LibraryFunctions functions =
        names.empty() ? LibraryFunctions() : library_functions(tools);
    std::vector<std::string> known;
    for (const auto &[name, unused] : functions)
        known.push_back(name);
    for (const auto &[name, place] : names) {
        const auto found = functions.find(name);
        if (found == functions.end()) {
            calls.advice += advice(name, known);
            continue;
        }
        const LibraryFunction &function = found->second;
        if (!function.takes_what_it_gets || !quiet)
            calls.messages += message(name, place, function);
        if (function.takes_what_it_gets)
            append(calls.aliases, {"-Wl,--undefined=" + function.label,
                                   "-Wl,--defsym=" + name + "=" + function.label});
    }
    return calls;
}

} // namespace splitcc
