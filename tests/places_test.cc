// SPDX-License-Identifier: BSD-3-Clause
//
// What goes wrong in a program of splitcc -g is told with the line of its source.
#include "splitc_run.h"

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;

namespace {

const char *const kProgram = R"(#include <split-c/split-c.h>
#include <split-c/am.h>
#include <string.h>

static int *global nowhere;
static int look(int *global p)
{
    return *p + 1;
}
static void wait_for_a_store(void)
{
    on_one
        store_sync(8);
    barrier();
}
static int heard;
static void hear(int source)
{
    heard += nowhere[source];
}
int splitc_main(int argc, char *argv[])
{
    int zero = 0;

    barrier();
    if (strcmp(argv[1], "null") == 0 && MYPROC == 1)
        return look(nowhere);
    if (strcmp(argv[1], "put") == 0 && MYPROC == 1)
        *nowhere := 1;
    if (strcmp(argv[1], "negative") == 0 && MYPROC == 1)
        bulk_get(&zero,
                 toglobal(0, &zero), -4);
    if (strcmp(argv[1], "handler") == 0)
        am_request_0(PROCS - 1 - MYPROC, hear);
    if (strcmp(argv[1], "deadlock") == 0)
        wait_for_a_store();
    barrier();
    return 0;
}
)";

class Program {
public:
    explicit Program(const std::vector<std::string> &options)
    {
        write_file(folder_ / "prog.sc", kProgram);
        Command compile{{compiler(), "-w", "prog.sc", "-o", "prog"}};
        compile.arguments.insert(compile.arguments.end(), options.begin(), options.end());
        compile.folder = folder_.path;
        const Outcome compiled = run(compile);
        INFO(compiled.err);
        REQUIRE(compiled.code == 0);
    }

    std::string fails(const std::string &how, const std::string &environment) const
    {
        Command command = ranks(2, folder_ / "prog", {how});
        command.environment = {environment};
        const Outcome outcome = run(command);
        CHECK(outcome.code == 1);
        return outcome.err;
    }

private:
    TemporaryFolder folder_;
};

} // namespace

TEST_CASE("The line that an error of the library is about is told")
{
    const std::pair<const char *, const char *> lines[] = {
        {"null", "8"}, {"put", "29"}, {"negative", "31"}, {"handler", "19"}};

    for (const char *optimise : {"-O0", "-O2"}) {
        const Program program({"-g", optimise});
        for (const auto &[how, line] : lines)
            for (const char *windows : {"SPLITC_WINDOWS=0", "SPLITC_WINDOWS=1"}) {
                const std::string said = program.fails(how, windows);
                INFO(optimise << ' ' << windows << ' ' << how << '\n' << said);
                CHECK_THAT(said, Contains(std::string("exited with code 1 at ")) &&
                                     Contains(std::string("/prog.sc:") + line + " without"));
            }
    }
}

TEST_CASE("A deadlock is told with the lines that wait")
{
    const std::string said = Program({"-g", "-O2"}).fails("deadlock", "SPLITC_WINDOWS=1");
    INFO(said);
    CHECK_THAT(said, Contains(" waits in store_sync at ") && Contains("/prog.sc:13, since "));
    CHECK_THAT(said, Contains(" waits in barrier") && Contains("/prog.sc:14, since "));
}

TEST_CASE("Without -g no line is told")
{
    const Program program({"-O2"});
    CHECK_THAT(program.fails("null", "SPLITC_WINDOWS=1"),
               Contains("exited with code 1 without calling PMIx_Finalize"));
    CHECK_THAT(program.fails("deadlock", "SPLITC_WINDOWS=1"),
               Contains(" waits in store_sync, since "));
}
