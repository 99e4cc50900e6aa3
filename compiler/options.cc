// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include "process.h"

namespace splitcc {
namespace {

using Words = std::vector<std::string>;

// Options whose value is the next word when it is not in the same one.
constexpr std::string_view kPreprocessWithValue[] = {
    "-I",         "-D",       "-U",       "-isystem",  "-iquote",
    "-idirafter", "-include", "-imacros", "-isysroot", "-Xpreprocessor"};
constexpr std::string_view kDependencyWithValue[] = {"-MF", "-MT", "-MQ"};
constexpr std::string_view kLinkWithValue[] = {"-L", "-Xlinker", "-T", "-u", "-z"};
constexpr std::string_view kCompileWithValue[] = {"--param", "-Xassembler"};

bool ends_with(std::string_view text, std::string_view end)
{
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

class Reader {
public:
    explicit Reader(Words words) : words_(std::move(words)) {}
    Options run();

private:
    void option(const std::string &word);
    bool mode(const std::string &word);
    bool own(const std::string &word);
    bool message_option(const std::string &word);
    bool with_value(const std::string &word);
    template <size_t N>
    bool takes_value(const std::string &word, const std::string_view (&names)[N], Words &to);
    void dependency(const std::string &word);
    void input(const std::string &path);
    std::string next(const std::string &word);

    Words words_;
    size_t at_ = 0;
    std::string x_;
    Options options_;
};

std::string Reader::next(const std::string &word)
{
    if (at_ >= words_.size())
        throw UsageError("option '" + word + "' needs a value");
    return words_[at_++];
}

void Reader::input(const std::string &path)
{
    bool split_c = x_.empty() ? ends_with(path, ".sc") : x_ == "splitc" || x_ == "split-c";
    options_.inputs.push_back({path, split_c ? Language::SplitC : Language::Other, x_});
}

// What to do, and where the result goes.
bool Reader::mode(const std::string &word)
{
    if (word == "-c")
        options_.stage = Stage::Object;
    else if (word == "-S")
        options_.stage = Stage::Assembly;
    else if (word == "-E")
        options_.stage = Stage::Preprocess;
    else if (word == "-trans")
        options_.stage = Stage::Translate;
    else if (word == "-o")
        options_.output = next(word);
    else if (word.starts_with("-o") && word.size() > 2 && !word.starts_with("-opt"))
        options_.output = word.substr(2);
    else
        return false;
    return true;
}

// How messages look, and how many there are.  What says the same to the C compiler goes
// there too.
bool Reader::message_option(const std::string &word)
{
    if (word.starts_with("-ferror-limit=") || word.starts_with("-fmax-errors=")) {
        const std::string number = word.substr(word.find('=') + 1);
        if (number.empty() || number.size() > 9 ||
            number.find_first_not_of("0123456789") != std::string::npos)
            throw UsageError("'" + word + "' needs a number of errors, or 0 for all");
        const unsigned limit = static_cast<unsigned>(std::stoul(number));
        options_.error_limit = limit ? limit : UINT32_MAX;
    } else if (word == "-fdiagnostics-format=json" || word == "-fdiagnostics-format=text") {
        options_.json = ends_with(word, "json");
    } else if (word.starts_with("-fdiagnostics-color") || word == "-fno-diagnostics-color") {
        if (!ends_with(word, "=auto"))
            options_.color = !ends_with(word, "=never") && word[2] != 'n';
        options_.both.push_back(word);
    } else {
        return false;
    }
    return true;
}

// Options that are splitcc's own.
bool Reader::own(const std::string &word)
{
    if (word == "-show" || word == "-###")
        options_.show = true;
    else if (word == "-v")
        options_.verbose = true;
    else if (word == "--help" || word == "-help")
        options_.help = true;
    else if (word == "--version" || word == "-version")
        options_.version = true;
    else if (word == "-save-temps" || word == "--save-temps")
        options_.save_temps = true;
    else if (word.starts_with("-print-") || word.starts_with("--print-"))
        options_.print = word.substr(word.find("print-") + 6);
    else if (word == "-x") {
        x_ = next(word);
        if (x_ == "none")
            x_.clear();
    } else
        return message_option(word);
    return true;
}

template <size_t N>
bool Reader::takes_value(const std::string &word, const std::string_view (&names)[N], Words &to)
{
    if (std::find(std::begin(names), std::end(names), word) == std::end(names))
        return false;
    to.push_back(word);
    to.push_back(next(word));
    return true;
}

bool Reader::with_value(const std::string &word)
{
    options_.dependency_file |= word.starts_with("-MF");
    options_.dependency_target |= word.starts_with("-MT") || word.starts_with("-MQ");
    if (word == "-l") {
        options_.inputs.push_back({"-l" + next(word), Language::Other, ""});
        return true;
    }
    return takes_value(word, kPreprocessWithValue, options_.preprocess) ||
           takes_value(word, kDependencyWithValue, options_.dependency) ||
           takes_value(word, kLinkWithValue, options_.link) ||
           takes_value(word, kCompileWithValue, options_.compile);
}

void Reader::dependency(const std::string &word)
{
    if (word == "-MD" || word == "-MMD")
        options_.dependencies = true;
    else if (word == "-M" || word == "-MM")
        options_.only_dependencies = true;
    options_.dependency.push_back(word);
}

void Reader::option(const std::string &word)
{
    if (mode(word) || own(word) || with_value(word))
        return;
    auto begins = [&](std::string_view prefix) { return word.starts_with(prefix); };
    if (begins("-l")) {
        options_.inputs.push_back({word, Language::Other, ""});
    } else if (begins("-M")) {
        dependency(word);
    } else if (begins("-I") || begins("-D") || begins("-U") || begins("-Wp,") ||
               begins("-isystem") || begins("-iquote") || word == "-nostdinc" || word == "-undef") {
        options_.preprocess.push_back(word);
    } else if (begins("-L") || begins("-Wl,") || word == "-static" || word == "-shared" ||
               word == "-rdynamic" || word == "-s" || begins("-nostart") || begins("-nodefault") ||
               word == "-nostdlib" || word == "-r" || begins("-T")) {
        options_.link.push_back(word);
    } else if (begins("-g") || begins("-W") || begins("-w") || begins("-pedantic") ||
               begins("-p") || word == "-pipe" || word == "-Q") {
        if (options_.warnings.read(word))
            return; // a warning that only we have
        (word == "-pthread" || word == "-pg" ? options_.both : options_.compile).push_back(word);
    } else if (begins("-std=") || word == "-ansi") {
        options_.standard = word == "-ansi" ? "c89" : word.substr(5);
        options_.both.push_back(word);
    } else if (begins("-O") || begins("-f") || begins("-m") || begins("--sysroot") ||
               begins("-B") || word == "-ansi") {
        options_.both.push_back(word);
    } else {
        throw UsageError("unknown option '" + word + "'; 'splitcc --help' lists the options");
    }
}

// A file of options: words apart by white space, quotes and backslashes as in gcc.
Words response_file(const std::string &path)
{
    auto text = read_file(path);
    if (!text)
        throw UsageError("cannot read the options in '" + path + "'");
    Words words;
    std::string word;
    char quote = 0;
    bool any = false;
    for (size_t i = 0; i <= text->size(); i++) {
        char c = i < text->size() ? (*text)[i] : '\n';
        if (!quote && std::isspace(static_cast<unsigned char>(c))) {
            if (any)
                words.push_back(word);
            word.clear();
            any = false;
            continue;
        }
        any = true;
        if (c == '\\' && i + 1 < text->size())
            word += (*text)[++i];
        else if (quote ? c == quote : c == '"' || c == '\'')
            quote = quote ? 0 : c;
        else
            word += c;
    }
    return words;
}

Options Reader::run()
{
    const char *term = std::getenv("TERM");
    options_.color = isatty(2) && term && std::string_view(term) != "dumb";
    for (int expansions = 0; at_ < words_.size();) {
        std::string word = words_[at_++];
        if (word.size() > 1 && word[0] == '@' && access(word.c_str() + 1, R_OK) == 0) {
            if (++expansions > 100)
                throw UsageError("response files nest too deeply");
            Words inside = response_file(word.substr(1));
            words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at_), inside.begin(),
                          inside.end());
        } else if (word.size() > 1 && word[0] == '-') {
            option(word);
        } else {
            input(word);
        }
    }
    return std::move(options_);
}

} // namespace

Options parse_options(std::vector<std::string> arguments)
{
    return Reader(std::move(arguments)).run();
}

} // namespace splitcc
