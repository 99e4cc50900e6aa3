// SPDX-License-Identifier: BSD-3-Clause
//
// docs/unetrun.md names the options that unetrun has.  (unetrun(1) and the completions are made
// from the same table as --help.)

#include <catch2/catch.hpp>

#include <fstream>
#include <regex>
#include <set>

#include "front/option_table.h"
#include "front/other_launchers.h"

using Names = std::set<std::string>;

namespace {

void add_names(Names &names, const std::string &text, const std::regex &name)
{
    for (std::sregex_iterator match(text.begin(), text.end(), name), end; match != end; ++match)
        names.insert((*match)[1]);
}

Names named_by_table()
{
    static const std::regex word("([^ ]+)");
    Names names;
    for (const unetrun::Option &option : unetrun::option_table()) {
        names.insert(option.name);
        if (option.alias)
            names.insert(option.alias);
        add_names(names, unetrun::synonyms_of(option.name, " "), word);
    }
    return names;
}

// "| `-n N`, `-np N` | start |": the first cell of a table.
Names named_by_docs()
{
    static const std::regex option("`(--?[a-zA-Z][a-zA-Z-]*)");
    std::ifstream text(PROJECT_SOURCE "/docs/unetrun.md");
    REQUIRE(text.is_open());
    Names names;
    for (std::string line; std::getline(text, line);)
        if (line.starts_with("| `-"))
            add_names(names, line.substr(0, line.find(" | ")), option);
    return names;
}

} // namespace

TEST_CASE("the documentation names the options that there are")
{
    const Names names = named_by_table();
    REQUIRE(names.size() > 30);
    CHECK(named_by_docs() == names);
}
