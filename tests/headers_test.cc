// SPDX-License-Identifier: BSD-3-Clause
//
// Each public header compiles alone, in both languages that may include it.
#include "process.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

namespace fs = std::filesystem;

namespace {

const fs::path root = PROJECT_SOURCE;
const std::vector<std::string> include_folders = {"unet-backends/include", "gam/include",
                                                  "vmmc/include",          "ip/include",
                                                  "reliable/include",      "runtime/include"};

// Those written in Split-C, whose types no other compiler knows.
bool is_splitc(const fs::path &header)
{
    std::ifstream text(header);
    const std::string all((std::istreambuf_iterator<char>(text)), {});

    return all.find("*global") != std::string::npos || all.find("*spread") != std::string::npos ||
           all.find("split-c/split-c.h>") != std::string::npos;
}

std::vector<std::string> public_headers(bool splitc)
{
    std::vector<std::string> names;

    for (const std::string &folder : include_folders)
        for (const auto &entry : fs::recursive_directory_iterator(root / folder))
            if (entry.path().extension() == ".h" && is_splitc(entry.path()) == splitc)
                names.push_back(fs::relative(entry.path(), root / folder));
    std::sort(names.begin(), names.end());
    return names;
}

void require_compiles(const std::vector<std::string> &compiler, const std::string &header,
                      const std::string &suffix)
{
    TemporaryFolder folder;
    const std::string source = folder / ("alone" + suffix);
    Command command{compiler};

    std::ofstream(source) << "#include <" << header << ">\n";
    for (const std::string &include : include_folders)
        command.arguments.push_back("-I" + (root / include).string());
    command.arguments.push_back(source);
    INFO(header);
    const Outcome outcome = run(command);
    CHECK(outcome.err == "");
    CHECK(outcome.code == 0);
}

} // namespace

TEST_CASE("Each public header compiles alone as C11")
{
    const auto headers = public_headers(false);

    REQUIRE(headers.size() >= 5);
    for (const std::string &header : headers)
        require_compiles({C_COMPILER, "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"},
                         header, ".c");
}

TEST_CASE("Each public header compiles alone as C++20")
{
    const auto headers = public_headers(false);

    REQUIRE(headers.size() >= 5);
    for (const std::string &header : headers)
        require_compiles(
            {CXX_COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"}, header,
            ".cc");
}

TEST_CASE("The emitted code's header compiles alone as gnu89")
{
    require_compiles({C_COMPILER, "-std=gnu89", "-Wall", "-Werror", "-fsyntax-only"},
                     "split-c/abi.h", ".c");
}

TEST_CASE("Each Split-C header compiles alone with splitcc")
{
    TemporaryFolder folder;
    const auto headers = public_headers(true);

    REQUIRE(headers.size() >= 2);
    for (const std::string &header : headers)
        require_compiles({SPLITCC, "-c", "-o", folder / "alone.o"}, header, ".sc");
}
