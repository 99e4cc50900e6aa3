// SPDX-License-Identifier: BSD-3-Clause

#include "front/option_texts.h"

#include "front/option_table.h"
#include "front/other_launchers.h"

namespace unetrun {

namespace {

std::string first_line(const std::string &text)
{
    return text.substr(0, text.find('\n'));
}

std::string other_lines(const std::string &text)
{
    const std::size_t end = text.find('\n');
    return end == std::string::npos ? "" : text.substr(end + 1);
}

// A line for each option that has synonyms.
std::string list_synonyms()
{
    std::string text;
    for (const Option &option : option_table()) {
        const std::string names = synonyms_of(option.name, ", ");
        if (!names.empty())
            text += "  " + names + ": " + option.name + "\n";
    }
    return text;
}

} // namespace

std::string help_text()
{
    std::string text =
        "usage: unetrun [options] program [arguments] [: -n N program [arguments]]...\n\n"
        "Starts a program, or several, as the ranks of a job and takes care of them.\n\n";
    for (const Option &option : option_table()) {
        std::string left = std::string("  ") + option.name;
        if (option.alias)
            left += std::string(", ") + option.alias;
        if (option.value)
            left += std::string(" ") + option.value;
        left += left.size() > 26 ? "\n" + std::string(27, ' ') : std::string(27 - left.size(), ' ');
        text += left + first_line(option.text) + "\n";
    }
    return text + "\nWords of other launchers that are understood:\n" + list_synonyms() +
           "\nThe exit code is that of the first rank to fail, 128 + N if signal N killed it, or\n"
           "0; 124 after a time-out, 126 and 127 if the program cannot be run or found, 2 if the\n"
           "command line makes no sense, and 1 for any other trouble.\n";
}

std::string option_list()
{
    std::string text;
    for (const Option &option : option_table()) {
        text += std::string("option\t") + option.name;
        text += (option.alias ? std::string(" ") + option.alias : "") + "\t";
        text += (option.value ? option.value : "") + std::string("\t");
        text += first_line(option.text) + "\t" + other_lines(option.text) + "\n";
    }
    for (const Option &option : option_table()) {
        const std::string names = synonyms_of(option.name, " ");
        if (!names.empty())
            text += std::string("synonym\t") + option.name + "\t" + names + "\n";
    }
    return text;
}

} // namespace unetrun
