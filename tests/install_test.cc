// SPDX-License-Identifier: BSD-3-Clause
//
// What `cmake --install` makes works wherever it is moved, for those who build with it
// by hand, with CMake or with pkg-config.
#include "splitc_run.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include <map>
#include <regex>

namespace fs = std::filesystem;

namespace {

// The tree, installed and then moved to where a name has a space.
class Installed {
public:
    Installed()
    {
        const Outcome installed =
            run({{CMAKE, "--install", BUILD_FOLDER, "--prefix", folder / "first"}});
        INFO(installed.out << installed.err);
        REQUIRE(installed.code == 0);
        fs::rename(folder / "first", tree);
    }

    std::string operator/(const std::string &name) const { return tree + "/" + name; }

    TemporaryFolder folder;
    const std::string tree = folder / "another place";
};

// Run it in the folder; it has to succeed.
Outcome must(const fs::path &folder, const std::vector<std::string> &arguments,
             const std::vector<std::string> &environment = {})
{
    Command command{arguments, environment};
    command.folder = folder;
    const Outcome outcome = run(command);
    std::string shown;
    for (const std::string &word : arguments)
        shown += word + ' ';
    INFO(shown << '\n' << outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    return outcome;
}

const std::map<std::string, std::string> kProject = {
    {"CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.22)
project(user C)
find_package(SplitC 0.1 REQUIRED)
add_executable(prog main.sc)
add_library(part STATIC part.sc)
add_subdirectory(sub)
target_compile_definitions(prog PRIVATE GREETING="hi there")
target_include_directories(prog PRIVATE inc)
target_link_libraries(prog PRIVATE part twice m)
add_library(main STATIC main.sc)
target_compile_definitions(main PRIVATE GREETING="hello")
target_include_directories(main PRIVATE inc)
add_splitc_executable(linked idle.c)
target_link_libraries(linked PRIVATE main part twice m)
add_executable(plain plain.c)
target_link_libraries(plain PRIVATE SplitC::gam)
enable_testing()
add_test(NAME prog COMMAND SplitC::unetrun -n 2 $<TARGET_FILE:prog>)
)"},
    {"main.sc", R"(#include <split-c/split-c.h>
#include <stdio.h>
#include <math.h>
#include "own.h"
int twice(int);
int own(int *global p);
int mine;
int splitc_main(void)
{
    mine = MYPROC + (int)floor(0.5);
    barrier();
    on_one printf("%s %d %d %d\n", GREETING, OWN, twice(21), own(toglobal(PROCS - 1, &mine)));
    return 0;
}
)"},
    {"part.sc", "int own(int *global p) { return *p; }\n"},
    {"inc/own.h", "#define OWN 1\n"},
    {"idle.c", "#include <split-c/am.h>\nint idle(void) { return am_my_proc(); }\n"},
    {"sub/CMakeLists.txt", "add_library(twice STATIC twice.c)\nadd_executable(below below.sc)\n"},
    {"sub/below.sc",
     "#include <split-c/split-c.h>\nint splitc_main(void) { return PROCS != 2; }\n"},
    {"sub/twice.c", "int twice(int x) { return 2 * x; }\n"},
    {"plain.c", "#include <gam/gam.h>\nint main(void) { return GAM_RANKS_MAX == 0; }\n"}};

void write_project(const fs::path &folder)
{
    for (const auto &[name, text] : kProject) {
        fs::create_directories((folder / name).parent_path());
        write_file((folder / name).string(), text);
    }
}

// How the file is compiled, as CMake says it to tools that know nothing of splitcc.
std::string command_of(const fs::path &build, const std::string &file)
{
    const std::string all = read_file(build / "compile_commands.json");
    const std::regex entry("\"command\": \"([^\n]*/" + file + ")\"");
    std::smatch match;
    REQUIRE(std::regex_search(all, match, entry));
    return std::regex_replace(match[1].str(), std::regex(R"(\\")"), "\""); // as JSON means it
}

// Newer than all that has been built, whatever the clock's grain.
void change(const std::string &file, const std::string &text)
{
    const auto before = fs::last_write_time(file);
    write_file(file, text);
    fs::last_write_time(file,
                        std::max(before, fs::last_write_time(file)) + std::chrono::seconds(2));
}

} // namespace

TEST_CASE("An installed tree works after it was moved")
{
    const Installed tree;
    const fs::path here = tree.folder.path;
    must(here, {tree / "bin/splitcc", "-O2", PROJECT_SOURCE "/examples/hello.sc", "-o", "hello"});
    const Outcome outcome = must(here, {tree / "bin/unetrun", "-n", "2", "./hello"});
    CHECK_THAT(outcome.out, Catch::Contains("hello from processor 0 of 2\n") &&
                                Catch::Contains("hello from processor 1 of 2\n"));
}

TEST_CASE("An installed tree is complete and names no folder of the build")
{
    const Installed tree;
    for (const char *path : {"bin/splitcc",
                             "bin/unetrun",
                             "lib/libsplitc.a",
                             "lib/libgam.a",
                             "lib/libreliable.a",
                             "lib/libunet.a",
                             "lib/libvmmc.a",
                             "include/vmmc/vmmc.h",
                             "include/split-c/split-c.h",
                             "include/gam/gam.h",
                             "include/unet/unet.h",
                             "share/split-c/gdb.py",
                             "share/man/man1/splitcc.1",
                             "share/man/man1/unetrun.1",
                             "share/man/man1/unetsock.1",
                             "share/man/man1/unetatm.1",
                             "bin/unetatm",
                             "share/man/man8/unetni.8",
                             "sbin/unetni",
                             "share/doc/split-c/systemd/unetni@.service",
                             "bin/unetsock",
                             "lib/split-c/libunetsock.so",
                             "share/doc/split-c/docs/language.md",
                             "share/doc/split-c/examples/hello.sc"}) {
        INFO(path);
        CHECK(fs::exists(tree / path));
    }
    // Where there is lwIP.
    CHECK(fs::exists(tree / "share/man/man1/unet-gateway.1") ==
          fs::exists(tree / "bin/unet-gateway"));
    const Outcome dump = run({{"readelf", "-d", tree / "bin/splitcc", tree / "bin/unetrun"}});
    CHECK(dump.code == 0);
    CHECK_THAT(dump.out, !Catch::Contains(BUILD_FOLDER));
    const Outcome text = run({{"grep", "-rlE", BUILD_FOLDER "|" PROJECT_SOURCE, tree / "lib/cmake",
                               tree / "lib/pkgconfig", tree / "share"}});
    CHECK(text.out.empty());
}

TEST_CASE("What the installed documents refer to is installed, too")
{
    const Installed tree;
    const std::regex link(R"(\]\(([^)#:]+)(#[^)]*)?\))");
    int links = 0;

    for (const auto &entry : fs::recursive_directory_iterator(tree / "share/doc/split-c")) {
        if (entry.path().extension() != ".md")
            continue;
        const std::string text = read_file(entry.path());
        for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
            INFO(entry.path() << " refers to " << (*at)[1]);
            CHECK(fs::exists(entry.path().parent_path() / (*at)[1].str()));
            links++;
        }
    }
    CHECK(links > 20);
}

TEST_CASE("A project of CMake finds the tree and rebuilds what depends on a header")
{
    for (const std::string generator : {"Ninja", "Unix Makefiles"}) {
        if (generator == "Ninja" && run({{"sh", "-c", "command -v ninja"}}).code != 0) {
            WARN("left out: there is no ninja");
            continue;
        }
        const Installed tree;
        const fs::path source = tree.folder.path / "source", build = tree.folder.path / "a build";
        INFO(generator);
        write_project(source);
        must(tree.folder.path,
             {CMAKE, "-S", source, "-B", build, "-G", generator, "-DCMAKE_PREFIX_PATH=" + tree.tree,
              "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"});
        must(build, {CMAKE, "--build", "."});
        must(build, {"sh", "-c", command_of(build, "idle.c") + " -fsyntax-only"});
        CHECK(must(build, {tree / "bin/unetrun", "-n", "3", "./prog"}).out == "hi there 1 42 2\n");
        CHECK(must(build, {tree / "bin/unetrun", "-n", "2", "./linked"}).out == "hello 1 42 1\n");
        must(build, {tree / "bin/unetrun", "-n", "2", "sub/below"});
        must(build, {"./plain"});
        must(build, {"ctest"});
        const auto part = build / "CMakeFiles/part.dir/part.sc.o";
        const auto compiled = fs::last_write_time(part);
        change(source / "inc/own.h", "#define OWN 2\n");
        must(build, {CMAKE, "--build", "."});
        CHECK(must(build, {tree / "bin/unetrun", "-n", "3", "./prog"}).out == "hi there 2 42 2\n");
        CHECK(fs::last_write_time(part) == compiled); // which has no part in it
    }
}

TEST_CASE("A project of CMake without C is told that Split-C needs it")
{
    const Installed tree;
    const fs::path source = tree.folder.path / "source";
    write_project(source);
    write_file(source / "CMakeLists.txt",
               "cmake_minimum_required(VERSION 3.22)\nproject(user NONE)\n"
               "find_package(SplitC REQUIRED)\n"
               "add_splitc_executable(prog main.sc)\n");
    const Outcome outcome = run(
        {{CMAKE, "-S", source, "-B", tree.folder / "build", "-DCMAKE_PREFIX_PATH=" + tree.tree}});
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code != 0);
    CHECK_THAT(outcome.err, Catch::Contains("project(name C)"));
}

TEST_CASE("Programs may be linked with what pkg-config says")
{
    const Installed tree;
    const fs::path here = tree.folder.path / "source";
    const std::vector<std::string> environment = {"PKG_CONFIG_PATH=" + (tree / "lib/pkgconfig"),
                                                  "SPLITCC=" + (tree / "bin/splitcc")};
    write_project(here);
    must(here,
         {"sh", "-ec",
          "\"$SPLITCC\" -DGREETING='\"hi\"' -Iinc -c main.sc part.sc\n"
          "eval cc $(pkg-config --cflags split-c) -c sub/twice.c\n"
          "eval cc main.o part.o twice.o -o prog $(pkg-config --libs split-c)\n"
          "eval cc plain.c -o plain $(pkg-config --cflags --libs gam)\n"},
         environment);
    const Outcome ran = must(here, {tree / "bin/unetrun", "-v", "-n", "2", "./prog"});
    CHECK(ran.out == "hi 1 42 1\n");
    CHECK_THAT(ran.err, !Catch::Contains("no windows"));
    must(here, {"./plain"});
    CHECK_THAT(must(here, {"ldd", "plain"}).out, !Catch::Contains("pmix"));
}
