// SPDX-License-Identifier: BSD-3-Clause
#include "driver/compile.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <pthread.h>
#include <unistd.h>

#include "driver/broken_strings.h"
#include "driver/cc_messages.h"
#include "source/spelling.h"

namespace splitcc {
namespace {

namespace fs = std::filesystem;

// A call of translate() on a thread of its own, whose stack is large enough for deep nesting.
struct TranslateCall {
    std::string text;
    TranslateOptions options;
    Translation result;
    std::atomic<bool> done = false;
};

void *run_translate_call(void *argument)
{
    auto *call = static_cast<TranslateCall *>(argument);
    call->result = translate(std::move(call->text), call->options);
    call->done = true;
    wake_up();
    return nullptr;
}

// Starts the thread with all signals blocked, because the waiting thread handles them.
bool start_thread(TranslateCall *call)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t{512} << 20);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    bool started = pthread_create(&thread, &attributes, run_translate_call, call) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    return started;
}

// After a signal, splitcc ends at once.  The thread may still use the call, which is leaked then.
Translation translate_on_thread(std::string text, const TranslateOptions &options)
{
    auto call = std::make_unique<TranslateCall>();
    call->text = std::move(text);
    call->options = options;
    if (!start_thread(call.get()))
        run_translate_call(call.get());
    if (!wait_for_thread(call->done)) {
        call.release();
        throw Interrupted();
    }
    return std::move(call->result);
}

bool is_c89(const std::string &standard)
{
    return standard == "gnu89" || standard == "gnu90" || standard == "c89" || standard == "c90" ||
           standard == "iso9899:1990" || standard == "iso9899:199409";
}

// Returns the keywords that are ordinary names under a standard.
std::vector<std::string_view> names_of_standard(const std::string &standard)
{
    bool strict = !standard.empty() && !standard.starts_with("gnu");
    std::vector<std::string_view> words;
    if (strict)
        words = {"asm", "typeof"};
    if (is_c89(standard))
        words.push_back("restrict");
    if (strict && is_c89(standard))
        words.push_back("inline");
    return words;
}

// Returns whether the C compiler looks for comments like "fall through" at labels.
bool reads_comments(const Command &compile)
{
    return std::any_of(compile.begin(), compile.end(), [](const std::string &word) {
        return word == "-W" || word == "-Wextra" || word.starts_with("-Wimplicit-fallthrough");
    });
}

void add(Command &command, const Command &words)
{
    command.insert(command.end(), words.begin(), words.end());
}

std::string stem_of(const Input &input)
{
    return fs::path(input.path).stem().string();
}

// Prints all messages about one source.
void print_messages(const Options &options, const Translation &t)
{
    std::string text =
        options.json ? render_json(t.messages) : render_text(t.messages, options.color);
    std::fputs(text.c_str(), stderr);
    if (t.too_many && !options.json)
        std::fputs("splitcc: too many errors; the rest is not shown\n", stderr);
}

// Returns the target of the dependencies: the object, or the program if it is linked at once.
std::string dependency_target(const Options &options, const Input &input, const std::string &result)
{
    bool linked = options.stage == Stage::Link, made = options.stage >= Stage::Assembly;
    if (options.only_dependencies || !made || (linked && options.output.empty()))
        return stem_of(input) + ".o";
    return linked ? options.output : result;
}

} // namespace

// ---- dependencies

// Returns the options for -MD and the like, with the names that cc would use.  The file is made in
// a temporary place, so that a failed compilation leaves none.
Compiler::Dependencies Compiler::dependencies(const Input &input, const std::string &result)
{
    if (!options_.dependencies && !options_.only_dependencies)
        return {};
    Dependencies made{options_.dependency, options_.dependency_file, ""};
    std::string target = dependency_target(options_, input, result);
    if (!options_.dependency_target)
        add(made.options, {"-MQ", target});
    if (options_.dependencies && made.file.empty())
        made.file = fs::path(target).replace_extension(".d").string();
    if (!made.file.empty()) {
        made.temporary = options_.show ? made.file : tools_.temporary().file("depend", ".d");
        add(made.options, {"-MF", made.temporary});
    }
    return made;
}

void Compiler::write_dependencies(const Dependencies &dependencies)
{
    if (options_.show || dependencies.file.empty())
        return;
    std::string text = read_file(dependencies.temporary).value_or("");
    if (dependencies.file == "-")
        std::fputs(text.c_str(), stdout);
    else if (!write_file(dependencies.file, text))
        fatal(cannot("write", dependencies.file));
}

// ---- the preprocessor

Command Compiler::preprocess_command(const Input &input, const Dependencies &dependencies) const
{
    Command command = tools_.cc({"-E", "-D__SPLITC__=1"});
    add(command, options_.both);
    add(command, options_.preprocess);
    for (const std::string &word : options_.compile)
        if (word.starts_with("-W") || word == "-w")
            command.push_back(word);
    command.push_back("-I" + tools_.prefix() + "/include");
    if (!options_.only_dependencies && !translated_)
        for (const char *header :
             {options_.checks ? "check.h" : "abi.h", options_.profile ? "profile.h" : nullptr})
            if (header)
                add(command, {"-include", tools_.prefix() + "/include/split-c/" + header});
    add(command, dependencies.options);
    add(command, {"-x", "c", input.path});
    return command;
}

int Compiler::preprocess_only(const Input &input)
{
    Dependencies made = dependencies(input, "");
    Command command;
    if (input.language == Language::SplitC) {
        if (input.path != "-")
            read_source(input);
        command = preprocess_command(input, made);
        command.insert(command.end() - 3, options_.preprocess_only.begin(),
                       options_.preprocess_only.end());
    } else {
        command = tools_.cc({"-E"});
        add(command, options_.both);
        add(command, options_.preprocess);
        add(command, options_.preprocess_only);
        add(command, made.options);
        if (!input.x.empty())
            add(command, {"-x", input.x});
        command.push_back(input.path);
    }
    if (!options_.output.empty())
        add(command, {"-o", options_.output});
    int code = tools_.run(command, options_.output);
    if (code == 0)
        write_dependencies(made);
    return code;
}

// Standard input may have to be read twice, so it is copied to a file that takes its place.
void Compiler::keep_standard_input()
{
    if (options_.show || !standard_input_.empty())
        return;
    standard_input_ = tools_.temporary().file("stdin", ".sc");
    auto text = read_file("/dev/stdin");
    if (!text || !write_file(standard_input_, *text))
        fatal(cannot("read", "standard input"));
    int fd = open(standard_input_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
        fatal(cannot("read", "standard input"));
    close(fd);
}

std::optional<std::string> Compiler::source_text(const Input &input) const
{
    return read_file(input.path == "-" ? standard_input_ : input.path);
}

// Returns the text of the source, or nothing if it cannot be read.  If splitcc has preprocessed or
// translated it before, it contains the ABI already.
std::string Compiler::read_source(const Input &input)
{
    std::string source = source_text(input).value_or("");
    translated_ = source.find("\nstruct splitc_job {\n") != std::string::npos;
    for (const char *option :
         {options_.checks ? "-fcheck" : nullptr, options_.profile ? "-fprofile-lines" : nullptr})
        if (translated_ && option)
            std::fprintf(stderr,
                         "splitcc: warning: '%s' comes too late for '%s', which splitcc has "
                         "preprocessed or translated before; give it there\n",
                         option, input.path.c_str());
    return source;
}

int Compiler::preprocess(const Input &input, const Dependencies &dependencies, std::string &text)
{
    std::string source = read_source(input);
    Command command = preprocess_command(input, dependencies);
    if (!tools_.announce(command))
        return 0;
    std::set<uint32_t> suspects = suspect_string_lines(source);
    text.reserve(source.size() + (size_t{1} << 20)); // room for the headers
    source = {};
    std::string errors = suspects.empty() ? "" : tools_.temporary().file("preprocess", ".err");
    int code = tools_.run_captured(command, text, errors);
    std::string said = errors.empty() ? "" : read_file(errors).value_or("");
    // As a macro argument, a broken string is an error of the preprocessor, not a warning.
    std::string name = input.path == "-" ? "<stdin>" : input.path;
    std::set<uint32_t> broken = code == 0 ? broken_string_lines(text, name) : suspects;
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

// Preprocesses a copy of the source in which no string runs over a line end.
int Compiler::preprocess_joined(const Input &input, const std::set<uint32_t> &lines,
                                std::string &text)
{
    auto source = source_text(input);
    if (!source)
        fatal(cannot("read", input.path));
    std::string copy = tools_.temporary().file(stem_of(input), ".sc");
    std::string marker = "# 1 " + c_string(input.path == "-" ? "<stdin>" : input.path) + "\n";
    if (!write_file(copy, marker + join_broken_strings(*source, lines)))
        fatal(cannot("write", copy));
    // Headers in quotes are searched beside the source, not beside the copy.
    std::string folder = fs::path(input.path).parent_path().string();
    Command command = preprocess_command({copy, input.language, input.x}, {});
    command.insert(command.end() - 3, {"-iquote", folder.empty() ? "." : folder, "-w"});
    text.clear();
    return tools_.run_captured(command, text, "");
}

// ---- translation and the C compiler

// Returns the name of the translation: the result, a file to keep, or a temporary file.
std::string Compiler::translation_name(const Input &input, const std::string &result)
{
    std::string name = stem_of(input) + ".trans.c";
    if (options_.stage == Stage::Translate)
        return result;
    if (options_.save_temps == SaveTemps::WithResult)
        return (fs::path(options_.output).parent_path() / name).string();
    if (options_.save_temps == SaveTemps::Here)
        return name;
    return options_.show ? stem_of(input) + ".i" : tools_.temporary().file(stem_of(input), ".i");
}

int Compiler::translate_to(const std::string &c_file, std::string text)
{
    Translation &t = translation_;
    t = translate_on_thread(std::move(text),
                            {.warnings = options_.warnings,
                             .error_limit = options_.error_limit,
                             .names = names_of_standard(options_.standard),
                             .checks = options_.checks && !translated_,
                             .profile = options_.profile && !translated_,
                             .large_stack = options_.old_programs && !translated_,
                             .comments_at_labels = reads_comments(options_.compile),
                             .gnu89 = is_c89(options_.standard)});
    if (!t.ok || options_.stage == Stage::Translate)
        print_messages(options_, t);
    if (!t.ok)
        return 1;
    if (options_.stage == Stage::Translate && c_file == "-")
        std::fwrite(t.c.data(), 1, t.c.size(), stdout);
    else if (!write_file(c_file, t.c))
        fatal(cannot("write", c_file));
    return 0;
}

// Runs the C compiler, and prints its messages together with those of the translation.
int Compiler::compile_c(const Command &command, const std::string &result)
{
    std::string errors = options_.show ? "" : tools_.temporary().file("cc", ".err");
    const int code = tools_.run(command, result, errors);
    if (options_.show)
        return code;
    CcMessages cc = read_cc_messages(read_file(errors).value_or(""), translation_);
    translation_.messages.insert(translation_.messages.end(), cc.messages.begin(),
                                 cc.messages.end());
    print_messages(options_, translation_);
    std::fputs(cc.other.c_str(), stderr);
    return code;
}

Command Compiler::stage_options(const std::string &result) const
{
    switch (options_.stage) {
    case Stage::Syntax:
        return {"-fsyntax-only"};
    case Stage::Assembly:
        return {"-S", "-o", result};
    default:
        return {"-c", "-o", result};
    }
}

// Adds the options of -fold-programs.  The user's options follow and can override them.
void Compiler::add_old_program_options(Command &command)
{
    if (!options_.old_programs)
        return;
    command.push_back("-fcommon");
    add(command, tools_.zeroing());
}

int Compiler::compile_split_c(const Input &input, const std::string &result)
{
    if (input.path == "-")
        keep_standard_input();
    else if (access(input.path.c_str(), R_OK) != 0)
        fatal(cannot("read", input.path));
    std::string text;
    Dependencies made = dependencies(input, result);
    if (int code = preprocess(input, made, text))
        return code;
    std::string c_file = translation_name(input, result);
    translation_ = {};
    if (!options_.show)
        if (int code = translate_to(c_file, std::move(text)))
            return code;
    if (options_.stage != Stage::Translate) {
        Command command = tools_.cc(stage_options(result));
        if (!translation_.plain || translated_) // static objects have one address on every rank
            command.push_back("-fno-pie");
        // Headers of that time contain tentative definitions.
        if (is_c89(options_.standard))
            command.push_back("-fcommon");
        add_old_program_options(command);
        add(command, options_.both);
        add(command, options_.compile);
        add(command, cc_message_options(translation_.display_columns));
        add(command, {"-x", "cpp-output", c_file});
        if (int code = compile_c(command, result))
            return code;
    }
    write_dependencies(made);
    return 0;
}

int Compiler::compile_other(const Input &input, const std::string &result)
{
    Dependencies made = dependencies(input, result);
    Command command = tools_.cc(stage_options(result));
    add_old_program_options(command);
    add(command, options_.both);
    add(command, options_.preprocess);
    add(command, made.options);
    add(command, options_.compile);
    if (options_.save_temps != SaveTemps::No)
        command.push_back(options_.save_temps == SaveTemps::Here ? "-save-temps=cwd"
                                                                 : "-save-temps=obj");
    if (!input.x.empty())
        add(command, {"-x", input.x});
    command.push_back(input.path);
    int code = tools_.run(command, result);
    if (code == 0)
        write_dependencies(made);
    return code;
}

int Compiler::compile(const Input &input, const std::string &result)
{
    return input.language == Language::SplitC ? compile_split_c(input, result)
                                              : compile_other(input, result);
}

} // namespace splitcc
