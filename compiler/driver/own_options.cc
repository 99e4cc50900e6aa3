// SPDX-License-Identifier: BSD-3-Clause
#include "driver/own_options.h"

#include <algorithm>
#include <sstream>

#include "source/similar.h"

namespace splitcc {
namespace {

enum class Form {
    Word,   // the whole option
    Switch, // -fNAME, or -fno-NAME
    Joined, // the rest of the word, or else the next one, is the value
    Next,   // the next word is the value
};

// Of names that end in '=' the rest of the word is the value, whatever the form.
struct OwnOption {
    std::string_view names; // separated by blanks
    Form form;
    std::string_view value; // what texts call it
    // One line for --help; what follows it is for the manual alone.  An empty text hides the
    // option.
    std::string_view text;
    // `value` is that of a switch, too: "" or "no".
    void (*apply)(Reading &reading, const std::string &word, const std::string &value);
};

using Text = const std::string &;

template <Stage stage> void stop_after(Reading &r, Text, Text)
{
    r.options.stage = std::min(r.options.stage, stage);
}

template <bool Options::*flag> void switch_on(Reading &r, Text, Text value)
{
    r.options.*flag = value.empty();
}

void print(Reading &r, Text word, Text)
{
    r.options.print = word.substr(word.find("print-") + 6);
}

void choose_language(Reading &r, Text, Text value)
{
    r.language = value == "none" ? "" : value;
}

void choose_standard(Reading &r, Text, Text value)
{
    r.options.standard = value;
    r.options.both.push_back("-std=" + value);
}

void limit_errors(Reading &r, Text word, Text value)
{
    if (value.empty() || value.size() > 9 ||
        value.find_first_not_of("0123456789") != std::string::npos)
        throw UsageError("'" + word + "' needs a number of errors, or 0 for all");
    const unsigned limit = static_cast<unsigned>(std::stoul(value));
    r.options.error_limit = limit ? limit : UINT32_MAX;
}

// To gcc -fcheck= is an option of Fortran, and to C only a warning.
void refuse_value(Reading &, Text word, Text)
{
    throw UsageError("'" + word + "': -fcheck takes no value; it checks all that it can");
}

void choose_format(Reading &r, Text word, Text value)
{
    if (value != "text" && value != "json")
        throw UsageError("'" + word + "': splitcc writes messages as 'text' or 'json'");
    r.options.json = value == "json";
}

// The C compiler colours its own.
void choose_color(Reading &r, Text word, Text value)
{
    if (value != "auto")
        r.options.color = value != "never" && value != "no";
    r.options.both.push_back(word);
}

constexpr OwnOption kOwn[] = {
    {"-o", Form::Joined, "FILE", "put the result there",
     [](Reading &r, Text, Text value) { r.options.output = value; }},
    {"-c", Form::Word, "", "compile to objects, do not link", stop_after<Stage::Object>},
    {"-S", Form::Word, "", "compile to assembly", stop_after<Stage::Assembly>},
    {"-E", Form::Word, "", "preprocess only", stop_after<Stage::Preprocess>},
    {"-trans", Form::Word, "", "translate to C only (FILE.trans.c)", stop_after<Stage::Translate>},
    {"-fsyntax-only", Form::Word, "", "check only", stop_after<Stage::Syntax>},
    {"-x", Form::Joined, "splitc|c|none",
     "the language of the files that follow\n"
     "`none`: their names tell it again.",
     choose_language},
    {"-std= --std=", Form::Word, "STD",
     "the standard of C: gnu17 (default), gnu11, gnu99, gnu89, ...", choose_standard},
    {"-cc -cc=", Form::Next, "CC", "the C compiler: before SPLITCC_CC and `cc`",
     [](Reading &r, Text, Text value) { r.options.cc = value; }},
    {"-fcheck", Form::Switch, "",
     "check global pointers, indices and collective calls as the program runs",
     switch_on<&Options::checks>},
    {"-fcheck=", Form::Word, "", "", refuse_value},
    {"-fprofile-lines", Form::Switch, "",
     "have each line count its remote accesses, for unetrun --profile\n"
     "It counts what it waited for, too.",
     switch_on<&Options::profile>},
    {"-fold-programs", Form::Switch, "",
     "what programs of the 1990s expect: gnu89, common symbols, zeroed variables, a large stack\n"
     "Local variables begin as zero, and the stack has 1 GiB.",
     switch_on<&Options::old_programs>},
    {"-fdiagnostics-color=", Form::Word, "auto|always|never", "whether messages have colours",
     choose_color},
    {"-fdiagnostics-color", Form::Switch, "", "", choose_color},
    {"-fdiagnostics-format=", Form::Word, "text|json", "how messages are written", choose_format},
    {"-findex=", Form::Joined, "FILE", "write what an editor asks of the source, as JSON",
     [](Reading &r, Text, Text value) { r.options.index = value; }},
    {"-ferror-limit= -fmax-errors=", Form::Word, "N", "stop after N errors (20; 0: never)",
     limit_errors},
    {"-show -###", Form::Word, "", "print the commands, run none", switch_on<&Options::show>},
    {"-v", Form::Word, "", "print the commands and run them",
     [](Reading &r, Text word, Text) {
         r.options.verbose = true;
         r.options.both.push_back(word);
     }},
    {"-save-temps --save-temps -save-temps=cwd", Form::Word, "", "keep the translated C, here",
     [](Reading &r, Text, Text) { r.options.save_temps = SaveTemps::Here; }},
    {"-save-temps=obj", Form::Word, "", "keep it beside the result",
     [](Reading &r, Text, Text) { r.options.save_temps = SaveTemps::WithResult; }},
    {"-pie -static-pie", Form::Word, "", "", switch_on<&Options::pie>},
    {"-no-pie", Form::Word, "", "", [](Reading &, Text, Text) {}}, // as all programs are linked
    {"-print-prefix --print-prefix", Form::Word, "", "print where splitcc is installed", print},
    {"-print-cflags --print-cflags", Form::Word, "", "print what C code needs", print},
    {"-print-libs --print-libs", Form::Word, "", "print what links need", print},
    {"-print-gdb --print-gdb", Form::Word, "", "print a script that shows gdb global pointers",
     print},
    {"-print-options --print-options", Form::Word, "", "print a table of these options", print},
    {"--version -version", Form::Word, "", "print the version", switch_on<&Options::version>},
    {"--help -help", Form::Word, "", "print what options there are", switch_on<&Options::help>},
};

std::vector<std::string> names_of(const OwnOption &option)
{
    std::istringstream words{std::string(option.names)};
    std::vector<std::string> names;
    for (std::string name; words >> name;)
        names.push_back(name);
    return names;
}

std::string_view first_line(std::string_view text)
{
    return text.substr(0, text.find('\n'));
}

std::string_view other_lines(std::string_view text)
{
    return text.substr(std::min(first_line(text).size() + 1, text.size()));
}

// Applies the option if `word` is it by this name.
bool apply_named(const OwnOption &option, const std::string &name, Reading &reading,
                 const std::string &word, const std::function<std::string()> &next)
{
    const bool whole = word == name;
    if (name.back() == '=' ? word.starts_with(name)
                           : option.form == Form::Joined && !whole && word.starts_with(name))
        option.apply(reading, word, word.substr(name.size()));
    else if (whole)
        option.apply(reading, word,
                     option.form == Form::Joined || option.form == Form::Next ? next() : "");
    else if (option.form == Form::Switch && word == "-fno-" + name.substr(2))
        option.apply(reading, word, "no");
    else
        return false;
    return true;
}

} // namespace

bool read_own_option(Reading &reading, const std::string &word,
                     const std::function<std::string()> &next)
{
    for (const OwnOption &option : kOwn)
        for (const std::string &name : names_of(option))
            if (apply_named(option, name, reading, word, next))
                return true;
    return false;
}

std::string similar_own_option(const std::string &word)
{
    // What begins many options makes none of them similar.
    std::string_view prefix;
    for (std::string_view begin : {"-fno-", "-f", "-Wno-error=", "-Wno-", "-Werror=", "-W"})
        if (prefix.empty() && word.starts_with(begin))
            prefix = begin;
    std::vector<std::string> names;
    if (prefix.starts_with("-W"))
        for (std::string_view name : known_warnings())
            names.emplace_back(name.substr(2));
    for (const OwnOption &option : kOwn)
        for (const std::string &name : names_of(option))
            if (prefix == "" || (prefix == "-f" && name.starts_with("-f")) ||
                (prefix == "-fno-" && name.starts_with("-f") && option.form == Form::Switch))
                names.push_back(name.substr(prefix.empty() ? 0 : 2));
    const size_t end = std::min(word.find('=', prefix.size()), word.size());
    constexpr size_t kEdits = 2; // more would make much of what cc knows similar
    const std::string near =
        most_similar(word.substr(prefix.size(), end - prefix.size()), names, kEdits);
    const std::string meant = std::string(prefix) + near;
    return near.empty() || meant == word ? "" : meant;
}

std::string own_options_help()
{
    constexpr size_t kColumn = 21;
    std::string text;
    for (const OwnOption &option : kOwn) {
        if (option.text.empty())
            continue;
        const std::string name = names_of(option).front();
        std::string left = "  " + name + (option.value.empty() || name.back() == '=' ? "" : " ");
        left += option.value;
        left += left.size() < kColumn ? "" : "\n";
        left += std::string(left.back() == '\n' ? kColumn : kColumn - left.size(), ' ');
        text += left + std::string(first_line(option.text)) + "\n";
    }
    return text;
}

std::string own_options_list()
{
    std::ostringstream text;
    for (const OwnOption &option : kOwn)
        if (!option.text.empty())
            text << "option\t" << option.names << '\t' << option.value << '\t'
                 << first_line(option.text) << '\t' << other_lines(option.text) << '\n';
    for (std::string_view name : known_warnings())
        text << "word\t" << name << "\nword\t-Wno-" << name.substr(2) << '\n';
    return text.str();
}

} // namespace splitcc
