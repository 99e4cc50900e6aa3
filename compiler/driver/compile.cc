// SPDX-License-Identifier: BSD-3-Clause
//
// Translates a source, and runs the C compiler on the translation.
#include "driver/compile.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <pthread.h>
#include <unistd.h>

#include "driver/cc_messages.h"

namespace splitcc {
namespace {

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

// With -flto what stands in assembler is nothing to the linker's view of the code.
bool generates_at_link_time(const Command &options)
{
    bool found = false;
    for (const std::string &word : options)
        if (word.starts_with("-flto") || word == "-fno-lto")
            found = word != "-fno-lto";
    return found;
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

} // namespace

// Returns the name of the translation: the result, a file to keep, or a temporary file.
std::string Compiler::translation_name(const Input &input, const std::string &result)
{
    std::string name = input.stem() + ".trans.c";
    if (options_.stage == Stage::Translate)
        return result;
    if (options_.save_temps == SaveTemps::WithResult)
        return (std::filesystem::path(options_.output).parent_path() / name).string();
    if (options_.save_temps == SaveTemps::Here)
        return name;
    return options_.show ? input.stem() + ".i" : tools_.temporary().file(input.stem(), ".i");
}

Translation Compiler::translate_text(const std::string &source, std::string text)
{
    return translate_on_thread(std::move(text),
                               {.warnings = options_.warnings,
                                .error_limit = options_.error_limit,
                                .names = names_of_standard(options_.standard),
                                .checks = options_.checks && !translated_,
                                .profile = options_.profile && !translated_,
                                .large_stack = options_.old_programs && !translated_,
                                .comments_at_labels = reads_comments(options_.compile),
                                .gnu89 = is_c89(options_.standard),
                                .implied_messages = implied_messages_,
                                .link_time = generates_at_link_time(options_.both),
                                .index = options_.index.empty() ? "" : source});
}

// Translates the source again with <split-c/am.h>, which programs need not include.  Only now is it
// known that this one does not have functions of these names of its own.
void Compiler::translate_with_messages(const Input &input, const Dependencies &dependencies)
{
    std::string text;
    implied_messages_ = true;
    if (preprocess(input, dependencies, text) == 0) {
        Translation with = translate_text(input.path, std::move(text));
        if (with.ok || !translation_.ok)
            translation_ = std::move(with);
    }
    implied_messages_ = false;
}

// Writes the translation, and its index.
int Compiler::write_translation(const std::string &c_file)
{
    const Translation &t = translation_;
    if (!options_.index.empty() && !write_file(options_.index, render_index(t.index)))
        fatal(cannot("write", options_.index));
    if (!t.ok || options_.stage == Stage::Translate)
        print_messages(options_, t);
    if (!t.ok)
        return 1;
    if (options_.stage == Stage::Translate && c_file == "-") {
        std::fwrite(t.c.data(), 1, t.c.size(), stdout);
        flush_standard_output();
    } else if (!write_file(c_file, t.c))
        fatal(cannot("write", c_file));
    return 0;
}

static void check_writable(const std::string &file)
{
    const auto folder = std::filesystem::absolute(file).parent_path();
    const bool there = access(file.c_str(), F_OK) == 0;
    if (std::filesystem::is_directory(file))
        errno = EISDIR;
    else if (access(there ? file.c_str() : folder.c_str(), W_OK) == 0)
        return;
    fatal(cannot("write", file));
}

// Runs the C compiler, and prints its messages together with those of the translation.
int Compiler::compile_c(const Command &command, const std::string &result)
{
    std::string errors = options_.show ? "" : tools_.temporary().file("cc", ".err");
    const int code = tools_.run(command, result, errors);
    if (options_.show)
        return code;
    const std::string said = read_file(errors).value_or("");
    CcMessages cc = read_cc_messages(said, translation_);
    const bool explained = std::any_of(cc.messages.begin(), cc.messages.end(), [](auto &message) {
        return message.severity == Severity::Error || message.severity == Severity::Fatal;
    });
    if (code != 0 && !explained && cc.other.empty()) { // the assembler, for one, has other words
        check_writable(result);
        cc.other = said;
    }
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

// Adds the options of -fold-programs, and what gnu89 implies.  The user's options follow and can
// override them.
void Compiler::add_old_program_options(Command &command)
{
    if (options_.old_programs || is_c89(options_.standard))
        command.push_back("-fcommon"); // headers of that time contain tentative definitions
    if (options_.old_programs)
        append(command, tools_.zeroing());
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
    if (!options_.show) {
        translation_ = translate_text(input.path, std::move(text));
        if (translation_.wants_messages && !translated_)
            translate_with_messages(input, made);
        if (int code = write_translation(c_file))
            return code;
    }
    if (options_.stage != Stage::Translate) {
        Command command = tools_.cc(stage_options(result));
        if (!translation_.plain || translated_) // static objects have one address on every rank
            command.push_back("-fno-pie");
        if (is_c89(options_.standard) && tools_.is_clang())
            command.push_back("-Wno-error=return-type"); // as functions of that time do
        if (tools_.is_clang()) // to which `index` is the C library's, whatever a program declares
            for (const std::string &name : translation_.objects)
                command.push_back("-fno-builtin-" + name);
        add_old_program_options(command);
        append(command, options_.both);
        append(command, options_.compile);
        append(command, cc_message_options(translation_.display_columns));
        append(command, {"-x", "cpp-output", c_file});
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
    append(command, options_.both);
    append(command, options_.preprocess);
    append(command, tools_.include_options());
    append(command, made.options);
    append(command, options_.compile);
    if (options_.save_temps != SaveTemps::No)
        command.push_back(options_.save_temps == SaveTemps::Here ? "-save-temps=cwd"
                                                                 : "-save-temps=obj");
    if (!input.x.empty())
        append(command, {"-x", input.x});
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
