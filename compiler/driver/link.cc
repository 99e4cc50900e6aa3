// SPDX-License-Identifier: BSD-3-Clause
#include "driver/link.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "driver/config.h"
#include "driver/undeclared.h"

namespace splitcc {
namespace {

bool has(const std::string &text, const char *words)
{
    return text.find(words) != std::string::npos;
}

// Returns whether an object that is to be linked defines splitc_main.  If splitc_entry is missing,
// which splitcc adds to it, the object was made of a C file.
bool defines_splitc_main(Toolchain &tools, const std::vector<std::string> &objects)
{
    Command nm = {"nm", "-P", "-g", "--defined-only"};
    for (const std::string &object : objects)
        if (!object.starts_with("-"))
            nm.push_back(object);
    std::string listed;
    run_captured(nm, listed, tools.temporary().file("nm", ".err"));
    return listed.starts_with("splitc_main T") || has(listed, "\nsplitc_main T");
}

// Returns the line with objects named as the user would have named them, not as temporary files.
std::string without_temporaries(std::string line, const std::string &temporary)
{
    for (size_t at; (at = line.find(temporary + "/")) != line.npos;)
        line.erase(at, line.find('-', at + temporary.size()) - at + 1);
    return line;
}

// Prints the linker's messages, in the user's terms if they are about the runtime.
void print_link_errors(const Options &options, Toolchain &tools,
                       const std::vector<std::string> &objects, const std::string &said)
{
    bool no_main = has(said, "undefined reference to `splitc_entry'");
    bool no_pmix = has(said, "cannot find -lpmix");
    if (options.is_static && (has(said, "libsplitc.a") || has(said, "pmix"))) {
        std::fputs("splitcc: error: a Split-C program cannot be linked with -static: PMIx and what "
                   "it uses are shared libraries; leave -static out\n",
                   stderr);
        return;
    }
    if (options.shared && has(said, "recompile with -fPIC")) {
        std::fputs(
            "splitcc: error: a shared library holds position-independent code alone; compile "
            "its sources with -fPIC\n",
            stderr);
        return;
    }
    if (no_main)
        std::fputs(defines_splitc_main(tools, objects)
                       ? "splitcc: error: splitc_main is in a C file; name it .sc, or compile it "
                         "with '-x splitc'\n"
                       : "splitcc: error: the program has no splitc_main; define 'int "
                         "splitc_main(int argc, char **argv)'\n",
                   stderr);
    if (no_pmix)
        std::fputs("splitcc: error: the PMIx library is missing; install libpmix-dev\n", stderr);
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
        bool about_entry = has(line, "splitc_entry") || has(line, "in function `main'");
        if (!no_main || !about_entry)
            std::fprintf(stderr, "%s\n",
                         without_temporaries(line, tools.temporary().path()).c_str());
    }
}

// Whether two definitions of one name may be one of a header of old: a variable without a value,
// or something on the same line, which debug information tells (of functions, GNU ld takes the
// wrong file).  They are named as "ld: a.o:(.bss+0x4)" and "b.o:(.bss)", or as "ld: a.o:/h.h:2" and
// "b.o:/h.h:2".
bool may_be_of_a_header(std::string first, std::string second)
{
    for (std::string *place : {&first, &second}) {
        if (const size_t file = place->rfind(": "); file != place->npos)
            place->erase(0, file + 2);
        place->erase(0, std::min(place->find(':'), place->size()));
        place->resize(std::min(place->find('+'), place->size()));
    }
    return first == second && !first.empty() &&
           (!first.starts_with(":(") || first.starts_with(":(.bss"));
}

// Returns what there is to say if several files define what a header of old programs would.
std::string advice_on_definitions(const std::string &said)
{
    const std::string kSays = ": multiple definition of `", kFirst = ": first defined here";
    std::set<std::string> names;
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
        const size_t says = line.find(kSays), name = says + kSays.size();
        const size_t end = says == line.npos ? says : line.find("'; ", name);
        if (end == line.npos || !line.ends_with(kFirst))
            continue;
        const std::string other = line.substr(end + 3, line.size() - kFirst.size() - end - 3);
        if (may_be_of_a_header(line.substr(0, says), other))
            names.insert(line.substr(name, end - name));
    }
    if (names.empty())
        return "";
    const std::string more = names.size() == 1 ? "' is"
                             : names.size() == 2
                                 ? "' and '" + *names.rbegin() + "' are"
                                 : "' and " + std::to_string(names.size() - 1) + " others are";
    return "splitcc: note: '" + *names.begin() + more +
           " defined in several files; if a header has them, variables without values or 'extern "
           "inline' functions as old programs write them, compile all files with -std=gnu89\n";
}

// What a linked program shows of itself.
struct Findings {
    bool runs_splitc = false;
    bool begins_there = false; // its main is the runtime's
    bool part_of_allocator = false;
};

// One line of objdump -T: "ADDRESS FLAGS SECTION<tab>SIZE VERSION NAME", of which FLAGS are seven
// letters or blanks.
struct Symbol {
    std::string name;
    bool defined = false;
    bool function = false;
};

Symbol read_symbol(const std::string &line)
{
    const size_t flags = line.find(' ') + 1, tab = line.find('\t');
    if (flags == 0 || tab == line.npos || tab < flags + 8)
        return {};
    return {.name = line.substr(line.rfind(' ') + 1),
            .defined = line.compare(flags + 8, tab - flags - 8, "*UND*") != 0,
            .function = line[flags + 6] == 'F'};
}

// If a program defines a whole malloc, shared libraries use it, too.  If it shows them a part of
// one, they would allocate memory with one malloc and free it with another.
bool is_part_of_allocator(const std::map<std::string, bool> &is_function)
{
    size_t functions = 0, variables = 0;
    for (const char *name : {"malloc", "calloc", "realloc", "free"})
        if (auto found = is_function.find(name); found != is_function.end())
            (found->second ? functions : variables)++;
    return variables || (functions && functions < 4);
}

// objdump shows what nm does, and does not load the linker's plugins, which takes nm 20 ms.
Findings inspect(Toolchain &tools, const std::string &program)
{
    std::string listed, errors = tools.temporary().file("objdump", ".err");
    if (run_captured({"objdump", "-T", program}, listed, errors) != 0)
        return {.runs_splitc = true, .begins_there = true}; // it has failed; most programs do
    std::map<std::string, bool> is_function;
    Findings findings;
    std::istringstream lines(listed);
    for (std::string line; std::getline(lines, line);) {
        const Symbol symbol = read_symbol(line);
        // The runtime's main calls it; sanitizers may define it.
        findings.begins_there |= symbol.name == "on_exit";
        if (symbol.defined)
            is_function[symbol.name] = symbol.function;
        else // only the runtime's heap calls it
            findings.runs_splitc |= symbol.name == "mi_heap_set_default";
    }
    findings.part_of_allocator = is_part_of_allocator(is_function);
    return findings;
}

// A rank that begins in another main never joins its job.
int refuse_own_main(const std::string &program)
{
    std::fputs("splitcc: error: a Split-C program begins in 'splitc_main', which every processor "
               "runs; one of its C files or libraries defines 'main': rename that function\n",
               stderr);
    std::remove(program.c_str());
    return 1;
}

Command link_command(const Options &options, const Toolchain &tools,
                     const std::vector<std::string> &objects, const Command &libraries)
{
    Command command = tools.cc({});
    if (!options.shared)
        command.push_back("-no-pie");
    append(command, options.both);
    for (const std::string &word : options.compile)
        if (word.starts_with("-g"))
            command.push_back(word);
    append(command, objects);
    append(command, {"-o", options.output.empty() ? "a.out" : options.output});
    append(command, libraries);
    return command;
}

// -lm is there because programs compute; --as-needed drops it from those that do not.
const Command kLibc = {"-Wl,--as-needed", "-lc", "-lm"};

// libc comes first.  GNU ld looks up the symbol versions that the archives ask for
// (cmake/bind_libc.sh) in the libraries it has read, and others define the same names.
Command archives(const Toolchain &tools)
{
    Command words = kLibc;
    words.insert(words.end(),
                 {"-L" + tools.prefix() + "/lib", "-lsplitc", "-lgam", "-lreliable", "-lunet"});
    return words;
}

Command without_names(const Options &options, Toolchain &tools)
{
    std::string script = tools.temporary().file("program", ".ver");
    if (!write_file(script, "{ local: *; };\n"))
        fatal(cannot("write", script));
    return runtime_link_options(options, tools, script);
}

} // namespace

std::string program_version_script(const Toolchain &tools)
{
    return tools.prefix() + "/lib/splitc-program.ver";
}

Command runtime_link_options(const Options &options, const Toolchain &tools,
                             const std::string &version_script)
{
    Command words = archives(tools);
    // mimalloc replaces the malloc of libc, so it comes before it.
    words.insert(words.begin(), {"-Wl,--no-as-needed", "-lmimalloc"});
    if (options.checks) // the runtime tests whether the symbol exists
        words.push_back("-Wl,--defsym=splitc_wants_checks=1");
    if (options.old_programs)
        words.push_back("-Wl,--defsym=splitc_wants_stack=1");
    if (!version_script.empty())
        words.push_back("-Wl,--version-script=" + version_script);
    words.insert(words.end(), kRuntimeLinkOptions.begin(), kRuntimeLinkOptions.end());
    return words;
}

int link(const Options &options, Toolchain &tools, std::vector<std::string> objects)
{
    // Names stay hidden unless the user exports them.  clang's sanitizers have to be visible to
    // shared libraries as well.
    bool own_names =
        !options.exports && !options.shared && !(options.sanitizer && tools.is_clang());
    Command libraries;
    if (options.is_static)
        libraries = archives(tools); // the link fails, and print_link_errors() explains why
    else if (!options.shared)
        libraries =
            runtime_link_options(options, tools, own_names ? program_version_script(tools) : "");
    Command command = link_command(options, tools, objects, libraries);
    if (options.show)
        return tools.run(command, "");
    std::string result = options.output.empty() ? "a.out" : options.output;
    std::string errors = tools.temporary().file("link", ".err");
    setenv("LC_ALL", "C", 1); // what the linker says is read in English
    std::string advice;
    int code = tools.run(command, result, errors);
    if (code == 1 && !options.shared && !options.is_static) {
        const bool quiet = std::ranges::find(options.compile, "-w") != options.compile.end();
        const UndeclaredCalls calls =
            undeclared_calls(tools, read_file(errors).value_or(""), quiet);
        std::fputs(calls.messages.c_str(), stderr);
        advice = calls.advice;
        append(objects, calls.aliases);
        if (!calls.aliases.empty())
            code = tools.run(link_command(options, tools, objects, libraries), result, errors);
    }
    if (code == 0 && !options.shared && !options.is_static) {
        Findings found = inspect(tools, result);
        if (!found.runs_splitc)
            code = tools.run(link_command(options, tools, objects, kLibc), result, errors);
        else if (!found.begins_there)
            code = refuse_own_main(result);
        else if (own_names && found.part_of_allocator)
            code = tools.run(link_command(options, tools, objects, without_names(options, tools)),
                             result, errors);
    }
    const std::string said = read_file(errors).value_or("");
    print_link_errors(options, tools, objects, said);
    if (code != 0)
        advice += advice_on_definitions(said);
    std::fputs(advice.c_str(), stderr);
    return code;
}

} // namespace splitcc
