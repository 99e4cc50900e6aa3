// SPDX-License-Identifier: BSD-3-Clause
#include "diag/warnings.h"

#include <algorithm>
#include <sstream>

namespace splitcc {
namespace {

enum class Default { Off, On, WithAll };

struct Known {
    std::string_view name;
    Default given; // the level if no option names the warning
    bool ours;     // the C compiler has no warning of that name
};

constexpr Known kKnown[] = {
    {"-Wcast-local", Default::Off, true},
    {"-Wcast-lvalue", Default::On, true},
    {"-Wdiscarded-qualifiers", Default::On, false},
    {"-Wimplicit-function-declaration", Default::On, false},
    {"-Wincompatible-pointer-types", Default::On, false},
    {"-Wint-conversion", Default::On, false},
    {"-Wlocal-escape", Default::On, true},
    {"-Wmain", Default::On, false},
    {"-Wparentheses", Default::WithAll, false},
    {"-Wpointer-sign", Default::WithAll, false},
    {"-Wpointer-to-int-cast", Default::On, false},
    {"-Wsplit-phase", Default::On, true},
    {"-Wspread-conversion", Default::On, true},
    {"-Wtolocal", Default::On, true},
    {"-Wuncalled", Default::On, true},
    {"-Wvalue-loss", Default::On, true},
};

const Known *find_known(std::string_view name)
{
    auto known = std::find_if(std::begin(kKnown), std::end(kKnown),
                              [&](const Known &k) { return k.name == name; });
    return known == std::end(kKnown) ? nullptr : known;
}

} // namespace

std::vector<std::string_view> known_warnings()
{
    std::vector<std::string_view> names;
    for (const Known &known : kKnown)
        names.push_back(known.name);
    return names;
}

bool WarningOptions::read(std::string_view word)
{
    if (word == "-w")
        quiet_ = true;
    if (word == "-Werror" || word == "-Wno-error")
        all_errors_ = word == "-Werror";
    if (word == "-Wall" || word == "-Wno-all")
        all_ = word == "-Wall";
    bool no = word.starts_with("-Wno-");
    std::string_view rest = word.starts_with("-W") ? word.substr(no ? 5 : 2) : "";
    bool error = rest.starts_with("error=");
    const Known *known = find_known("-W" + std::string(rest.substr(error ? 6 : 0)));
    if (!known)
        return false;
    if (error)
        error_[std::string(known->name)] = !no;
    if (!error || !no)
        enabled_[std::string(known->name)] = !no;
    return known->ours;
}

Level WarningOptions::level(std::string_view name) const
{
    const Known *known = find_known(name);
    auto enabled = enabled_.find(name);
    bool given =
        !known || known->given == Default::On || (known->given == Default::WithAll && all_);
    if (!(enabled != enabled_.end() ? enabled->second : given))
        return Level::Off;
    auto error = error_.find(name);
    return (error != error_.end() ? error->second : all_errors_) ? Level::Error : Level::Warning;
}

WarningPragmas::WarningPragmas(Source &source)
{
    for (uint32_t line : source.directives()) {
        std::istringstream words{std::string(source.physical_text(line))};
        std::string first, vendor, diagnostic, what, name;
        words >> first;
        if (first == "#")
            words >> first;
        words >> vendor >> diagnostic >> what >> name;
        bool about_us = (first == "#pragma" || first == "pragma") &&
                        (vendor == "GCC" || vendor == "clang") && diagnostic == "diagnostic";
        static constexpr std::string_view kinds[] = {"push", "pop", "ignored", "warning", "error"};
        auto kind = std::find(std::begin(kinds), std::end(kinds), what);
        if (!about_us || kind == std::end(kinds))
            continue;
        std::erase(name, '"');
        const Known *known = find_known(name);
        auto which = static_cast<Pragma::Kind>(kind - std::begin(kinds));
        if (which > Pragma::Pop && !known)
            continue;
        pragmas_.push_back({source.line_start(line), which, name});
        if (known && known->ours)
            source.blank(line);
    }
}

Level WarningPragmas::level(std::string_view name, uint32_t offset, Level otherwise) const
{
    std::vector<Level> stack = {otherwise};
    for (const Pragma &pragma : pragmas_) {
        if (pragma.offset > offset)
            break;
        if (pragma.kind == Pragma::Push)
            stack.push_back(stack.back());
        else if (pragma.kind == Pragma::Pop && stack.size() > 1)
            stack.pop_back();
        else if (pragma.name == name)
            stack.back() = static_cast<Level>(pragma.kind - Pragma::Ignored);
    }
    return stack.back();
}

} // namespace splitcc
