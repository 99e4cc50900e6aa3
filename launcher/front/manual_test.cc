// SPDX-License-Identifier: BSD-3-Clause
//
// unetrun(1), docs/unetrun.md and unetrun --help name the same options.

#include <catch2/catch.hpp>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "front/options.h"

using Names = std::set<std::string>;

namespace {

const std::string source = PROJECT_SOURCE;

Names all_matches(const std::string &line, const std::regex &pattern)
{
    Names names;
    for (std::sregex_iterator match(line.begin(), line.end(), pattern), end; match != end; ++match)
        names.insert((*match)[1]);
    return names;
}

// What `of_line` makes of each line.
template <class OfLine> Names collect(std::istream &&text, OfLine of_line)
{
    Names names;
    for (std::string line; std::getline(text, line);)
        names.merge(of_line(line));
    return names;
}

std::ifstream open_source(const std::string &file)
{
    std::ifstream stream(source + "/" + file);
    INFO(file);
    REQUIRE(stream.is_open());
    return stream;
}

// "  -n, -np N   start"; and "  -H, --host: --hosts", of which the last is ours.
Names named_by_help()
{
    static const std::regex option("(?:^  |, )(--?[a-zA-Z][a-zA-Z-]*)");
    return collect(std::istringstream(unetrun::help_text()),
                   [](const std::string &line) { return all_matches(line, option); });
}

// "| `-n N`, `-np N` | start |": the first cell of a table.
Names named_by_docs()
{
    static const std::regex option("`(--?[a-zA-Z][a-zA-Z-]*)");
    return collect(open_source("docs/unetrun.md"), [](const std::string &line) {
        return line.starts_with("| `-") ? all_matches(line.substr(0, line.find(" | ")), option)
                                        : Names();
    });
}

// ".It Fl n Ar number , Fl Fl np Ar number": each Fl is a dash.
Names named_by_manual()
{
    return collect(open_source("packaging/unetrun.1"), [](const std::string &line) {
        Names names;
        if (!line.starts_with(".It Fl "))
            return names;
        std::istringstream words(line.substr(4));
        std::string dashes;
        for (std::string word; words >> word;) {
            if (word == "Fl")
                dashes += "-";
            else if (const std::string before = std::exchange(dashes, ""); !before.empty())
                names.insert(before + word);
        }
        return names;
    });
}

} // namespace

TEST_CASE("the manual, the documentation and the help name the same options")
{
    const Names help = named_by_help();
    REQUIRE(help.size() > 30);
    REQUIRE(help.count("--backend") + help.count("-np") + help.count("-H") == 3);
    CHECK(named_by_docs() == help);
    CHECK(named_by_manual() == help);
}
