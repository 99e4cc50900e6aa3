// SPDX-License-Identifier: BSD-3-Clause
//
// Sidecar tests of the compiler: one file, one thing, named after it.
//
//   run/NAME.sc     is compiled, run on several ranks, and checks itself: it has to
//                   end with 0 and print nothing but what run/NAME.out has, if
//                   that is there (lines sorted).  `// ranks: 1 3` on the first
//                   line says on how many; `// flags: -std=gnu89` what to compile with;
//                   `// with: parts/more.sc` what other files belong to it.
//                   Each is run once more with -fcheck, unless it says `// unchecked`.
//   checks/NAME.sc  is compiled with -fcheck; on each of its numbers of ranks it has to end
//                   with 1 and print a line that matches checks/NAME.err (* is anything).
//   error/NAME.sc   has to fail with exactly the diagnostics of error/NAME.err.
//   warning/NAME.sc has to translate with exactly those of warning/NAME.err.
//   cc/NAME.sc      is right for splitcc but not for the C compiler, whose messages have to
//                   be about this file, and not about what became of it.  So have those
//                   that it has about run/ when it warns of all it can.  On a line with
//                   `// in MACRO` there has to be one at that macro.
//   plain/NAME.c    is plain C: translated and compiled it prints what it prints
//                   when cc compiles it directly.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fnmatch.h>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct Outcome {
    int code = -1;
    std::string output; // of both streams
};

Outcome shell(const std::string &command)
{
    Outcome outcome;
    FILE *pipe = popen((command + " 2>&1").c_str(), "r");
    REQUIRE(pipe);
    std::array<char, 4096> buffer;
    while (size_t n = fread(buffer.data(), 1, buffer.size(), pipe))
        outcome.output.append(buffer.data(), n);
    int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
}

std::string read(const fs::path &path)
{
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// Returns the words after `key` in the comments of the first lines.
std::string setting(const std::string &source, const std::string &key, const std::string &otherwise)
{
    size_t at = source.find("// " + key + ":");
    if (at == std::string::npos || at > 400)
        return otherwise;
    at += key.size() + 4;
    return source.substr(at, source.find('\n', at) - at);
}

bool not_with_clang(const std::string &source)
{
    return source.find("// not with clang") < 400;
}

std::string sorted_lines(const std::string &text)
{
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    std::string joined;
    for (const std::string &line : lines)
        joined += line + "\n";
    return joined;
}

fs::path scratch(const std::string &name)
{
    fs::path folder = fs::temp_directory_path() / ("splitcc-test-" + std::to_string(getpid()));
    fs::create_directories(folder);
    return folder / name;
}

struct Scratch {
    ~Scratch()
    {
        std::error_code error;
        fs::remove_all(fs::temp_directory_path() / ("splitcc-test-" + std::to_string(getpid())),
                       error);
    }
};

const std::string kTests = SIDECAR_FOLDER;
const std::string kBin = SPLITCC_BIN_FOLDER;

} // namespace

// Compiles a program, whose source is `text`, and returns the path of the result.
std::string built(const std::string &folder, const std::string &name, const std::string &text,
                  const std::string &flags)
{
    std::string program = scratch(name).string();
    Outcome compiled = shell("cd '" + kTests + "/" + folder + "' && timeout 60 '" + kBin +
                             "/splitcc' -O1 -w " + flags + setting(text, "flags", "") + " '" +
                             name + ".sc' " + setting(text, "with", "") + " -o '" + program + "'");
    INFO("splitcc printed:\n" << compiled.output);
    REQUIRE(compiled.code == 0);
    return program;
}

Outcome run_on(const std::string &ranks, const std::string &program)
{
    return shell("timeout 60 '" + kBin + "/unetrun' -n " + ranks + " '" + program + "'");
}

void run_sidecar(const std::string &name)
{
    Scratch cleanup;
    std::string text = read(fs::path(kTests) / "run" / (name + ".sc"));
    std::string program = built("run", name, text, "");
    fs::path expected = fs::path(kTests) / "run" / (name + ".out");
    std::istringstream ranks(setting(text, "ranks", "1 2 3"));
    for (std::string n; ranks >> n;) {
        Outcome ran = run_on(n, program);
        INFO("on " << n << " ranks it printed:\n" << ran.output);
        CHECK(ran.code == 0);
        CHECK(sorted_lines(ran.output) ==
              (fs::exists(expected) ? sorted_lines(read(expected)) : ""));
    }
    if (text.find("// unchecked") < 400)
        return;
    std::istringstream fewest(setting(text, "ranks", "4"));
    std::string n;
    fewest >> n;
    Outcome checked = run_on(n, built("run", name, text, "-fcheck "));
    INFO("with -fcheck, on " << n << " ranks it printed:\n" << checked.output);
    CHECK(checked.code == 0);
}

// A program behaves alike if clang compiles its translation.
void clang_run(const std::string &name)
{
    Scratch cleanup;
    std::string text = read(fs::path(kTests) / "run" / (name + ".sc"));
    fs::path expected = fs::path(kTests) / "run" / (name + ".out");
    if (not_with_clang(text))
        return;
    std::istringstream ranks(setting(text, "ranks", "3"));
    std::string n;
    ranks >> n;
    Outcome ran = run_on(n, built("run", name, text, "-cc clang "));
    INFO("on " << n << " ranks it printed:\n" << ran.output);
    CHECK(ran.code == 0);
    CHECK(sorted_lines(ran.output) == (fs::exists(expected) ? sorted_lines(read(expected)) : ""));
}

bool has_line_like(const std::string &text, const std::string &pattern)
{
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (fnmatch(pattern.c_str(), line.c_str(), 0) == 0)
            return true;
    return false;
}

void checks_sidecar(const std::string &name)
{
    Scratch cleanup;
    std::string text = read(fs::path(kTests) / "checks" / (name + ".sc"));
    std::string program = built("checks", name, text, "-fcheck ");
    std::string expected = read(fs::path(kTests) / "checks" / (name + ".err"));
    expected.erase(expected.find_last_not_of('\n') + 1);
    std::istringstream ranks(setting(text, "ranks", "1 3"));
    for (std::string n; ranks >> n;) {
        Outcome ran = run_on(n, program);
        INFO("on " << n << " ranks it printed:\n" << ran.output << "but not:\n" << expected);
        CHECK(ran.code == 1);
        CHECK(has_line_like(ran.output, expected));
    }
}

// Messages name the file as it was given, so the test gives its bare name.
void diagnostic_sidecar(const std::string &folder, const std::string &name)
{
    Scratch cleanup;
    std::string text = read(fs::path(kTests) / folder / (name + ".sc"));
    Outcome outcome = shell("cd '" + kTests + "/" + folder + "' && timeout 60 '" + kBin +
                            "/splitcc' -trans " + setting(text, "flags", "") + " -o '" +
                            scratch("out.c").string() + "' " + name + ".sc");
    CHECK(outcome.output == read(fs::path(kTests) / folder / (name + ".err")));
    CHECK(outcome.code == (folder == "error" ? 1 : 0));
}

// Returns whether a message has a name of the translation, such as splitc_v1 and splitc_read, but
// not splitc_lock.
bool names_the_translation(const std::string &message)
{
    static const std::regex made("splitc_[a-z]+_?[a-zA-Z_]*[0-9]|splitc_(ptr|read|write|get|put|"
                                 "store|address|from_local|spread_|register_)|abi\\.h|\\.i:");
    return std::regex_search(message, made);
}

// Checks that every place is within a line of the user's file, and that nothing else is printed.
// There is no column where a macro of a system header leaves it open.
void check_places(const std::string &said, const fs::path &folder)
{
    static const std::regex place("(.*):([0-9]+):([0-9]+): (error|warning|note): .*");
    static const std::regex shown(" +[0-9]* \\| .*|In file included from .*|    *from .*|"
                                  "[^:]*:[0-9]+: (error|warning|note): .*");
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        std::smatch match;
        if (!std::regex_match(line, match, place)) {
            CHECK(std::regex_match(line, shown));
            continue;
        }
        CHECK_FALSE(names_the_translation(line));
        std::istringstream file(read(folder / match[1].str()));
        std::string at;
        for (int i = 0; i < std::stoi(match[2]); i++)
            std::getline(file, at);
        CHECK(std::stoul(match[3]) <= at.size());
    }
}

// Checks that each line with `// in MACRO` has a message that stands at that macro and names it.
void check_expansions(const std::string &said, const std::string &text)
{
    static const std::regex wanted(".* // in ([A-Za-z_]+)");
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        number++;
        if (!std::regex_match(line, match, wanted))
            continue;
        const std::string macro = match[1];
        const std::string at =
            ":" + std::to_string(number) + ":" + std::to_string(line.find(macro) + 1) + ": ";
        INFO("expected a message at " << at << "in the expansion of " << macro);
        CHECK(has_line_like(said, "*" + at + "*(in the expansion of '" + macro + "')*"));
    }
}

void cc_about(const std::string &folder, const std::string &name, const std::string &cc)
{
    if (shell("command -v " + cc).code != 0)
        return;
    Scratch cleanup;
    fs::path tests = fs::path(kTests) / folder;
    const std::string text = read(tests / (name + ".sc"));
    const std::string flags = setting(text, "flags", "");
    if (cc == "clang" && not_with_clang(text))
        return;
    Outcome outcome =
        shell("cd '" + tests.string() + "' && SPLITCC_CC=" + cc + " timeout 60 '" + kBin +
              "/splitcc' -O1 -Wall -Wextra -Wshadow -Wconversion -Wno-error -c -o '" +
              scratch("out.o").string() + "' " + flags +
              (cc == "clang" ? " -fno-caret-diagnostics " : " ") + name + ".sc");
    INFO(cc << " says:\n" << outcome.output);
    CHECK((folder == "cc" ? !outcome.output.empty() : outcome.code == 0));
    check_places(outcome.output, tests);
    if (folder == "cc" && cc == "gcc")
        check_expansions(outcome.output, text);
}

void cc_sidecar(const std::string &name)
{
    cc_about("cc", name, "gcc");
    cc_about("cc", name, "clang");
}

void compare_plain(const std::string &name, const std::string &cc)
{
    Scratch cleanup;
    fs::path source = fs::path(kTests) / "plain" / (name + ".c");
    std::string flags = setting(read(source), "flags", "");
    std::string direct = scratch("direct").string(), translated = scratch("translated.c").string(),
                through = scratch("through").string();
    Outcome plain =
        shell(cc + " -w -O1 " + flags + " '" + source.string() + "' -o '" + direct + "' -lm");
    INFO(plain.output);
    if (cc != "cc" && plain.code != 0)
        return; // C that only gcc compiles
    REQUIRE(plain.code == 0);
    Outcome built =
        shell("timeout 60 '" + kBin + "/splitcc' -cc " + cc + " -w -x splitc -trans " + flags +
              " '" + source.string() + "' -o '" + translated + "' && " + cc + " -w -O1 " + flags +
              " -x cpp-output '" + translated + "' -o '" + through + "' -lm");
    INFO(built.output);
    REQUIRE(built.code == 0);
    Outcome a = shell("timeout 20 '" + direct + "'"), b = shell("timeout 20 '" + through + "'");
    CHECK(a.output == b.output);
    CHECK(a.code == b.code);
}

void plain_sidecar(const std::string &name)
{
    compare_plain(name, "cc");
}

void clang_plain(const std::string &name)
{
    compare_plain(name, "clang");
}

#include "sidecars.inc"
