// SPDX-License-Identifier: BSD-3-Clause
//
// The front door: what ./dev says without building anything.
#include "process.h"
#include "quoted.h"
#include "splitc_run.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <unistd.h>

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

namespace fs = std::filesystem;

// A copy of ./dev on a machine without packages, whose tools are ours.
struct BareMachine {
    TemporaryFolder folder;

    BareMachine()
    {
        fs::permissions(folder.path, fs::perms(0755));
        fs::create_directory(folder / "bin");
        fs::create_directory(folder / "build");
        fs::permissions(folder / "build", fs::perms(0777));
        fs::copy(dev, folder / "dev");
        fs::copy(PROJECT_SOURCE "/CMakePresets.json", folder.path);
        tool("dpkg-query", "exit 1");
        tool("cmake", "echo no compiler here; exit 1");
        tool("apt-get", "echo \"$*\" >>" + quoted(folder / "calls") +
                            "\n[ $1 = update ] || grep -q update " + quoted(folder / "calls"));
    }

    void tool(const std::string &name, const std::string &script) const
    {
        write_file(folder / ("bin/" + name), "#!/bin/sh\n" + script + "\n");
        fs::permissions(folder / ("bin/" + name), fs::perms(0755));
    }

    Command command(std::vector<std::string> arguments) const
    {
        return {std::move(arguments), {"PATH=" + folder / "bin" + ":" + std::getenv("PATH")}, "/"};
    }
};

} // namespace

TEST_CASE("dev lists its verbs")
{
    for (const std::vector<std::string> &arguments :
         {std::vector<std::string>{dev}, {dev, "help"}, {dev, "--help"}}) {
        const Outcome outcome = run({arguments, {}, "/"});
        CHECK(outcome.code == 0);
        for (const char *verb :
             {"demo", "test", "build", "bench", "lint", "fuzz", "mutate", "clean", "help"})
            CHECK_THAT(outcome.out, Catch::Contains(std::string("\n  ") + verb + " "));
    }
}

TEST_CASE("dev refuses verbs and options it does not know")
{
    require_refuses({"frobnicate"}, "unknown verb 'frobnicate'");
    require_refuses({"build", "--frobnicate"}, "unknown option '--frobnicate'");
    require_refuses({"build", "--preset", "nosuch"}, "no preset 'nosuch'");
    require_refuses({"test", "--preset"}, "no preset ''");
    require_refuses({"test", "--bare", "me"}, "takes no arguments");
    require_refuses({"demo", "me"}, "takes no arguments");
    require_refuses({"lint", "me"}, "takes no arguments");
    require_refuses({"clean", "me"}, "takes no arguments");
    require_refuses({"bench", "--slow"}, "unknown option '--slow'");
    require_refuses({"fuzz", "--seconds", "0"}, "takes a positive number");
    require_refuses({"fuzz", "nosuch"},
                    "no target 'nosuch'; there are aal5_fuzz packet_fuzz translate_fuzz");
}

TEST_CASE("dev looks at options of what it starts before it installs or builds anything")
{
    const BareMachine machine;
    struct Case {
        std::vector<std::string> arguments;
        const char *says;
    };

    machine.tool("sudo", "shift; exec \"$@\"");
    machine.tool("cmake", "echo \"$*\" >>" + quoted(machine.folder / "calls"));
    fs::create_directory(machine.folder / "tests");
    fs::copy(PROJECT_SOURCE "/tests/kernel", machine.folder / "tests/kernel",
             fs::copy_options::recursive);
    fs::copy(PROJECT_SOURCE "/benchmarks", machine.folder / "benchmarks",
             fs::copy_options::recursive);
    for (const Case &wrong :
         {Case{{"test", "--kernel", "--suites", "gam,nosuch"},
               "kernel: no suite 'nosuch'; there are "},
          {{"test", "--kernel-debug", "--suites", "nosuch"},
           "kernel: no suite 'nosuch'; there are "},
          {{"test", "--kernel", "--bogus", "1"}, "kernel: unknown option '--bogus'"},
          {{"bench", "micro", "--peers", "foo"}, "no peer 'foo': there are mpich"},
          {{"bench", "--quick", "--programs", "foo"}, "no program 'foo': there are "},
          {{"bench", "net", "--json", "/nowhere/net.json"},
           "net: cannot write /nowhere/net.json: No such file or directory; name a file"}}) {
        std::vector<std::string> words{machine.folder / "dev"};

        words.insert(words.end(), wrong.arguments.begin(), wrong.arguments.end());
        const Outcome outcome = run(machine.command(words));
        INFO(outcome.out << outcome.err);
        CHECK(outcome.code == 2);
        CHECK_THAT(outcome.err, Catch::Contains(wrong.says));
        CHECK_FALSE(fs::exists(machine.folder / "calls"));
    }
    const Outcome help = run(machine.command({machine.folder / "dev", "bench", "micro", "--help"}));
    CHECK(help.code == 0);
    CHECK_THAT(help.out, Catch::StartsWith("usage: dev bench micro"));
    CHECK_FALSE(fs::exists(machine.folder / "calls"));
}

TEST_CASE("dev installs what is missing, with new package lists if need be")
{
    const BareMachine machine;

    machine.tool("sudo", "shift; exec \"$@\"");
    const Outcome outcome = run(machine.command({machine.folder / "dev", "build"}));
    const std::string calls = read_file(machine.folder / "calls");
    const size_t update = calls.find("\nupdate\n"), again = calls.rfind("install -y ");
    INFO(outcome.out << outcome.err << calls);
    CHECK_THAT(calls, Catch::StartsWith("install -y "));
    REQUIRE(update != std::string::npos);
    CHECK(again > update);
    for (const char *package : {" g++ ", " libpmix-dev ", " catch2 ", " ninja-build"})
        CHECK_THAT(calls.substr(again), Catch::Contains(package));
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, Catch::Contains("no compiler here\ndev: configuring failed") &&
                                Catch::Contains("/build/log/configure.log"));
}

TEST_CASE("dev installs programs without what only debuggers read")
{
    const BareMachine machine;

    machine.tool("dpkg-query", "for name; do echo $name installed; done");
    machine.tool("cmake", "echo \"$*\" >>" + quoted(machine.folder / "calls"));
    const Outcome outcome =
        run(machine.command({machine.folder / "dev", "install", "--prefix", "/nowhere"}));
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    CHECK_THAT(
        read_file(machine.folder / "calls"),
        Catch::Contains("--install " + machine.folder / "build" + " --strip --prefix /nowhere\n"));
}

TEST_CASE("dev configures anew when packages have come")
{
    const BareMachine machine;

    machine.tool("sudo", "shift; exec \"$@\"");
    machine.tool("apt-get", "exit 0");
    machine.tool("cmake", "echo \"$*\" >>" + quoted(machine.folder / "calls"));
    write_file(machine.folder / "build/build.ninja", "");
    run(machine.command({machine.folder / "dev", "build"}));
    const std::string calls = read_file(machine.folder / "calls");
    INFO(calls);
    CHECK_THAT(calls, Catch::StartsWith(machine.folder / "build" + "\n--build "));
}

TEST_CASE("dev tells what to install where it may not do so itself")
{
    const BareMachine machine;
    std::vector<std::string> arguments = {machine.folder / "dev", "test"};

    machine.tool("sudo", "exit 1");
    if (geteuid() == 0)
        arguments.insert(arguments.begin(),
                         {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
    const Outcome outcome = run(machine.command(arguments));
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, Catch::StartsWith("dev: packages are missing; run: "
                                              "sudo apt-get install -y g++ make cmake"));
    CHECK_FALSE(fs::exists(machine.folder / "calls"));
}

TEST_CASE("dev demo builds what it runs and no tests")
{
    const BareMachine machine;

    machine.tool("dpkg-query", "for name; do echo $name installed; done");
    machine.tool("cmake", "echo \"$*\" >>" + quoted(machine.folder / "calls"));
    run(machine.command(
        {machine.folder / "dev", "demo"})); // fails, as there are no programs to run
    const std::string calls = read_file(machine.folder / "calls");
    INFO(calls);
    CHECK_THAT(calls, Catch::Contains(" --target splitcc unetrun "));
    CHECK_THAT(calls, !Catch::Contains("_test"));
}

TEST_CASE("dev test installs the sanitizers of clang, and tells what could not run and why")
{
    const BareMachine machine;

    machine.tool("cmake", "exit 0");
    machine.tool("sudo", "shift; exec \"$@\"");
    machine.tool("ctest", "[ $3 != -N ] || exit 0; mkdir -p $2/Testing/Temporary\n"
                          "cat >$2/Testing/Temporary/LastTest.log <<'END'\n"
                          "1/4 Testing: a_test: one\n\nnot run: takes root\n"
                          "Skip regular expression found in output. Regex=[not run: ]\n"
                          "2/4 Testing: a_test: two\nall is well\n"
                          "3/4 Testing: b_test\ntest_x ... skipped 'left out: no UCX'\n"
                          "4/4 Testing: c_test: four\nwarning:\n  not run: takes root\nEND");
    const Outcome outcome = run(machine.command({machine.folder / "dev", "test"}));
    INFO(outcome.out << outcome.err);
    CHECK_THAT(read_file(machine.folder / "calls"), Catch::Contains(" libclang-rt-14-dev "));
    CHECK_THAT(outcome.out, Catch::Contains("dev: 3 cannot run here, at least not all of it:\n"
                                            "  takes root:\n"
                                            "    a_test: one\n"
                                            "    c_test: four\n"
                                            "  no UCX:\n"
                                            "    b_test\n"));
}

TEST_CASE("dev test leaves jobs of many ranks out under the address sanitizer alone")
{
    const BareMachine machine;
    const auto left_out = [&](std::vector<std::string> options) {
        options.insert(options.begin(), {machine.folder / "dev", "test"});
        const Outcome outcome = run(machine.command(std::move(options)));
        INFO(outcome.out << outcome.err);
        return read_file(machine.folder / "tests");
    };

    machine.tool("cmake", "exit 0");
    machine.tool("sudo", "shift; exec \"$@\"");
    machine.tool("ctest",
                 "echo \"$*\" >" + quoted(machine.folder / "tests") +
                     "; mkdir -p $2/Testing/Temporary; : >$2/Testing/Temporary/LastTest.log");
    CHECK_THAT(left_out({"--sanitize"}), Catch::Contains("-LE ^(long|job)$"));
    CHECK_THAT(left_out({"--preset", "thread-sanitize", "-R", "progress:"}),
               Catch::Contains("-LE ^long$ -R progress:"));
}

TEST_CASE("dev test tells what runs, and what is left, while no test ends")
{
    const BareMachine machine;
    const std::string said = machine.folder / "said";

    machine.tool("cmake", "exit 0");
    machine.tool("sudo", "shift; exec \"$@\"");
    write_file(said, "");
    fs::permissions(said, fs::perms(0666));
    machine.tool("ctest", "[ $3 != -N ] || exit 0\n"
                          "mkdir -p $2/Testing/Temporary; : >$2/Testing/Temporary/LastTest.log\n"
                          "echo '    Start 7: a_test: one'; echo '    Start 8: b_test: two'\n"
                          "printf '1/3 Test #7: a_test: one ..   Passed\\n2/3 Test'; tries=0\n"
                          "until grep -q running " +
                              quoted(said) +
                              " || [ $tries = 1000 ]; do tries=$((tries+1)); sleep 0.01; done\n"
                              "echo ' #8: b_test: two ..***Failed'; exit 8");
    Command command = machine.command(
        {"bash", "-c", quoted(machine.folder / "dev") + " test >" + quoted(said) + " 2>&1"});
    command.environment.push_back("DEV_QUIET_SECONDS=0.1");
    const Outcome outcome = run(command);
    const std::string out = read_file(said);
    INFO(out);
    CHECK(outcome.code == 8);
    CHECK_THAT(out, Catch::Contains("dev: 2 of 3 tests are left\n"));
    CHECK_THAT(out, Catch::Matches("[^]*dev: running for [0-9]+ s: b_test: two\n[^]*"));
    CHECK_THAT(out, !Catch::Matches("[^]*running for [0-9]+ s: a_test[^]*"));
    CHECK_THAT(out, Catch::Contains("\n2/3 Test #8: b_test: two ..***Failed\n"));
}

TEST_CASE("the tests of the kernel module say of which folders Linux's make takes none")
{
    for (const char *name : {"a b", "a:b"}) {
        const TemporaryFolder folder;

        fs::create_directories(folder.path / name / "test");
        const Outcome outcome = run({{PROJECT_SOURCE "/tests/kernel/run.sh", folder / name}});
        INFO(outcome.out << outcome.err);
        CHECK(outcome.code == 1);
        CHECK_THAT(outcome.err, Catch::StartsWith("kernel: ") &&
                                    Catch::EndsWith(std::string(name) + "/kernel\n"));
        CHECK(fs::is_empty(folder.path / name / "test"));
    }
}
