// SPDX-License-Identifier: BSD-3-Clause
//
// Runs splitcc on the text of a document, in a process of its own: whatever that text does to it,
// the server lives on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace splitcc::lsp {

// A place in a file; lines and columns (bytes) count from 1, `end` is behind the last column.
struct Place {
    std::filesystem::path file;
    uint32_t line = 0, begin = 0, end = 0;
};

struct Fix {
    Place where;
    std::string text;
};

struct Finding {
    int severity = 1; // of the protocol: error, warning, information
    std::string text, option;
    Place where;
    std::vector<Fix> fixes;
    std::vector<Finding> notes;
};

struct Entry {
    Place where;
    std::string text;
    Place declared; // its line is 0 if nothing is
};

struct Checked {
    std::vector<Finding> findings;
    std::vector<Entry> index; // in the order of the file
};

// The words of a file that a shell would make of a command line.
std::vector<std::string> shell_words(const std::string &text);

// The options that the file is compiled with, and the folder that they are relative to: those of
// compile_commands.json, there or in a folder build/, or of compile_flags.txt, a word a line, of
// the nearest folder above that has one.
struct Flags {
    std::vector<std::string> words;
    std::filesystem::path folder;
};
Flags flags_of(const std::filesystem::path &file);

// Checks `text`, which is what `file` is to become.
Checked check(const std::filesystem::path &splitcc, const std::filesystem::path &file,
              const std::string &text);

} // namespace splitcc::lsp
