// SPDX-License-Identifier: BSD-3-Clause
//
// The translation is C without Split-C: translated once more, it stays the same byte for byte.
#include "process.h"
#include "translate.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

using namespace splitcc;
namespace fs = std::filesystem;

namespace {

std::string read(const fs::path &path)
{
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// Returns the standard that the first lines of a file name, or that of its folder.
std::string standard_of(const fs::path &file)
{
    const std::string head = read(file).substr(0, 400);
    const size_t at = head.find("-std=");
    if (at != std::string::npos)
        return head.substr(at, head.find_first_of(" \n", at) - at);
    return file.parent_path().filename() == "legacy" ? "-std=gnu89" : "-std=gnu17";
}

// Returns the first line that differs, in both forms.
std::string difference(const std::string &a, const std::string &b)
{
    std::istringstream old_lines(a), new_lines(b);
    std::string x, y;
    while (std::getline(old_lines, x) && std::getline(new_lines, y))
        if (x != y)
            return "- " + x.substr(0, 500) + "\n+ " + y.substr(0, 500);
    return "one is a part of the other";
}

// Returns false if the file cannot be translated at all.
bool check_file(const fs::path &file)
{
    const std::string standard = standard_of(file);
    const Outcome text =
        run({{BUILD_FOLDER "/bin/splitcc", "-E", "-w", standard,
              "-I" PROJECT_SOURCE "/benchmarks/common", "-x", "splitc", file.filename()},
             {},
             file.parent_path()});
    TranslateOptions options;
    options.gnu89 = standard == "-std=gnu89";
    const Translation once = translate(text.out, options);
    if (text.code != 0 || !once.ok)
        return false;
    const Translation twice = translate(once.c, options);
    INFO(file.string() << ":\n"
                       << render_text(twice.messages, false) << difference(once.c, twice.c));
    CHECK(twice.ok);
    CHECK((twice.c == once.c));
    return true;
}

void check_folder(const std::string &folder, int at_least)
{
    int checked = 0;
    for (const auto &entry : fs::directory_iterator(PROJECT_SOURCE "/" + folder))
        if (entry.path().extension() == ".sc" || entry.path().extension() == ".c")
            checked += check_file(entry.path());
    CHECK(checked >= at_least);
}

} // namespace

TEST_CASE("programs that check themselves stay what they are")
{
    check_folder("compiler/test/run", 100);
    check_folder("compiler/test/run/parts", 1);
}

TEST_CASE("programs with faults at run time stay what they are")
{
    check_folder("compiler/test/checks", 10);
}

TEST_CASE("programs with warnings stay what they are")
{
    check_folder("compiler/test/warning", 30);
}

TEST_CASE("plain C stays what it is")
{
    check_folder("compiler/test/plain", 20);
}

TEST_CASE("examples, benchmarks and the legacy program stay what they are")
{
    check_folder("examples", 3);
    check_folder("benchmarks/splitc", 6);
    check_folder("benchmarks/micro", 6);
    check_folder("tests/legacy", 8);
}
