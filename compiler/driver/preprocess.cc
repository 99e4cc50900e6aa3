// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the preprocessor: -E, what splitcc translates, and the dependencies that it writes.
#include "driver/compile.h"

#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include "driver/broken_strings.h"
#include "source/spelling.h"

namespace splitcc {

// Returns the target of the dependencies: the object, or the program if it is linked at once.
static std::string dependency_target(const Options &options, const Input &input,
                                     const std::string &result)
{
    bool linked = options.stage == Stage::Link, made = options.stage >= Stage::Assembly;
    if (options.only_dependencies || !made || (linked && options.output.empty()))
        return input.stem() + ".o";
    return linked ? options.output : result;
}

// Returns the options for -MD and the like, with the names that cc would use.  The file is made in
// a temporary place, so that a failed compilation leaves none.
Compiler::Dependencies Compiler::dependencies(const Input &input, const std::string &result)
{
    if (!options_.dependencies && !options_.only_dependencies)
        return {};
    Dependencies made{options_.dependency, options_.dependency_file, ""};
    std::string target = dependency_target(options_, input, result);
    if (!options_.dependency_target)
        append(made.options, {"-MQ", target});
    if (options_.dependencies && made.file.empty())
        made.file = std::filesystem::path(target).replace_extension(".d").string();
    if (!made.file.empty()) {
        made.temporary = options_.show ? made.file : tools_.temporary().file("depend", ".d");
        append(made.options, {"-MF", made.temporary});
    }
    return made;
}

void Compiler::write_dependencies(const Dependencies &dependencies)
{
    if (options_.show || dependencies.file.empty())
        return;
    std::string text = read_file(dependencies.temporary).value_or("");
    if (dependencies.file == "-") {
        std::fputs(text.c_str(), stdout);
        flush_standard_output();
    } else if (!write_file(dependencies.file, text))
        fatal(cannot("write", dependencies.file));
}

Command Compiler::preprocess_command(const Input &input, const Dependencies &dependencies) const
{
    Command command = tools_.cc({"-E", "-D__SPLITC__=1"});
    append(command, options_.both);
    append(command, options_.preprocess);
    for (const std::string &word : options_.compile)
        if (word.starts_with("-W") || word == "-w")
            command.push_back(word);
    append(command, tools_.include_options());
    if (!options_.only_dependencies && !translated_)
        for (const char *header :
             {options_.checks ? "check.h" : "abi.h", options_.profile ? "profile.h" : nullptr,
              implied_messages_ ? "am.h" : nullptr})
            if (header)
                append(command, {"-include", tools_.prefix() + "/include/split-c/" + header});
    if (implied_messages_) // the warnings are told already
        command.push_back("-w");
    append(command, dependencies.options);
    append(command, {"-x", "c", input.path});
    return command;
}

namespace {

// Whether the text may include a header other than those of the system.
bool includes_more(std::string_view text)
{
    constexpr std::string_view kInclude = "include";
    bool more = text.find("<split-c") != text.npos;
    for (size_t at = text.find(kInclude); at != text.npos && !more;
         at = text.find(kInclude, at + kInclude.size())) {
        const size_t name = text.find_first_not_of(" \t", at + kInclude.size());
        more = name != text.npos && text[name] != '<';
    }
    return more;
}

// Returns whether splitcc -E has made the file of a Split-C source: only for those the command line
// includes the ABI, which stands behind a line about it then.
bool is_preprocessed_split_c(const std::string &path)
{
    const std::string text = read_file(path).value_or("");
    for (const std::string header : {"/split-c/abi.h\" 1\n", "/split-c/check.h\" 1\n"}) {
        const size_t found = text.find(header);
        const size_t line = found == text.npos ? found : text.rfind('\n', found);
        if (line == text.npos || line == 0)
            continue;
        const size_t before = text.rfind('\n', line - 1) + 1;
        const std::string marker = text.substr(before, line - before);
        if (marker.starts_with("# ") && marker.find(" \"<") != marker.npos)
            return true;
    }
    return false;
}

} // namespace

bool Compiler::is_split_c(const std::string &path)
{
    const std::filesystem::path extension = std::filesystem::path(path).extension();
    if (extension == ".i")
        return is_preprocessed_split_c(path);
    if (extension != ".c")
        return false;
    if (options_.old_programs)
        return true;
    const std::optional<std::string> text = read_file(path);
    if (!text || !includes_more(*text))
        return false;
    // Where it is C, split-c.h is an error; what C leaves out by #ifdef __SPLITC__ is not looked
    // at.
    Command command = tools_.cc({"-E", "-w"});
    append(command, options_.both);
    append(command, options_.preprocess);
    append(command, tools_.include_options());
    command.push_back(path);
    const std::string errors = tools_.temporary().file("recognized", ".err");
    std::string unused;
    return !options_.show && tools_.run_captured(command, unused, errors) != 0 &&
           read_file(errors).value_or("").find("this is a Split-C program") != std::string::npos;
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
        append(command, options_.both);
        append(command, options_.preprocess);
        append(command, tools_.include_options());
        append(command, options_.preprocess_only);
        append(command, made.options);
        if (!input.x.empty())
            append(command, {"-x", input.x});
        command.push_back(input.path);
    }
    if (!options_.output.empty())
        append(command, {"-o", options_.output});
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
    if (!standard_input_.empty()) // it may have been read before
        lseek(STDIN_FILENO, 0, SEEK_SET);
    const bool keeps_errors = implied_messages_ || !suspects.empty();
    std::string errors = keeps_errors ? tools_.temporary().file("preprocess", ".err") : "";
    int code = tools_.run_captured(command, text, errors);
    std::string said = errors.empty() ? "" : read_file(errors).value_or("");
    // As a macro argument, a broken string is an error of the preprocessor, not a warning.
    std::string name = input.path == "-" ? "<stdin>" : input.path;
    std::set<uint32_t> broken = code == 0 ? broken_string_lines(text, name) : suspects;
    const bool in_argument = said.find("unterminated argument list") != said.npos || // gcc, clang
                             said.find("unterminated function-like macro") != said.npos;
    if (code == 1 && in_argument)
        code = 0;
    else if (!implied_messages_) // told already, or of functions of the program
        std::fputs(said.c_str(), stderr);
    if (code == 0 && !broken.empty()) {
        std::string as_written = std::move(text);
        code = preprocess_joined(input, broken, text);
        // If no end of a string is left over, the one that was forgotten may be before.
        if (const size_t quote = forgotten_quote(as_written);
            quote != as_written.npos && forgotten_quote(text) != text.npos)
            text = as_written.substr(0, as_written.find('\n', quote));
    }
    if (code == 0 && text.size() > UINT32_MAX / 2)
        fatal("'" + input.path + "' is too large: more than 2 GiB after the preprocessor");
    return code;
}

namespace {

// Puts the name of the source where the preprocessor has that of its copy: in __BASE_FILE__, and in
// what becomes the name of the unit in the object, which is the same each time then.
std::string rename_copy(std::string_view text, std::string_view copy, std::string_view source)
{
    std::string renamed;
    renamed.reserve(text.size());
    size_t begin = 0;
    for (size_t at; (at = text.find(copy, begin)) != text.npos; begin = at + copy.size())
        renamed.append(text, begin, at - begin).append(source);
    return renamed.append(text, begin);
}

} // namespace

// Preprocesses a copy of the source in which no string runs over a line end.
int Compiler::preprocess_joined(const Input &input, const std::set<uint32_t> &lines,
                                std::string &text)
{
    auto source = source_text(input);
    if (!source)
        fatal(cannot("read", input.path));
    std::string copy = tools_.temporary().file(input.stem(), ".sc");
    const std::string name = c_string(input.path == "-" ? "<stdin>" : input.path);
    std::string marker = "# 1 " + name + "\n";
    if (!write_file(copy, marker + join_broken_strings(*source, lines)))
        fatal(cannot("write", copy));
    // Headers in quotes are searched beside the source, not beside the copy.
    std::string folder = std::filesystem::path(input.path).parent_path().string();
    Command command = preprocess_command({copy, input.language, input.x}, {});
    command.insert(command.end() - 3, {"-iquote", folder.empty() ? "." : folder, "-w"});
    std::string of_copy, errors = implied_messages_ ? tools_.temporary().file("copy", ".err") : "";
    int code = tools_.run_captured(command, of_copy, errors);
    text = rename_copy(of_copy, c_string(copy), name);
    return code;
}

} // namespace splitcc
