// SPDX-License-Identifier: BSD-3-Clause
#include "driver/driver.h"

#include <cstdio>
#include <filesystem>
#include <unistd.h>

#include "driver/command_line.h"
#include "driver/compile.h"
#include "driver/config.h"
#include "driver/link.h"
#include "driver/own_options.h"
#include "driver/toolchain.h"

namespace splitcc {
namespace {

constexpr const char *kUsage = R"(Usage: splitcc [options] file...
Compiles Split-C programs (.sc) together with C, objects and archives.

)";

constexpr const char *kOtherOptions = R"(
  -I -D -U -L -l -include -isystem -O -g -f... -m... -W... -M... @FILE
                     as for the C compiler
  -Wno-local-escape -Wno-split-phase ...
                     splitcc's own warnings: see docs/diagnostics.md

Environment: SPLITCC_CC is the C compiler (default: cc), for example clang or 'ccache gcc'.
)";

class Driver {
public:
    explicit Driver(Options options)
        : options_(std::move(options)), tools_(options_), compiler_(options_, tools_)
    {
    }
    int run();

private:
    void recognize_inputs();
    void check_options();
    void check_inputs() const;
    int print() const;
    int ask_cc();
    int all_inputs();
    int one_input(const Input &input, const std::string &result);
    std::string result_name(const Input &input);

    Options options_;
    Toolchain tools_;
    Compiler compiler_;
};

bool is_source(const Input &input)
{
    return input.language != Language::Linker;
}

// Whether the result would take the place of a file that it is made from.
bool is_overwritten(const std::string &path, const std::string &output)
{
    std::error_code missing;
    return std::filesystem::is_regular_file(output, missing) &&
           std::filesystem::equivalent(path, output, missing);
}

// The C compiler would suggest options of its own.
void Driver::check_options()
{
    for (const std::string &word : options_.doubtful)
        if (!tools_.knows(word))
            fatal("unknown option '" + word + "'; did you mean '" + similar_own_option(word) +
                  "'? 'splitcc --help' lists the options");
}

void Driver::recognize_inputs()
{
    for (Input &input : options_.inputs)
        if (input.language == Language::Other && input.x.empty() &&
            compiler_.is_split_c(input.path))
            input.language = Language::SplitC;
}

void Driver::check_inputs() const
{
    size_t sources = 0, files = 0;
    for (const Input &input : options_.inputs) {
        if (is_overwritten(input.path, options_.output))
            fatal("'" + input.path +
                  "' would be overwritten by the result; name another file behind -o");
        if (is_overwritten(input.path, options_.dependency_file))
            fatal("'" + input.path +
                  "' would be overwritten by the dependencies; name another file behind -MF");
        sources += is_source(input);
        files += is_source(input) || input.path[0] != '-';
        if (options_.stage == Stage::Translate && input.language == Language::Other)
            fatal("-trans translates Split-C, and '" + input.path +
                  "' is none; rename it to .sc or put '-x splitc' before it");
        if (options_.stage != Stage::Link && !is_source(input) && input.path[0] != '-')
            std::fprintf(stderr, "splitcc: warning: '%s' is for the linker, which is not run\n",
                         input.path.c_str());
    }
    if (files == 0)
        fatal("no input files; 'splitcc --help' shows how it is used");
    if (!options_.output.empty() && options_.stage != Stage::Link && sources > 1)
        fatal("-o names one file, but there are " + std::to_string(sources) +
              " sources; leave it out, or compile them one by one");
    if (options_.pie && !options_.shared)
        std::fputs("splitcc: warning: '-pie' is ignored: objects need one address on all ranks\n",
                   stderr);
}

// Returns the name that gcc would choose: that of the source, in this directory, with another
// ending.
std::string Driver::result_name(const Input &input)
{
    std::string stem = input.stem();
    bool temporary =
        options_.stage == Stage::Link && !options_.show && !options_.files_beside_object;
    if (temporary)
        return tools_.temporary().file(stem, ".o");
    if (!options_.output.empty() && options_.stage != Stage::Link)
        return options_.output;
    return stem + (options_.stage == Stage::Translate  ? ".trans.c"
                   : options_.stage == Stage::Assembly ? ".s"
                                                       : ".o");
}

int Driver::one_input(const Input &input, const std::string &result)
{
    if (options_.stage == Stage::Preprocess || options_.only_dependencies)
        return compiler_.preprocess_only(input);
    return compiler_.compile(input, result);
}

int Driver::all_inputs()
{
    std::vector<std::string> objects;
    bool cxx = false;
    int worst = 0;
    for (const Input &input : options_.inputs) {
        objects.push_back(is_source(input) ? result_name(input) : input.path);
        if (is_source(input))
            worst = std::max(worst, one_input(input, objects.back()));
        cxx |= is_source(input) && input.is_cxx();
    }
    if (cxx)
        objects.push_back("-lstdc++");
    if (worst || options_.stage != Stage::Link || options_.only_dependencies)
        return worst;
    return link(options_, tools_, objects);
}

int Driver::print() const
{
    if (options_.print == "options") {
        std::fputs(own_options_list().c_str(), stdout);
    } else if (options_.print == "prefix") {
        std::printf("%s\n", tools_.prefix().c_str());
    } else if (options_.print == "gdb") {
        std::printf("%s/share/split-c/gdb.py\n", tools_.prefix().c_str());
    } else if (options_.print == "cflags") {
        std::printf("%s\n",
                    shell_quoted({"-I" + tools_.prefix() + "/include", "-fno-pie"}).c_str());
    } else {
        Command words = runtime_link_options(options_, tools_, program_version_script(tools_));
        words.insert(words.begin(), "-no-pie");
        std::printf("%s\n", shell_quoted(words).c_str());
    }
    return 0;
}

// Passes a question such as -dumpmachine to the C compiler.
int Driver::ask_cc()
{
    Command command = tools_.cc(options_.both);
    append(command, options_.ask_cc);
    std::string answer; // gcc does not notice if nobody takes it
    const int code = tools_.run_captured(command, answer, "");
    std::fputs(answer.c_str(), stdout);
    return code;
}

int Driver::run()
{
    if (options_.help) {
        std::fputs((kUsage + own_options_help() + kOtherOptions).c_str(), stdout);
        return 0;
    }
    if (options_.version || (options_.verbose && options_.inputs.empty()))
        std::fprintf(options_.version ? stdout : stderr, "splitcc (Split-C) %s\n", kVersion);
    if (options_.version)
        return 0;
    if (!options_.print.empty())
        return print();
    if (!options_.ask_cc.empty() || (options_.verbose && options_.inputs.empty()))
        return ask_cc();
    recognize_inputs();
    check_options();
    check_inputs();
    if (access((tools_.prefix() + "/include/split-c/abi.h").c_str(), R_OK) != 0)
        fatal("cannot find " + tools_.prefix() +
              "/include/split-c/abi.h; splitcc needs the include and lib "
              "folders it was installed with");
    return all_inputs();
}

} // namespace

int drive(std::vector<std::string> arguments)
{
    Signals until_files_are_gone;
    try {
        const int code = Driver(parse_options(std::move(arguments))).run();
        flush_standard_output();
        return code;
    } catch (const Interrupted &) {
        return 1; // the signal ends the process anyway
    } catch (const std::exception &error) {
        std::fprintf(stderr, "splitcc: %s\n", error.what());
        return 1;
    }
}

} // namespace splitcc
