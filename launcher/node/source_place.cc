// SPDX-License-Identifier: BSD-3-Clause

#include "node/source_place.h"

#include <algorithm>
#include <backtrace.h>
#include <charconv>
#include <cstdio>
#include <elf.h>
#include <fstream>
#include <link.h>
#include <map>
#include <sstream>
#include <sys/stat.h>

#include "common/environment.h"
#include "common/process.h"

namespace unetrun {

namespace {

std::string hexadecimal(std::uint64_t number)
{
    char text[24];
    std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(number));
    return text;
}

} // namespace

// ---- the process that asks --------------------------------------------------------------------

// A line "@" begins what is known of an address; then follow function, tab and line of each place.
std::vector<std::vector<CodePlace>> parse_source_places(const std::string &words, std::size_t count)
{
    std::vector<std::vector<CodePlace>> all(count);
    std::istringstream lines(words);
    std::size_t begun = 0;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t tab = line.find('\t');
        if (line == "@")
            begun++;
        else if (begun > 0 && begun <= count && tab != std::string::npos)
            all[begun - 1].push_back({line.substr(0, tab), line.substr(tab + 1)});
    }
    return all;
}

std::vector<std::vector<CodePlace>> source_places(const std::vector<CodeAddress> &addresses)
{
    if (std::all_of(addresses.begin(), addresses.end(), [](auto &code) { return code.at == 0; }))
        return std::vector<std::vector<CodePlace>>(addresses.size());
    std::vector<std::string> command = {"/proc/self/exe", source_places_option};
    for (const CodeAddress &code : addresses) {
        command.push_back(code.file);
        command.push_back(hexadecimal(code.at));
    }
    try {
        return parse_source_places(output_of(command, own_environment()), addresses.size());
    } catch (const Failure &) {
        return std::vector<std::vector<CodePlace>>(addresses.size());
    }
}

std::string line_of(const std::vector<CodePlace> &places)
{
    const auto known = std::find_if(places.begin(), places.end(),
                                    [](const CodePlace &place) { return !place.line.empty(); });
    return known == places.end() ? "" : known->line;
}

// ---- the process that looks -------------------------------------------------------------------

namespace {

// libbacktrace takes a file that can be loaded anywhere for this process's own program, and adds
// the address at which that was loaded.
int own_load_address(dl_phdr_info *info, std::size_t, void *address)
{
    *static_cast<std::uint64_t *>(address) = info->dlpi_addr;
    return 1; // the first is the program
}

std::uint64_t address_added_to(const std::string &file)
{
    Elf64_Ehdr header{};
    std::ifstream stream(file, std::ios::binary);
    if (!stream.read(reinterpret_cast<char *>(&header), sizeof header) || header.e_type != ET_DYN)
        return 0;
    std::uint64_t address = 0;
    dl_iterate_phdr(own_load_address, &address);
    return address;
}

struct Symbols {
    backtrace_state *state = nullptr; // null: the file cannot be read
    std::uint64_t added = 0;
};

// Not even the name of a file is trusted: to open a pipe could take for ever.
bool is_regular(const std::string &file)
{
    struct stat status;
    return stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

void ignore_error(void *, const char *, int)
{
}

// The name has to stay where it is.
Symbols symbols_of(const std::string &file)
{
    if (!is_regular(file))
        return {};
    return {backtrace_create_state(file.c_str(), 0, ignore_error, nullptr), address_added_to(file)};
}

// Whatever the file says, a line is a line.
std::string printable(const char *text)
{
    std::string copy = text ? text : "";
    std::replace_if(
        copy.begin(), copy.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
    return copy;
}

int add_place(void *all, std::uintptr_t, const char *file, int line, const char *function)
{
    if (!file && !function)
        return 0;
    const std::string name = printable(file);
    if (name.ends_with("split-c/abi.h"))
        return 0;
    static_cast<std::vector<CodePlace> *>(all)->push_back(
        {printable(function), file ? name + ":" + std::to_string(line) : ""});
    return 0;
}

void add_symbol(void *all, std::uintptr_t, const char *name, std::uintptr_t, std::uintptr_t)
{
    if (name)
        static_cast<std::vector<CodePlace> *>(all)->push_back({printable(name), ""});
}

std::vector<CodePlace> places_of(const Symbols &symbols, std::uint64_t at)
{
    std::vector<CodePlace> places;
    if (symbols.state && at != 0) {
        const std::uintptr_t pc = at + symbols.added;
        backtrace_pcinfo(symbols.state, pc, add_place, ignore_error, &places);
        if (places.empty() || (places.size() == 1 && places.front().function.empty())) {
            const std::string line = line_of(places);
            places.clear();
            backtrace_syminfo(symbols.state, pc, add_symbol, ignore_error, &places);
            if (places.empty() && !line.empty())
                places.push_back({"", line});
            else if (!line.empty())
                places.front().line = line;
        }
    }
    return places;
}

} // namespace

int source_places_main(const std::vector<std::string> &arguments)
{
    std::map<std::string, Symbols> files;
    for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
        const std::string &file = arguments[i], &digits = arguments[i + 1];
        std::uint64_t at = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), at, 16);
        const auto [entry, is_new] = files.try_emplace(file);
        if (is_new)
            entry->second = symbols_of(entry->first);
        std::puts("@");
        for (const CodePlace &place : places_of(entry->second, at))
            std::printf("%s\t%s\n", place.function.c_str(), place.line.c_str());
        std::fflush(stdout); // a file that is cut short may end this process
    }
    return 0;
}

} // namespace unetrun
