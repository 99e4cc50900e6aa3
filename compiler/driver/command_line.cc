// SPDX-License-Identifier: BSD-3-Clause
#include "driver/command_line.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <unistd.h>

#include "driver/own_options.h"
#include "driver/process.h"

namespace splitcc {
namespace {

using Words = std::vector<std::string>;

// Where an option goes, and what form its value has.
enum class Form {
    Word,  // the whole option
    Begin, // a word that begins so
    Value  // the rest of the word, or else the next one, is the value
};

struct Rule {
    std::string_view name;
    Form form;
};

constexpr Rule kPreprocess[] = {{"-I", Form::Value},           {"-D", Form::Value},
                                {"-U", Form::Value},           {"-isystem", Form::Value},
                                {"-iquote", Form::Value},      {"-idirafter", Form::Value},
                                {"-include", Form::Value},     {"-imacros", Form::Value},
                                {"-isysroot", Form::Value},    {"-iprefix", Form::Value},
                                {"-iwithprefix", Form::Value}, {"-imultilib", Form::Value},
                                {"-Wp,", Form::Begin},         {"-Xpreprocessor", Form::Value},
                                {"-nostdinc", Form::Begin},    {"-undef", Form::Word},
                                {"-trigraphs", Form::Word},    {"-H", Form::Word},
                                {"-A", Form::Value},           {"-remap", Form::Word}};
constexpr Rule kPreprocessOnly[] = {{"-P", Form::Word},  {"-C", Form::Word},  {"-CC", Form::Word},
                                    {"-dM", Form::Word}, {"-dD", Form::Word}, {"-dN", Form::Word},
                                    {"-dI", Form::Word}, {"-dU", Form::Word}};
constexpr Rule kDependency[] = {{"-MT", Form::Value}, {"-MQ", Form::Value}, {"-M", Form::Begin}};
// These keep their order among the inputs, because it matters to the linker.
constexpr Rule kLink[] = {{"-l", Form::Value},
                          {"-L", Form::Value},
                          {"-Wl,", Form::Begin},
                          {"-Xlinker", Form::Value},
                          {"-T", Form::Value},
                          {"-u", Form::Value},
                          {"-z", Form::Value},
                          {"-e", Form::Value},
                          {"-static", Form::Begin},
                          {"-shared", Form::Begin},
                          {"-symbolic", Form::Word},
                          {"-rdynamic", Form::Word},
                          {"-s", Form::Word},
                          {"-r", Form::Word},
                          {"-nostartfiles", Form::Word},
                          {"-nostdlib", Form::Word},
                          {"-nodefaultlibs", Form::Word},
                          {"-nolibc", Form::Word}};
constexpr Rule kBoth[] = {
    {"-pthread", Form::Word},   {"-pg", Form::Word},       {"-pipe", Form::Word},
    {"--coverage", Form::Word}, {"-coverage", Form::Word}, {"-ansi", Form::Word},
    {"-O", Form::Begin},        {"-f", Form::Begin},       {"-m", Form::Begin},
    {"-B", Form::Value},        {"--param", Form::Value},  {"--sysroot", Form::Value},
    {"--target=", Form::Begin}, {"-target", Form::Value},  {"-specs=", Form::Begin},
    {"-no-", Form::Begin},      {"-p", Form::Word}};
constexpr Rule kCompile[] = {
    {"-W", Form::Begin},        {"-w", Form::Word},           {"-g", Form::Begin},
    {"-pedantic", Form::Begin}, {"-Xassembler", Form::Value}, {"-Xclang", Form::Value},
    {"-Q", Form::Word},         {"-time", Form::Begin},       {"-aux-info", Form::Value}};
constexpr std::string_view kAskCc[] = {"-dumpmachine", "-dumpversion", "-dumpfullversion",
                                       "-dumpspecs"};

constexpr std::string_view kSourceEndings[] = {".c", ".i",   ".s",   ".S",   ".sx",  ".cc", ".cp",
                                               ".C", ".cxx", ".cpp", ".CPP", ".c++", ".ii", ".m"};

// With these options the C compiler writes more files, named after the object.
constexpr std::string_view kFilesBesideObject[] = {
    "--coverage",    "-coverage",      "-ftest-coverage", "-gsplit-dwarf",
    "-fstack-usage", "-fcallgraph-in", "-fdump-"};

// Values of -fsanitize= that replace functions of libc.
constexpr std::string_view kSanitizers[] = {"address", "leak", "thread", "memory"};

template <typename List> bool contains(const List &list, std::string_view word)
{
    return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

class Reader {
public:
    explicit Reader(Words words) : words_(std::move(words)) {}
    Options run();

private:
    void option(const std::string &word);
    bool query(const std::string &word);
    template <typename Rules> bool takes(const std::string &word, const Rules &rules, Words &to);
    bool dependency(const std::string &word);
    bool linker(const std::string &word);
    void input(const std::string &path);
    void note(const std::string &word);
    void standard_input();
    std::string next(const std::string &word);

    Words words_;
    size_t at_ = 0;
    Reading reading_;
    Options &options_ = reading_.options;
};

std::string Reader::next(const std::string &word)
{
    if (at_ >= words_.size())
        throw UsageError("option '" + word + "' needs a value");
    return words_[at_++];
}

void Reader::input(const std::string &path)
{
    std::string end = std::filesystem::path(path).extension().string();
    Language language = Language::Linker;
    const std::string &x = reading_.language;
    if (x.empty() ? end == ".sc" : x == "splitc" || x == "split-c")
        language = Language::SplitC;
    else if (!x.empty() || path == "-" || contains(kSourceEndings, end))
        language = Language::Other;
    options_.inputs.push_back({path, language, x});
}

// Reads questions that only the C compiler can answer.
bool Reader::query(const std::string &word)
{
    if (!contains(kAskCc, word) && !word.starts_with("-print-") && !word.starts_with("--print-"))
        return false;
    options_.ask_cc.push_back(word);
    return true;
}

template <typename Rules> bool Reader::takes(const std::string &word, const Rules &rules, Words &to)
{
    for (const Rule &rule : rules) {
        bool whole = word == rule.name;
        if (!whole && (rule.form == Form::Word || !word.starts_with(rule.name)))
            continue;
        to.push_back(word);
        if (whole && rule.form == Form::Value)
            to.push_back(next(word));
        return true;
    }
    return false;
}

bool Reader::dependency(const std::string &word)
{
    if (word.starts_with("-MF")) {
        options_.dependency_file = word.size() > 3 ? word.substr(3) : next(word);
        return true;
    }
    options_.dependencies |= word == "-MD" || word == "-MMD";
    options_.only_dependencies |= word == "-M" || word == "-MM";
    options_.dependency_target |= word.starts_with("-MT") || word.starts_with("-MQ");
    return takes(word, kDependency, options_.dependency);
}

bool Reader::linker(const std::string &word)
{
    Words taken;
    if (!takes(word, kLink, taken))
        return false;
    options_.shared |= word == "-shared" || word == "-r";
    options_.is_static |= word == "-static";
    options_.exports |= word == "-rdynamic";
    for (const std::string &part : taken) {
        for (std::string_view own : {"-export-dynamic", "-version-script", "-dynamic-list"})
            options_.exports |= part.find(own) != std::string::npos;
        options_.exports |= part == "-Wl,-E" || part.starts_with("-Wl,-E,");
        options_.inputs.push_back({part, Language::Linker, ""});
    }
    return true;
}

// Records what splitcc has to know of options that are passed on.
void Reader::note(const std::string &word)
{
    for (std::string_view name : kFilesBesideObject)
        options_.files_beside_object |= word.starts_with(name);
    for (std::string_view name : kSanitizers)
        options_.sanitizer |=
            word.starts_with("-fsanitize=") && word.find(name) != std::string::npos;
    if (word == "-ansi")
        options_.standard = "c89";
}

void Reader::option(const std::string &word)
{
    if (read_own_option(reading_, word, [&] { return next(word); }) || query(word))
        return;
    note(word);
    const std::string near = similar_own_option(word);
    // The order matters: -undef is no -u, -Wl, is no -W, and some warnings are only splitcc's.
    if (!dependency(word) && !takes(word, kPreprocess, options_.preprocess) &&
        !takes(word, kPreprocessOnly, options_.preprocess_only) &&
        !takes(word, kBoth, options_.both) && !linker(word) && !options_.warnings.read(word) &&
        !takes(word, kCompile, options_.compile))
        throw UsageError("unknown option '" + word + "'; " +
                         (near.empty() ? "" : "did you mean '" + near + "'? ") +
                         "'splitcc --help' lists the options");
    if (!near.empty() && (word.starts_with("-f") || word.starts_with("-W")))
        options_.doubtful.push_back(word);
}

// Standard input has no name that would tell its language.
void Reader::standard_input()
{
    size_t times = 0;
    for (Input &input : options_.inputs) {
        if (input.path != "-")
            continue;
        if (++times > 1)
            throw UsageError("standard input ('-') can be read only once");
        if (input.x.empty() && options_.stage != Stage::Preprocess)
            throw UsageError("standard input ('-') needs its language: '-x splitc -' or '-x c -'");
        if (input.x.empty())
            input.language = Language::SplitC;
    }
}

// Reads a file of options, with white space, quotes and backslashes as in gcc.
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
    standard_input();
    if (options_.old_programs && options_.standard.empty()) {
        options_.standard = "gnu89";
        options_.both.insert(options_.both.begin(), "-std=gnu89");
    }
    return std::move(options_);
}

} // namespace

Options parse_options(std::vector<std::string> arguments)
{
    return Reader(std::move(arguments)).run();
}

} // namespace splitcc
