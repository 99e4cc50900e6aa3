// SPDX-License-Identifier: BSD-3-Clause
//
// The front door: what ./dev says without building anything.
#include "process.h"

#include <catch2/catch.hpp>

namespace {

const std::string dev = PROJECT_SOURCE "/dev";

void require_refuses(const std::vector<std::string> &arguments, const std::string &message)
{
    Command command{{dev}, {}, "/"};

    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run(command);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.out == "");
    CHECK_THAT(outcome.err, Catch::StartsWith("dev: ") && Catch::Contains(message));
}

} // namespace

TEST_CASE("dev lists its verbs")
{
    for (const std::vector<std::string> &arguments :
         {std::vector<std::string>{dev}, {dev, "help"}, {dev, "--help"}}) {
        const Outcome outcome = run({arguments, {}, "/"});
        CHECK(outcome.code == 0);
        for (const char *verb : {"demo", "test", "build", "bench", "lint", "fuzz", "clean", "help"})
            CHECK_THAT(outcome.out, Catch::Contains(std::string("\n  ") + verb + " "));
    }
}

TEST_CASE("dev refuses verbs and options it does not know")
{
    require_refuses({"frobnicate"}, "unknown verb 'frobnicate'");
    require_refuses({"build", "--frobnicate"}, "unknown option '--frobnicate'");
    require_refuses({"build", "--preset", "nosuch"}, "no preset 'nosuch'");
    require_refuses({"test", "--preset"}, "no preset ''");
    require_refuses({"demo", "me"}, "takes no arguments");
    require_refuses({"lint", "me"}, "takes no arguments");
    require_refuses({"clean", "me"}, "takes no arguments");
    require_refuses({"bench", "--slow"}, "unknown option '--slow'");
    require_refuses({"fuzz", "--seconds", "0"}, "takes a positive number");
}
