// SPDX-License-Identifier: BSD-3-Clause
#include "driver.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <pthread.h>
#include <set>
#include <sstream>
#include <unistd.h>

#include "broken_strings.h"
#include "config.h"
#include "options.h"
#include "process.h"
#include "translate.h"

namespace splitcc {
namespace {

namespace fs = std::filesystem;

constexpr const char *kHelp =
    R"(Usage: splitcc [options] file...
Compiles Split-C programs (.sc) together with C, objects and archives.

  -o FILE            put the result there
  -c                 compile to objects, do not link
  -S                 compile to assembly
  -E                 preprocess only
  -trans             translate to C only (FILE.trans.c)
  -x splitc|c|none   the language of the files that follow
  -std=STD           gnu17 (default), gnu11, gnu99, gnu89, ...
  -I -D -U -L -l -include -isystem -O -g -f... -m... -W... -M...
                     as for the C compiler
  -Wno-local-escape -Wno-split-phase ...
                     splitcc's own warnings: see docs/diagnostics.md
  -fdiagnostics-color=auto|always|never
  -fdiagnostics-format=text|json
  -ferror-limit=N    stop after N errors (20; 0: never)
  -show, -###        print the commands, run none
  -v                 print the commands and run them
  --save-temps       keep the translated C beside the result
  -print-prefix -print-cflags -print-libs
                     where splitcc is installed; what C code and links need
  --version --help

Environment: SPLITCC_CC names the C compiler (default: cc).
)";

[[noreturn]] void fatal(const std::string &message)
{
    throw UsageError(message);
}

// The whole translation, on a thread whose stack bears deep nesting.
struct DeepCall {
    std::string text;
    TranslateOptions options;
    Translation result;
};

Translation translate_deep(std::string text, const TranslateOptions &options)
{
    DeepCall call{std::move(text), options, {}};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t{512} << 20);
    auto body = [](void *argument) -> void * {
        auto *c = static_cast<DeepCall *>(argument);
        c->result = translate(std::move(c->text), c->options);
        return nullptr;
    };
    pthread_t thread;
    if (pthread_create(&thread, &attributes, body, &call) == 0)
        pthread_join(thread, nullptr);
    else
        body(&call);
    pthread_attr_destroy(&attributes);
    return std::move(call.result);
}

bool is_c89(const std::string &standard)
{
    return standard == "gnu89" || standard == "gnu90" || standard == "c89" || standard == "c90" ||
           standard == "iso9899:1990" || standard == "iso9899:199409";
}

class Driver {
public:
    explicit Driver(Options options);
    int run();

private:
    int print() const;
    Command runtime_link_options() const;
    int each_input();
    int link(const std::vector<std::string> &objects);
    void print_link_errors(const std::string &said) const;
    int compile(const Input &input, const std::string &object);
    int compile_split_c(const Input &input, const std::string &object);
    int preprocess(const Input &input, std::string &text);
    int preprocess_joined(const Input &input, const std::set<uint32_t> &lines, std::string &text);
    int pass_to_cc(const Input &input);
    Command preprocess_command(const Input &input, bool dependencies) const;
    void add_dependency_options(const Input &input, Command &command) const;
    std::string result_name(const Input &input, const char *suffix) const;
    void print_messages(const std::vector<Message> &messages, bool too_many) const;
    int execute(const Command &command) const;
    bool announce(const Command &command) const;
    TemporaryDirectory &temporary();

    Options options_;
    std::string cc_;
    std::string prefix_;
    std::optional<TemporaryDirectory> temporary_;
};

void add(Command &command, const std::vector<std::string> &words)
{
    command.insert(command.end(), words.begin(), words.end());
}

Driver::Driver(Options options) : options_(std::move(options))
{
    const char *cc = std::getenv("SPLITCC_CC");
    cc_ = cc && *cc ? cc : "cc";
    std::error_code error;
    fs::path self = fs::read_symlink("/proc/self/exe", error);
    prefix_ = self.parent_path().parent_path().string();
}

TemporaryDirectory &Driver::temporary()
{
    if (!temporary_)
        temporary_.emplace();
    return *temporary_;
}

// Prints what is to be run if that is wanted; true if it is to be run.
bool Driver::announce(const Command &command) const
{
    if (options_.show)
        std::printf("%s\n", shell_quoted(command).c_str());
    else if (options_.verbose)
        std::fprintf(stderr, "%s\n", shell_quoted(command).c_str());
    return !options_.show;
}

int Driver::execute(const Command &command) const
{
    return announce(command) ? splitcc::run(command) : 0;
}

// The name gcc would choose: the source's, here, with another ending.
std::string Driver::result_name(const Input &input, const char *suffix) const
{
    if (!options_.output.empty() && options_.stage != Stage::Link)
        return options_.output;
    return fs::path(input.path).stem().string() + suffix;
}

Command Driver::preprocess_command(const Input &input, bool dependencies) const
{
    Command command = {cc_, "-E", "-D__SPLITC__=1"};
    add(command, options_.both);
    add(command, options_.preprocess);
    for (const std::string &word : options_.compile)
        if (word.starts_with("-W") || word == "-w")
            command.push_back(word);
    command.push_back("-I" + prefix_ + "/include");
    if (!options_.only_dependencies) {
        command.push_back("-include");
        command.push_back(prefix_ + "/include/split-c/abi.h");
    }
    if (dependencies)
        add_dependency_options(input, command);
    add(command, {"-x", "c", input.path});
    return command;
}

// -MD and its kin, with the names they would have if we were cc -c.
void Driver::add_dependency_options(const Input &input, Command &command) const
{
    add(command, options_.dependency);
    std::string object = result_name(input, ".o");
    if (options_.dependencies && !options_.dependency_file) {
        command.push_back("-MF");
        command.push_back(fs::path(object).replace_extension(".d").string());
    }
    if ((options_.dependencies || options_.only_dependencies) && !options_.dependency_target) {
        command.push_back("-MT");
        command.push_back(options_.only_dependencies ? fs::path(input.path).stem().string() + ".o"
                                                     : object);
    }
}

int Driver::preprocess(const Input &input, std::string &text)
{
    Command command = preprocess_command(input, true);
    if (!announce(command))
        return 0;
    std::set<uint32_t> suspects = suspect_string_lines(read_file(input.path).value_or(""));
    std::string errors = suspects.empty() ? "" : temporary().file("preprocess", ".err");
    int code = run_captured(command, text, errors);
    std::string said = errors.empty() ? "" : read_file(errors).value_or("");
    // As the argument of a macro such a string is an error, not a warning.
    std::set<uint32_t> broken = code == 0 ? broken_string_lines(text, input.path) : suspects;
    if (code == 0 || said.find("unterminated argument list") == std::string::npos)
        std::fputs(said.c_str(), stderr);
    else if (code == 1)
        code = 0;
    if (code == 0 && !broken.empty())
        code = preprocess_joined(input, broken, text);
    if (code == 0 && text.size() > UINT32_MAX / 2)
        fatal("'" + input.path + "' is too large: more than 2 GiB after the preprocessor");
    return code;
}

// Once more, from a copy of the source in which no string runs over a line end.
int Driver::preprocess_joined(const Input &input, const std::set<uint32_t> &lines,
                              std::string &text)
{
    auto source = read_file(input.path);
    if (!source)
        fatal("cannot read '" + input.path + "': " + std::strerror(errno));
    std::string copy = temporary().file(fs::path(input.path).stem().string(), ".sc");
    std::string quoted;
    for (char c : input.path)
        quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    if (!write_file(copy, "# 1 \"" + quoted + "\"\n" + join_broken_strings(*source, lines)))
        fatal("cannot write '" + copy + "': " + std::strerror(errno));
    // Headers in quotes are looked for beside the source, not beside the copy.
    std::string folder = fs::path(input.path).parent_path().string();
    Command command = preprocess_command({copy, input.language, input.x}, false);
    command.insert(command.begin() + 1, {"-iquote", folder.empty() ? "." : folder, "-w"});
    text.clear();
    return announce(command) ? run_captured(command, text) : 0;
}

void Driver::print_messages(const std::vector<Message> &messages, bool too_many) const
{
    std::fputs(
        (options_.json ? render_json(messages) : render_text(messages, options_.color)).c_str(),
        stderr);
    if (too_many && !options_.json)
        std::fputs("splitcc: too many errors; the rest is not shown\n", stderr);
}

int Driver::compile_split_c(const Input &input, const std::string &object)
{
    if (access(input.path.c_str(), R_OK) != 0)
        fatal("cannot read '" + input.path + "': " + std::strerror(errno));
    std::string text;
    if (int code = preprocess(input, text))
        return code;
    std::string stem = fs::path(input.path).stem().string();
    std::string c_file = options_.stage == Stage::Translate ? result_name(input, ".trans.c")
                         : options_.save_temps              ? stem + ".trans.c"
                         : options_.show                    ? stem + ".i"
                                                            : temporary().file(stem, ".i");
    if (!options_.show) {
        Translation t =
            translate_deep(std::move(text), {.warnings = options_.warnings,
                                             .error_limit = options_.error_limit,
                                             .c89_keywords = is_c89(options_.standard) &&
                                                             options_.standard != "gnu89" &&
                                                             options_.standard != "gnu90",
                                             .gnu89_inline = is_c89(options_.standard)});
        print_messages(t.messages, t.too_many);
        if (!t.ok)
            return 1;
        bool to_stdout = options_.stage == Stage::Translate && options_.output == "-";
        if (to_stdout)
            std::fwrite(t.c.data(), 1, t.c.size(), stdout);
        else if (!write_file(c_file, t.c))
            fatal("cannot write '" + c_file + "': " + std::strerror(errno));
    }
    if (options_.stage == Stage::Translate)
        return 0;
    Command command = {cc_, options_.stage == Stage::Assembly ? "-S" : "-c", "-fno-pie"};
    // The C of that time has tentative definitions in headers.
    if (is_c89(options_.standard))
        command.push_back("-fcommon");
    add(command, options_.both);
    add(command, options_.compile);
    add(command, {"-x", "cpp-output", c_file, "-o", object});
    return execute(command);
}

int Driver::compile(const Input &input, const std::string &object)
{
    if (input.language == Language::SplitC)
        return compile_split_c(input, object);
    Command command = {cc_, options_.stage == Stage::Assembly ? "-S" : "-c"};
    add(command, options_.both);
    add(command, options_.preprocess);
    add(command, options_.dependency);
    add(command, options_.compile);
    if (!input.x.empty())
        add(command, {"-x", input.x});
    add(command, {input.path, "-o", object});
    return execute(command);
}

// -E and -M, for both languages.
int Driver::pass_to_cc(const Input &input)
{
    Command command = preprocess_command(input, true);
    if (input.language == Language::Other) {
        command = {cc_, "-E"};
        add(command, options_.both);
        add(command, options_.preprocess);
        add(command, options_.dependency);
        command.push_back(input.path);
    }
    if (!options_.output.empty())
        add(command, {"-o", options_.output});
    return execute(command);
}

bool is_source(const Input &input)
{
    if (input.language == Language::SplitC || !input.x.empty())
        return true;
    std::string end = fs::path(input.path).extension().string();
    return input.path[0] != '-' && (end == ".c" || end == ".i" || end == ".s" || end == ".S");
}

int Driver::each_input()
{
    bool object = options_.stage == Stage::Object || options_.stage == Stage::Assembly;
    size_t sources = 0;
    for (const Input &input : options_.inputs)
        sources += is_source(input);
    if (!options_.output.empty() && options_.stage != Stage::Link && sources > 1)
        fatal("-o names one file, but there are " + std::to_string(sources) +
              " sources; leave it out, or compile them one by one");
    std::vector<std::string> objects;
    int worst = 0;
    for (const Input &input : options_.inputs) {
        if (!is_source(input)) {
            objects.push_back(input.path);
            continue;
        }
        int code;
        if (options_.stage == Stage::Preprocess || options_.only_dependencies) {
            code = pass_to_cc(input);
        } else if (options_.stage == Stage::Translate) {
            if (input.language != Language::SplitC)
                fatal("-trans translates Split-C, and '" + input.path +
                      "' is none; rename it to .sc or put '-x splitc' before it");
            code = compile_split_c(input, "");
        } else if (object) {
            code =
                compile(input, result_name(input, options_.stage == Stage::Object ? ".o" : ".s"));
        } else {
            std::string stem = fs::path(input.path).stem().string();
            objects.push_back(options_.show ? stem + ".o" : temporary().file(stem, ".o"));
            code = compile(input, objects.back());
        }
        worst = std::max(worst, code);
    }
    if (worst || options_.stage != Stage::Link || options_.only_dependencies)
        return worst;
    return link(objects);
}

int Driver::link(const std::vector<std::string> &objects)
{
    Command command = {cc_, "-no-pie"};
    add(command, options_.both);
    for (const std::string &word : options_.compile)
        if (word.starts_with("-g"))
            command.push_back(word);
    add(command, options_.link);
    add(command, objects);
    add(command, {"-o", options_.output.empty() ? "a.out" : options_.output});
    add(command, runtime_link_options());
    if (!announce(command))
        return 0;
    std::string errors = temporary().file("link", ".err");
    int code = splitcc::run(command, errors);
    print_link_errors(read_file(errors).value_or(""));
    return code;
}

// What the linker said; a missing splitc_main in the user's terms, not in the runtime's.
void Driver::print_link_errors(const std::string &said) const
{
    bool no_main = said.find("undefined reference to `splitc_entry'") != std::string::npos;
    if (no_main)
        std::fputs("splitcc: error: the program has no splitc_main; define 'int splitc_main(int "
                   "argc, char **argv)'\n",
                   stderr);
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
        bool about_entry = line.find("splitc_entry") != std::string::npos ||
                           line.find("in function `main'") != std::string::npos;
        if (!no_main || !about_entry)
            std::fprintf(stderr, "%s\n", line.c_str());
    }
}

Command Driver::runtime_link_options() const
{
    Command words = {"-L" + prefix_ + "/lib",
                     "-Wl,--as-needed",
                     "-lsplitc",
                     "-lgam",
                     "-lunet",
                     "-Wl,--version-script=" + prefix_ + "/lib/splitc-program.ver"};
    add(words, kRuntimeLinkOptions);
    return words;
}

int Driver::print() const
{
    if (options_.print == "prefix") {
        std::printf("%s\n", prefix_.c_str());
    } else if (options_.print == "cflags") {
        std::printf("%s\n", shell_quoted({"-I" + prefix_ + "/include", "-fno-pie"}).c_str());
    } else if (options_.print == "libs") {
        Command words = runtime_link_options();
        words.insert(words.begin(), "-no-pie");
        std::printf("%s\n", shell_quoted(words).c_str());
    } else {
        return splitcc::run({cc_, "-print-" + options_.print});
    }
    return 0;
}

int Driver::run()
{
    if (options_.help) {
        std::fputs(kHelp, stdout);
        return 0;
    }
    if (options_.version) {
        std::printf("splitcc (Split-C) %s\n", kVersion);
        return 0;
    }
    if (!options_.print.empty())
        return print();
    if (options_.inputs.empty())
        fatal("no input files; 'splitcc --help' shows how it is used");
    if (access((prefix_ + "/include/split-c/abi.h").c_str(), R_OK) != 0)
        fatal("cannot find " + prefix_ +
              "/include/split-c/abi.h; splitcc needs the include and lib "
              "folders it was installed with");
    return each_input();
}

} // namespace

int drive(std::vector<std::string> arguments)
{
    try {
        return Driver(parse_options(std::move(arguments))).run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "splitcc: %s\n", error.what());
        return 1;
    }
}

} // namespace splitcc
