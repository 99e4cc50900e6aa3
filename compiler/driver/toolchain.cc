// SPDX-License-Identifier: BSD-3-Clause
#include "driver/toolchain.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <unistd.h>

namespace splitcc {
namespace {

namespace fs = std::filesystem;

// Commands longer than this go into a file.  The kernel's limit for arguments is far higher.
constexpr size_t kLongCommand = 128 << 10;

// Returns the C compiler: a path, or words separated by blanks as in `ccache gcc`.
Command chosen_cc(const Options &options)
{
    const char *variable = std::getenv("SPLITCC_CC");
    std::string text = !options.cc.empty() ? options.cc : variable ? variable : "";
    if (access(text.c_str(), X_OK) == 0)
        return {text};
    Command words;
    std::istringstream in(text);
    for (std::string word; in >> word;)
        words.push_back(word);
    return words.empty() ? Command{"cc"} : words;
}

// Returns the file that a command is, behind all links; "" if there is none.
fs::path file_of(const std::string &command)
{
    std::error_code error;
    if (command.find('/') != command.npos)
        return fs::canonical(command, error);
    const char *path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (const fs::path file = fs::path(folder) / command; access(file.c_str(), X_OK) == 0)
            return fs::canonical(file, error);
    return {};
}

// Returns "gcc" or "clang" if the compiler's file is named so, with a version behind it or a target
// before it, and "" for other names.
std::string named_family(const std::string &command)
{
    std::string name = file_of(command).filename();
    name.resize(name.find_last_not_of("-.0123456789") + 1);
    for (const std::string family : {"gcc", "clang"})
        if (name == family || name.ends_with("-" + family))
            return family;
    return "";
}

// Returns the word as compilers read it from a file of options.
std::string escaped(const std::string &word)
{
    std::string text;
    for (char c : word)
        text += std::string(" \t\n'\"\\").find(c) == std::string::npos ? std::string(1, c)
                                                                       : std::string{'\\', c};
    return text.empty() ? "\"\"" : text;
}

} // namespace

void fatal(const std::string &message)
{
    throw UsageError(message);
}

void flush_standard_output()
{
    if (std::fflush(stdout) == 0 && !std::ferror(stdout))
        return;
    if (ends_by_signal()) // a reader that goes away has its own reasons
        throw Interrupted();
    fatal("cannot write to standard output: " + std::string(std::strerror(errno)));
}

Toolchain::Toolchain(const Options &options)
    : cc_(chosen_cc(options)), show_(options.show), verbose_(options.verbose)
{
    std::error_code error;
    fs::path self = fs::read_symlink("/proc/self/exe", error);
    prefix_ = self.parent_path().parent_path().string();
}

Command Toolchain::cc(const Command &words) const
{
    Command command = cc_;
    append(command, words);
    return command;
}

// Returns the number that a predefined macro of the C compiler stands for; 0 if there is none.
unsigned Toolchain::macro(const std::string &name)
{
    if (macros_.empty())
        splitcc::run_captured(cc({"-dM", "-E", "-x", "c", "/dev/null"}), macros_);
    const std::string definition = "#define " + name + " ";
    const size_t at = macros_.find(definition);
    return at == std::string::npos
               ? 0
               : static_cast<unsigned>(std::atoi(macros_.c_str() + at + definition.size()));
}

bool Toolchain::knows(const std::string &option)
{
    // -Wno-NAME is accepted whatever the name is.
    const bool no = option.starts_with("-Wno-");
    Command command = cc({"-fsyntax-only", "-x", "c", "/dev/null"});
    if (is_clang())
        command.emplace_back("-Werror=unknown-warning-option");
    command.push_back(no ? "-W" + option.substr(5) : option);
    std::string none;
    return splitcc::run_captured(command, none, temporary().file("known", ".err")) == 0;
}

bool Toolchain::is_clang()
{
    if (!clang_) {
        const std::string family = cc_.size() == 1 ? named_family(cc_.front()) : "";
        clang_ = family.empty() ? macro("__clang__") == 1 : family == "clang";
    }
    return *clang_;
}

Command Toolchain::zeroing()
{
    const unsigned clang = is_clang() ? macro("__clang_major__") : 0;
    const unsigned gcc = clang ? 0 : macro("__GNUC__");
    if (clang < 8 && gcc < 12)
        fatal("-fold-programs needs a C compiler that zeroes variables: gcc 12, or clang 8");
    Command options;
    options.emplace_back("-ftrivial-auto-var-init=zero");
    if (clang && clang < 16) // until clang 16 the option had to be enabled by this one
        options.emplace_back(
            "-enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang");
    return options;
}

TemporaryDirectory &Toolchain::temporary()
{
    if (!temporary_)
        temporary_.emplace();
    return *temporary_;
}

Command Toolchain::include_options() const
{
    return {"-I" + prefix_ + "/include", "-isystem", prefix_ + "/include/split-c/old", "-idirafter",
            prefix_ + "/include/split-c"};
}

bool Toolchain::announce(const Command &command) const
{
    if (show_)
        std::printf("%s\n", shell_quoted(command).c_str());
    else if (verbose_)
        std::fprintf(stderr, "%s\n", shell_quoted(command).c_str());
    return !show_;
}

// Returns a command that is short enough, with its words in a file of options if necessary.
Command Toolchain::fitting(const Command &command)
{
    std::string words;
    for (size_t i = cc_.size(); i < command.size(); i++)
        words += escaped(command[i]) + "\n";
    if (words.size() < kLongCommand)
        return command;
    std::string file = temporary().file("options", ".rsp");
    if (!write_file(file, words))
        fatal(cannot("write", file));
    return cc({"@" + file});
}

int Toolchain::run(const Command &command, const std::string &result, const std::string &errors)
{
    if (!announce(command))
        return 0;
    int code = splitcc::run(fitting(command), errors);
    std::error_code ignored;
    if (code >= 128 && fs::is_regular_file(result, ignored))
        fs::remove(result, ignored);
    return code;
}

int Toolchain::run_captured(const Command &command, std::string &output, const std::string &errors)
{
    return announce(command) ? splitcc::run_captured(fitting(command), output, errors) : 0;
}

} // namespace splitcc
