// SPDX-License-Identifier: BSD-3-Clause
#include "driver/command_line.h"

#include <catch2/catch.hpp>

using namespace splitcc;

using Words = std::vector<std::string>;

TEST_CASE("inputs keep their order, libraries among them")
{
    Options o = parse_options({"a.sc", "-lone", "b.o", "-l", "two", "c.c"});
    REQUIRE(o.inputs.size() == 6);
    CHECK(o.inputs[0].language == Language::SplitC);
    CHECK(o.inputs[1].path == "-lone");
    CHECK(o.inputs[3].path == "-l");
    CHECK(o.inputs[4].path == "two");
    CHECK(o.inputs[4].language == Language::Linker);
    CHECK(o.inputs[5].language == Language::Other);
    CHECK(o.stage == Stage::Link);
}

TEST_CASE("option -x holds until the next one")
{
    Options o = parse_options({"-x", "splitc", "a.c", "-x", "c", "b.sc", "-x", "none", "c.sc"});
    CHECK(o.inputs[0].language == Language::SplitC);
    CHECK(o.inputs[1].language == Language::Other);
    CHECK(o.inputs[1].x == "c");
    CHECK(o.inputs[2].language == Language::SplitC);
    CHECK(o.inputs[2].x.empty());
}

TEST_CASE("each option goes to the step it is for")
{
    Options o = parse_options({"-DA=1", "-D", "B", "-Iinc", "-I", "inc2", "-O2", "-g", "-Wall",
                               "-Wl,-z,now", "-L/lib", "-fcommon", "-m64", "-pthread", "-static",
                               "-std=gnu89", "-include", "x.h", "-Wp,-v"});
    CHECK(o.preprocess ==
          Words{"-DA=1", "-D", "B", "-Iinc", "-I", "inc2", "-include", "x.h", "-Wp,-v"});
    CHECK(o.compile == Words{"-g", "-Wall"});
    REQUIRE(o.inputs.size() == 3);
    CHECK(o.inputs[0].path == "-Wl,-z,now");
    CHECK(o.inputs[1].path == "-L/lib");
    CHECK(o.is_static);
    CHECK(o.both == Words{"-O2", "-fcommon", "-m64", "-pthread", "-std=gnu89"});
    CHECK(o.standard == "gnu89");
}

TEST_CASE("the stage and the result")
{
    CHECK(parse_options({"-c"}).stage == Stage::Object);
    CHECK(parse_options({"-S"}).stage == Stage::Assembly);
    CHECK(parse_options({"-E"}).stage == Stage::Preprocess);
    CHECK(parse_options({"-trans"}).stage == Stage::Translate);
    CHECK(parse_options({"-o", "x"}).output == "x");
    CHECK(parse_options({"-ox"}).output == "x");
}

TEST_CASE("dependencies")
{
    Options o = parse_options({"-MD", "-MF", "file", "-MT", "target"});
    CHECK(o.dependencies);
    CHECK(o.dependency_file == "file");
    CHECK(o.dependency_target);
    CHECK_FALSE(o.only_dependencies);
    CHECK(o.dependency == Words{"-MD", "-MT", "target"});
    CHECK(parse_options({"-MM"}).only_dependencies);
}

TEST_CASE("splitcc's own options")
{
    CHECK(parse_options({"-show"}).show);
    CHECK(parse_options({"-###"}).show);
    CHECK(parse_options({"-v"}).verbose);
    CHECK(parse_options({"--save-temps"}).save_temps == SaveTemps::Here);
    CHECK(parse_options({"-save-temps=obj"}).save_temps == SaveTemps::WithResult);
    CHECK(parse_options({"-w"}).warnings.quiet());
    CHECK(parse_options({"-Werror"}).warnings.level("-Wlocal-escape") == Level::Error);
    CHECK(parse_options({"-ferror-limit=3"}).error_limit == 3);
    CHECK(parse_options({"-ferror-limit=0"}).error_limit > 1000000);
    CHECK(parse_options({"-ansi"}).standard == "c89");
    CHECK(parse_options({"-print-libs"}).print == "libs");
}

TEST_CASE("what makes no sense is refused by name")
{
    for (std::string word : {"-o", "-I", "-x", "-l", "-MF", "-include"}) {
        INFO(word);
        CHECK_THROWS_WITH(parse_options({word}), Catch::Contains("'" + word + "'"));
    }
    CHECK_THROWS_WITH(parse_options({"-bogus-option"}), Catch::Contains("-bogus-option"));
}

TEST_CASE("misspelled options are suggested, or left to be asked for")
{
    CHECK_THROWS_WITH(parse_options({"-trasn"}), Catch::Contains("did you mean '-trans'?"));
    CHECK_THROWS_WITH(parse_options({"-shwo"}), Catch::Contains("did you mean '-show'?"));
    CHECK_THROWS_WITH(parse_options({"-fcheck=all"}), Catch::Contains("-fcheck takes no value"));
    CHECK(
        parse_options({"-fchek", "-fno-old-program", "-Wsplit-phas", "-Wno-split-phas"}).doubtful ==
        Words{"-fchek", "-fno-old-program", "-Wsplit-phas", "-Wno-split-phas"});
    CHECK(parse_options({"-fcommon", "-fcheck", "-fno-check", "-fprofile-lines", "-Wno-split-phase",
                         "-Werror=local-escape", "-Wmain", "-Wcast-qual", "-fprofile-arcs", "-Wall",
                         "-Wextra", "-Xclang", "-fchek", "-O2", "-fno-plt"})
              .doubtful.empty());
}
