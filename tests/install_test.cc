// SPDX-License-Identifier: BSD-3-Clause
//
// What `cmake --install` makes works wherever it is moved.
#include "splitc_run.h"

#include <catch2/catch.hpp>

namespace fs = std::filesystem;

TEST_CASE("An installed tree works after it was moved")
{
    TemporaryFolder folder;
    const std::string moved = folder / "another place";

    const Outcome installed =
        run({{CMAKE, "--install", BUILD_FOLDER, "--prefix", folder / "first"}});
    INFO(installed.out << installed.err);
    REQUIRE(installed.code == 0);
    fs::rename(folder / "first", moved);

    const Outcome compiled = run({{moved + "/bin/splitcc", "-O2",
                                   PROJECT_SOURCE "/examples/hello.sc", "-o", folder / "hello"}});
    INFO(compiled.out << compiled.err);
    REQUIRE(compiled.code == 0);

    const Outcome outcome = run({{moved + "/bin/unetrun", "-n", "2", folder / "hello"}});
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, Catch::Contains("hello from processor 0 of 2\n") &&
                                Catch::Contains("hello from processor 1 of 2\n"));
}

TEST_CASE("An installed tree names no folder of the build")
{
    TemporaryFolder folder;

    const Outcome installed =
        run({{CMAKE, "--install", BUILD_FOLDER, "--prefix", folder / "tree"}});
    REQUIRE(installed.code == 0);
    for (const char *path :
         {"bin/splitcc", "bin/unetrun", "lib/libsplitc.a", "lib/libgam.a", "lib/libunet.a",
          "include/split-c/split-c.h", "include/gam/gam.h", "include/unet/unet.h"}) {
        INFO(path);
        CHECK(fs::exists(folder.path / "tree" / path));
    }
    const Outcome dump =
        run({{"readelf", "-d", folder / "tree/bin/splitcc", folder / "tree/bin/unetrun"}});
    CHECK(dump.code == 0);
    CHECK_THAT(dump.out, !Catch::Contains(BUILD_FOLDER));
}
