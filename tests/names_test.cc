// SPDX-License-Identifier: BSD-3-Clause
//
// Names of a program stay its own, whatever libc and our libraries use: those of
// the 1990s have a `send`, a `time` or a `poll` of their own.
#include "splitc_run.h"

#include <catch2/catch.hpp>

#include <set>
#include <sstream>

namespace {

using Names = std::set<std::string>;

const char *const kLibraries[] = {"unet", "reliable", "gam", "vmmc", "splitc"};

// One for the whole process, not necessarily libc's.
const Names kAllocator = {"malloc",        "calloc",   "realloc",       "free",
                          "aligned_alloc", "memalign", "posix_memalign"};

// What `nm OPTION` prints as names of our archives.
Names symbols(const std::string &option)
{
    Command command{{"nm", "-g", "--format=posix", option}};
    for (const char *library : kLibraries)
        command.arguments.push_back(std::string(BUILD_FOLDER "/lib/lib") + library + ".a");
    const Outcome outcome = run(command);
    REQUIRE(outcome.code == 0);
    Names names;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && line.back() != ':') // an archive's member
            names.insert(line.substr(0, line.find(' ')));
    return names;
}

bool begins_with(const std::string &name, const std::vector<std::string> &prefixes)
{
    for (const std::string &prefix : prefixes)
        if (name.rfind(prefix, 0) == 0)
            return true;
    return false;
}

// The names of libc that our archives use, except those that a C compiler calls
// whenever it likes, and those of the allocator.
Names libc_names()
{
    const Names apart = {"memcpy", "memmove", "memset", "memcmp",        "malloc",
                         "calloc", "realloc", "free",   "aligned_alloc", "posix_memalign"};
    Names names;
    for (const std::string &name : symbols("--undefined-only"))
        if (size_t at = name.find('@'); at != std::string::npos && !apart.count(name.substr(0, at)))
            names.insert(name.substr(0, at));
    return names;
}

// Says hello, and fetches a block from its neighbour.
const char *const kProgram =
    "#include <split-c/split-c.h>\n"
    "int printf(const char *, ...);\n"
    "static int blocks[PROCS]::[50000];\n"
    "int splitc_main(int argc, char **argv)\n"
    "{\n"
    "    static int copy[50000];\n"
    "    int *mine = tolocal(blocks[MYPROC]), next = (MYPROC + 1) % PROCS, right = 0;\n"
    "    for (int i = 0; i < 50000; i++)\n"
    "        mine[i] = i + MYPROC;\n"
    "    barrier();\n"
    "    bulk_read(copy, (void *global)blocks[next], sizeof copy);\n"
    "    for (int i = 0; i < 50000; i++)\n"
    "        right += copy[i] == i + next;\n"
    "    right = all_reduce_to_all_add(right);\n"
    "    on_one printf(\"hello %d %d\\n\", right, untouched());\n"
    "    return 0;\n"
    "}\n";

// Compile the program together with definitions, run it on 2 ranks and return what it said.
Outcome run_with(const std::string &definitions, const std::vector<std::string> &options = {})
{
    TemporaryFolder folder;
    write_file(folder / "main.sc", "int untouched(void);\n" + std::string(kProgram));
    write_file(folder / "names.sc", definitions);
    Command command{{compiler(), "-O1", "-w", "-fno-builtin", folder / "main.sc",
                     folder / "names.sc", "-o", folder / "program"}};
    command.arguments.insert(command.arguments.end(), options.begin(), options.end());
    const Outcome compiled = run(command);
    INFO(compiled.err);
    REQUIRE(compiled.code == 0);
    return run(ranks(2, folder / "program", {}));
}

void check_hello(const Outcome &outcome)
{
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.out == "hello 100000 1\n");
}

} // namespace

TEST_CASE("Our archives name nothing that a program might name")
{
    for (const std::string &name : symbols("--undefined-only")) {
        INFO(name << " is used");
        CHECK((
            name.find('@') != std::string::npos || name == "_GLOBAL_OFFSET_TABLE_" ||
            name == "_end" || kAllocator.count(name) ||
            begins_with(name, {"splitc_", "gam_", "vmmc_", "reliable_", "unet_", "PMIx_", "mi_",
                               "__", "_Unwind_", "pthread_atfork"}))); // which is linked statically
    }
    for (const std::string &name : symbols("--defined-only")) {
        INFO(name << " is defined");
        CHECK((name == "main" || name == "fork" || // weak
               begins_with(name, {"__", "splitc_", "gam_", "vmmc_", "reliable_", "unet_", "am_"})));
    }
}

TEST_CASE("Functions named as libc's are the program's own")
{
    const Names names = libc_names();
    REQUIRE(names.size() > 30);
    std::string text = "static int calls;\n";
    for (const std::string &name : names)
        text += "int " + name + "() { calls++; return -7; }\n";
    check_hello(run_with(text + "int untouched(void) { return calls == 0; }\n"));
}

TEST_CASE("Variables named as libc's are the program's own")
{
    std::string text, sum = "0";
    for (const std::string &name : libc_names()) {
        text += "int " + name + " = 7;\n";
        sum += " + (" + name + " != 7)";
    }
    check_hello(run_with(text + "int untouched(void) { return (" + sum + ") == 0; }\n"));
}

TEST_CASE("Tentative definitions of libc's functions are variables of the program's own")
{
    // Of libc's variables they are declarations, for C programs as well.
    const Names variables = {"stdin", "stdout", "stderr", "environ"};
    std::string text, sum = "0";
    for (const std::string &name : libc_names()) {
        if (variables.count(name))
            continue;
        text += "int " + name + ";\n";
        sum += " + (" + name + " != 0)";
    }
    check_hello(
        run_with(text + "int untouched(void) { return (" + sum + ") == 0; }\n", {"-fcommon"}));
}

TEST_CASE("A program may call libc's functions that our archives call")
{
    check_hello(
        run_with("#include <poll.h>\n#include <stdio.h>\n#include <time.h>\n"
                 "#include <unistd.h>\n"
                 "int untouched(void)\n{\n    struct timespec now;\n"
                 "    return poll(0, 0, 0) == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0 "
                 "&& write(1, \"\", 0) == 0 && fflush(stdout) == 0;\n}\n"));
}
