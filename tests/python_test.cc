// SPDX-License-Identifier: BSD-3-Clause
//
// Python in a Split-C program (docs/mixing.md): examples/python.
#include "splitc_run.h"

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;

namespace {

// "libpython3.11.so.1.0"; empty if there is none.
std::string python_library()
{
    std::string name =
        run({{"sh", "-c",
              "PATH=$PATH:/sbin ldconfig -p | grep -o 'libpython3\\.[0-9]*\\.so\\.1\\.0' | "
              "sort -u | tail -1"}})
            .out;
    if (!name.empty())
        name.pop_back();
    return name;
}

class Interpreter {
public:
    explicit Interpreter(const std::string &library)
    {
        Command compile{{compiler(), "-O2", "-rdynamic",
                         PROJECT_SOURCE "/examples/python/interpreter.sc", "-l:" + library, "-o",
                         folder_ / "splitpython"}};
        const Outcome compiled = run(compile);
        INFO(compiled.err);
        REQUIRE(compiled.code == 0);
    }

    Outcome runs(int processors, const std::vector<std::string> &arguments,
                 const std::vector<std::string> &options = {}) const
    {
        Command command = ranks(processors, folder_ / "splitpython", arguments);
        command.arguments.insert(command.arguments.begin() + 1, options.begin(), options.end());
        return run(command);
    }

private:
    TemporaryFolder folder_;
};

} // namespace

TEST_CASE("Python on every processor calls functions in Split-C")
{
    const std::string library = python_library();
    if (library.empty()) {
        std::puts("\nnot run: libpython3 is missing (Debian: libpython3.11)");
        return;
    }
    const Interpreter python(library);
    const std::string script = PROJECT_SOURCE "/examples/python/mean.py";

    for (int processors : {1, 2, 4})
        for (const std::vector<std::string> &options :
             {std::vector<std::string>{}, {"--backend", "udp"}}) {
            const Outcome outcome = python.runs(processors, {script}, options);
            INFO(processors << ' ' << options.size() << '\n' << outcome.err);
            CHECK(outcome.code == 0);
            CHECK(outcome.out == "the mean is " + std::to_string(500 * processors - 1) + ".5\n");
        }

    // What a script says at its end is the processor's, and other programs may be started.
    CHECK(python.runs(2, {"-c", "raise SystemExit(3)"}).code == 3);
    const Outcome child = python.runs(
        2, {"-c", "import subprocess; print(subprocess.check_output(['echo', 'a child']))"});
    INFO(child.err);
    CHECK(child.code == 0);
    CHECK(child.out == "b'a child\\n'\nb'a child\\n'\n");
}
