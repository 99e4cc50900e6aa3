// SPDX-License-Identifier: BSD-3-Clause
//
// What goes wrong in a program of splitcc -g is told with the line of its source.
#include "quoted.h"
#include "splitc_run.h"

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;
using Catch::Matchers::Matches;

namespace {

const char *const kProgram = R"(#include <split-c/collective.h>
#include <split-c/am.h>
#include <string.h>
void *malloc(unsigned long);
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
    if (strcmp(argv[1], "differ") == 0 && MYPROC == 0)
        team_allgather(TEAM_ALL, malloc(8 * PROCS), &argc, 1);
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
                                     Contains(std::string("/prog.sc:") + line + ";"));
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

namespace {

// A program with a part in C that is a shared library, and is stripped if so told.
class Dying {
public:
    explicit Dying(const std::string &strip = "")
    {
        write_file(folder_ / "prog.sc", R"(#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>
extern void call_back(void (*f)(const char *), const char *how), end_elsewhere(void);
static int *global nowhere;
static void die(const char *how)
{
    volatile int zero = 0, ten = 10;

    if (strcmp(how, "segv") == 0)
        memset((char *)16 + zero, 0, (size_t)ten);
    if (strcmp(how, "fpe") == 0)
        ten /= zero;
    if (strcmp(how, "ill") == 0)
        __builtin_trap();
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "null") == 0)
        *nowhere = 1;
    if (strcmp(how, "elsewhere") == 0)
        end_elsewhere();
    while (strcmp(how, "spin") == 0)
        zero++;
}
int splitc_main(int argc, char *argv[])
{
    barrier();
    if (MYPROC == PROCS - 1)
        call_back(die, argv[1]);
    barrier();
    return 0;
}
)");
        write_file(folder_ / "part.c", R"(int before;
void call_back(void (*f)(const char *), const char *how)
{
    f(how);
    before++;
}
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static void *wait_for_signals(void *ready)
{
    pthread_barrier_wait(ready);
    for (;;)
        pause();
}
/* As if the kernel gave another thread the signal that ends the rank. */
void end_elsewhere(void)
{
    static pthread_barrier_t ready;
    pthread_t thread;
    sigset_t term, pending;

    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_barrier_init(&ready, NULL, 2);
    pthread_create(&thread, NULL, wait_for_signals, &ready);
    pthread_barrier_wait(&ready);
    pthread_sigmask(SIG_BLOCK, &term, NULL);
    kill(getpid(), SIGTERM);
    do
        sigpending(&pending);
    while (!sigismember(&pending, SIGTERM));
    pthread_sigmask(SIG_UNBLOCK, &term, NULL);
}
)");
        Command compile{{"sh", "-c",
                         "cc -g -pthread -shared -fPIC part.c -o libpart.so && " +
                             quoted(compiler()) +
                             " -w -g prog.sc -L. -lpart -Wl,-rpath,\"$PWD\" -o prog" + strip}};
        compile.folder = folder_.path;
        const Outcome compiled = run(compile);
        INFO(compiled.err);
        REQUIRE(compiled.code == 0);
    }

    std::string dies(const std::string &how, int code,
                     const std::vector<std::string> &options = {}) const
    {
        Command command = ranks(2, folder_ / "prog", {how});
        command.arguments.insert(command.arguments.begin() + 1, options.begin(), options.end());
        command.arguments.insert(command.arguments.begin() + 1, "--backtrace");
        if (how == "spin")
            command.arguments.insert(command.arguments.begin() + 1, {"--timeout", "1"});
        const Outcome outcome = run(command);
        INFO(outcome.err);
        CHECK(outcome.code == code);
        return outcome.err;
    }

    // Without unetrun.
    std::string dies_alone(const std::string &how) const
    {
        const Outcome outcome = run(Command{{folder_ / "prog", how}});
        CHECK(outcome.code != 0);
        return outcome.err;
    }

private:
    TemporaryFolder folder_;
};

} // namespace

TEST_CASE("A rank that dies without unetrun tells the line by itself")
{
    const Dying program;

    for (const auto &[how, line] :
         {std::pair{"segv", "11"}, {"fpe", "13"}, {"abort", "17"}, {"null", "19"}}) {
        const std::string said = program.dies_alone(how);
        INFO(said);
        CHECK_THAT(said, Matches("([^\n]*\n)?splitc: rank 0: in die at [^\n]*/prog\\.sc:" +
                                 std::string(line) + "[^\n]*\n"));
    }
    const std::string stripped = Dying(" && strip prog libpart.so").dies_alone("segv");
    INFO(stripped);
    CHECK_THAT(stripped, Matches("splitc: rank 0: segmentation fault: [^\n]*\n"));
}

TEST_CASE("A rank that a signal kills, or that is ended, leaves its stack")
{
    const Dying program;
    const struct {
        const char *how;
        int code;
        const char *line;
        bool ends; // unetrun's last line has the place, too
    } deaths[] = {{"segv", 139, "11", true}, {"fpe", 136, "13", true},
                  {"ill", 132, "15", true},  {"abort", 134, "17", true},
                  {"null", 1, "19", true},   {"elsewhere", 143, "21", true},
                  {"spin", 124, "2", false}};

    for (const auto &[how, code, line, ends] : deaths) {
        const std::string said = program.dies(how, code);
        INFO(said);
        CHECK_THAT(said, Matches("[^]*rank 1 \\(pid [0-9]+\\) #[0-9]+ die at [^\n]*/prog\\.sc:" +
                                 std::string(line) + "[0-9]*\n[^]*"));
        CHECK_THAT(said, Contains(" call_back at ") && Contains("/part.c:4\n"));
        CHECK_THAT(said, Contains(" splitc_main at ") && Contains("/prog.sc:29\n"));
        if (ends)
            CHECK_THAT(said, Contains("/prog.sc:" + std::string(line) + ";"));
        if (!ends)
            CHECK_THAT(said, Matches("[^]*rank 0 \\(pid [0-9]+\\) #[0-9]+ splitc_main at "
                                     "[^\n]*/prog\\.sc:30\n[^]*"));
    }
}

TEST_CASE("A stack on the system's own ends where the program begins")
{
    const std::string said = Dying().dies("segv", 139, {"-x", "SPLITC_WINDOWS=0"});

    INFO(said);
    CHECK_THAT(said, Contains(" _start ") && !Contains("unknown code"));
}

TEST_CASE("A stripped program leaves addresses, and is told what is missing")
{
    const std::string said = Dying(" && strip prog libpart.so").dies("segv", 139);
    INFO(said);
    CHECK_THAT(said, Contains("/prog)\n") && Contains("/libpart.so)\n") &&
                         Contains("compile with -g, and do not strip"));
}

TEST_CASE("With -fcheck a barrier and an operation on arrays are told with a place")
{
    const std::string said = Program({"-fcheck"}).fails("differ", "SPLITC_WINDOWS=1");
    INFO(said);
    CHECK_THAT(said, Matches("[^]*prog\\.sc:3[89]: rank [01]: collective calls differ: [^]*"));
    CHECK_THAT(said, Contains("barrier on rank 1") && Contains("team_allgather on rank 0"));
    CHECK_THAT(said, !Contains("deadlock"));
}

TEST_CASE("Without -g no line is told")
{
    const Program program({"-O2"});
    CHECK_THAT(program.fails("null", "SPLITC_WINDOWS=1"),
               Contains("exited with code 1") && !Contains("PMIx"));
    CHECK_THAT(program.fails("deadlock", "SPLITC_WINDOWS=1"),
               Contains(" waits in store_sync, since "));
}
