// SPDX-License-Identifier: BSD-3-Clause
#include "link.h"

#include <cstdio>
#include <set>
#include <sstream>

#include "config.h"

namespace splitcc {
namespace {

bool has(const std::string &text, const char *words)
{
    return text.find(words) != std::string::npos;
}

// What the linker said, in the user's terms where it is about the runtime's.
void print_link_errors(const Options &options, const std::string &said)
{
    bool no_main = has(said, "undefined reference to `splitc_entry'");
    bool no_pmix = has(said, "cannot find -lpmix");
    if (options.is_static && (has(said, "libsplitc.a") || has(said, "pmix"))) {
        std::fputs("splitcc: error: a Split-C program cannot be linked with -static: PMIx and what "
                   "it uses are shared libraries; leave -static out\n",
                   stderr);
        return;
    }
    if (no_main)
        std::fputs("splitcc: error: the program has no splitc_main; define 'int splitc_main(int "
                   "argc, char **argv)'\n",
                   stderr);
    if (no_pmix)
        std::fputs("splitcc: error: the PMIx library is missing; install libpmix-dev\n", stderr);
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
        bool about_entry = has(line, "splitc_entry") || has(line, "in function `main'");
        if (!no_main || !about_entry)
            std::fprintf(stderr, "%s\n", line.c_str());
    }
}

// A program's own malloc serves the libraries, too, if it is a whole allocator.  True if
// the program shows them a part of one: memory from it would end in the free of another.
bool shows_part_of_an_allocator(const std::string &program, const std::string &errors)
{
    std::string listed;
    if (run_captured({"nm", "-D", "--defined-only", program}, listed, errors) != 0)
        return false;
    const std::set<std::string> whole = {"malloc", "calloc", "realloc", "free"};
    std::set<std::string> shown;
    bool variable = false;
    std::istringstream lines(listed);
    for (std::string address, kind, name; lines >> address >> kind >> name;)
        if (whole.count(name)) {
            shown.insert(name);
            variable |= kind != "T";
        }
    return variable || (!shown.empty() && shown != whole);
}

Command link_command(const Options &options, const Toolchain &tools,
                     const std::vector<std::string> &objects, const std::string &version_script)
{
    Command command = tools.cc({});
    auto add = [&](const Command &words) {
        command.insert(command.end(), words.begin(), words.end());
    };
    if (!options.shared)
        command.push_back("-no-pie");
    add(options.both);
    for (const std::string &word : options.compile)
        if (word.starts_with("-g"))
            command.push_back(word);
    add(objects);
    add({"-o", options.output.empty() ? "a.out" : options.output});
    if (options.checks && !options.shared) // the runtime looks whether it is there
        add({"-Wl,--defsym=splitc_wants_checks=1"});
    if (!options.shared)
        add(runtime_link_options(tools, version_script));
    return command;
}

} // namespace

std::string program_version_script(const Toolchain &tools)
{
    return tools.prefix() + "/lib/splitc-program.ver";
}

Command runtime_link_options(const Toolchain &tools, const std::string &version_script)
{
    // libc comes first: GNU ld finds versions that our archives ask for (cmake/bind_libc.sh)
    // in libraries it knows, and would be misled by others that define the same names.
    Command words = {
        "-L" + tools.prefix() + "/lib", "-Wl,--as-needed", "-lc", "-lsplitc", "-lgam", "-lunet"};
    if (!version_script.empty())
        words.push_back("-Wl,--version-script=" + version_script);
    words.insert(words.end(), kRuntimeLinkOptions.begin(), kRuntimeLinkOptions.end());
    return words;
}

int link(const Options &options, Toolchain &tools, const std::vector<std::string> &objects)
{
    // Who shows names of the program to libraries knows why.
    bool own_names = !options.exports && !options.shared;
    std::string script = own_names ? program_version_script(tools) : "";
    Command command = link_command(options, tools, objects, script);
    if (options.show)
        return tools.run(command, "");
    std::string result = options.output.empty() ? "a.out" : options.output;
    std::string errors = tools.temporary().file("link", ".err");
    int code = tools.run(command, result, errors);
    print_link_errors(options, read_file(errors).value_or(""));
    if (code == 0 && own_names && shows_part_of_an_allocator(result, errors)) {
        script = tools.temporary().file("program", ".ver");
        if (!write_file(script, "{ local: *; };\n"))
            fatal(cannot("write", script));
        code = tools.run(link_command(options, tools, objects, script), result);
    }
    return code;
}

} // namespace splitcc
