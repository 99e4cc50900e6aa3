// SPDX-License-Identifier: BSD-3-Clause
//
// A program of several modules in the manner of 1994 (tests/legacy): it compiles
// unmodified and checks itself.
#include "splitc_run.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace {

using Words = std::vector<std::string>;

Words modules()
{
    Words found;
    for (const auto &entry : std::filesystem::directory_iterator(PROJECT_SOURCE "/tests/legacy"))
        if (entry.path().extension() == ".sc")
            found.push_back(entry.path().string());
    std::sort(found.begin(), found.end());
    return found;
}

// gcc is quiet about all of it under gnu89, and so is splitcc.
void compile(const TemporaryFolder &folder, const Words &options, const Words &inputs)
{
    Words words{compiler(), "-std=gnu89"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), inputs.begin(), inputs.end());
    const Outcome outcome = run({words, {}, folder.path, std::chrono::seconds(120)});
    REQUIRE(outcome.err == "");
    REQUIRE(outcome.code == 0);
}

void check_on(int count, const std::string &program)
{
    const Outcome outcome = run(ranks(count, program, {}));
    INFO("on " << count << " processors");
    CHECK(outcome.err == "");
    CHECK(outcome.out == "");
    CHECK(outcome.code == 0);
}

} // namespace

TEST_CASE("a legacy program compiles unmodified and its checks hold")
{
    const TemporaryFolder folder;
    compile(folder, {"-o", "prog"}, modules());
    for (int count : {1, 2, 4, 8})
        check_on(count, folder / "prog");
}

TEST_CASE("a legacy program may be compiled module by module, with other sizes")
{
    const TemporaryFolder folder;
    Words objects;
    for (const std::string &module : modules()) {
        compile(folder, {"-O2", "-g", "-DBLOCK=3", "-DCELLS=13", "-DPARTICLES=7", "-c"}, {module});
        objects.push_back(std::filesystem::path(module).stem().string() + ".o");
    }
    compile(folder, {"-o", "prog"}, objects);
    for (int count : {3, 4})
        check_on(count, folder / "prog");
}

TEST_CASE("a legacy program passes the run-time checks")
{
    const TemporaryFolder folder;
    compile(folder, {"-fcheck", "-o", "prog"}, modules());
    check_on(4, folder / "prog");
}

TEST_CASE("a legacy program says which of its checks fail")
{
    const TemporaryFolder folder;
    compile(folder, {"-DCLOSE=-1", "-o", "prog"}, modules());
    const Outcome outcome = run(ranks(2, folder / "prog", {}));
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.out, Catch::Contains("sum_by_hand is wrong") &&
                                Catch::Contains("an entry of the product is wrong") &&
                                Catch::Contains("the charge on the mesh is wrong"));
}
