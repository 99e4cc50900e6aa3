// SPDX-License-Identifier: BSD-3-Clause
//
// Programs of splitcc -g in gdb: lines, variables and global pointers of the source.
#include "splitc_run.h"

#include <catch2/catch.hpp>

namespace {

const char *const kProgram = R"(#include <split-c/split-c.h>

struct pair { int a; double *global g; };
typedef int *global place;
static double part[PROCS]::;
int counter;

static int add(int *global where, int n)
{
    int seen;
    seen := *where;
    sync();
    *where = seen + n;
    return seen;
}

int splitc_main(void)
{
    int A[PROCS]::[4];
    place far = toglobal(0, &counter);
    int *spread s = A + 1;
    struct pair p = {1, 0};
    int got = 0;
    part[MYPROC] = 1.5;
    on_one
        got = add(far, 5);
    got := *far;
    sync();
    return s == 0 || got != 5;
}
)";

bool has_gdb()
{
    static const bool found = run({{"sh", "-c", "command -v gdb"}}).code == 0;
    if (!found)
        WARN("not run: there is no gdb");
    return found;
}

// What gdb says when it does this with the program, a rank by itself.
std::string session(const std::vector<std::string> &options, const std::string &todo)
{
    TemporaryFolder folder;
    write_file(folder / "prog.sc", kProgram);
    write_file(folder / "todo", "set confirm off\nset debuginfod enabled off\n"
                                "set style enabled off\nset width 0\n" +
                                    todo);
    Command compile{{compiler(), "-g", "-w", "prog.sc", "-o", "prog"}};
    compile.arguments.insert(compile.arguments.end(), options.begin(), options.end());
    compile.folder = folder.path;
    const Outcome compiled = run(compile);
    INFO(compiled.err);
    REQUIRE(compiled.code == 0);
    Command gdb{{"gdb", "-nx", "-batch", "-iex", "source " BUILD_FOLDER "/share/split-c/gdb.py",
                 "-x", "todo", "prog"}};
    gdb.folder = folder.path;
    const Outcome outcome = run(gdb);
    return outcome.out + outcome.err;
}

// Each of the texts, in this order, and nothing is missing.
void check_in_order(const std::string &said, const std::vector<std::string> &texts)
{
    INFO(said);
    size_t at = 0;
    for (const std::string &text : texts) {
        INFO("expected next: " << text);
        at = said.find(text, at);
        REQUIRE(at != std::string::npos);
        at += text.size();
    }
}

} // namespace

TEST_CASE("gdb goes through a program line by line")
{
    if (!has_gdb())
        return;
    std::string todo = "break splitc_main\nbreak add\nrun\n";
    for (int i = 0; i < 14; i++)
        todo += "next\n";
    const std::string said = session({}, todo);
    check_in_order(said, {"\n19\t", "\n20\t", "\n21\t", "\n22\t", "\n23\t", "\n24\t", "\n25\t",
                          "\n26\t", "add (where=rank 0: 0x", ", n=5) at prog.sc:11", "\n12\t",
                          "\n13\t", "\n14\t", "splitc_main () at prog.sc:26", "\n27\t"});
}

TEST_CASE("gdb breaks at lines and steps over the runtime")
{
    if (!has_gdb())
        return;
    const std::string said =
        session({}, "break prog.sc:11\nbreak prog.sc:24\nbreak prog.sc:27\nrun\nstep\nstep\n"
                    "continue\nstep\nstep\nstep\nbacktrace 2\ncontinue\nprint got\nnext\n"
                    "next\n");
    check_in_order(said, {"splitc_main () at prog.sc:24", "\n25\t", "\n26\t",
                          "add (where=rank 0: 0x", "at prog.sc:11", "\n12\t", "\n13\t", "\n14\t",
                          "#0  add (where=rank 0: 0x", "in splitc_main () at prog.sc:26",
                          "splitc_main () at prog.sc:27", "$1 = 0", "\n28\t", "\n29\t"});
}

TEST_CASE("gdb shows global and spread pointers")
{
    if (!has_gdb())
        return;
    for (const std::vector<std::string> &options :
         {std::vector<std::string>{}, {"-O1"}, {"-fcheck"}}) {
        const std::string said =
            session(options, "break prog.sc:28\nrun\nprint part\nset var p.g = 3ul << 48 | 0x40\n"
                             "print p\nprint far\nprint A\nprint s\nprint got\nprint &counter\n");
        INFO((options.empty() ? "" : options[0]) << '\n' << said);
        CHECK_THAT(said, Catch::Contains("$1 = rank 0: 0x"));
        if (!options.empty() && options[0] == "-O1")
            continue; // where the rest may be optimised out
        CHECK_THAT(said, Catch::Contains("$2 = {a = 1, g = rank 3: 0x40}\n") &&
                             Catch::Contains("$3 = rank 0: 0x") &&
                             Catch::Contains("$4 = rank 0: 0x") &&
                             Catch::Contains("$5 = rank 0: 0x"));
    }
    const std::string said = session({}, "break prog.sc:22\nrun\nnext\nprint p.g\n");
    INFO(said);
    CHECK_THAT(said, Catch::Contains("$1 = NULL\n"));
}

TEST_CASE("The script for gdb is where splitcc says")
{
    const Outcome outcome = run({{compiler(), "-print-gdb"}});
    CHECK(outcome.out == BUILD_FOLDER "/share/split-c/gdb.py\n");
    CHECK(std::filesystem::exists(BUILD_FOLDER "/share/split-c/gdb.py"));
}
