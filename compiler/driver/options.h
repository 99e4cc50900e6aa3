// SPDX-License-Identifier: BSD-3-Clause
//
// The command line, which is that of gcc, mpicc and upcc as far as possible.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "diag/warnings.h"

namespace splitcc {

// The last stage to run.  If several are asked for, the first one counts.
enum class Stage { Preprocess, Translate, Syntax, Assembly, Object, Link };

enum class Language {
    SplitC,
    Other, // a source in a language that cc knows by its name, or by -x
    Linker // no source: an object, an archive, -l..., -Wl,...
};

struct Input {
    std::string path;
    Language language = Language::Linker;
    std::string x; // the value of -x, or empty

    bool is_cxx() const;

    // Returns the name of the file without its folder and its ending.
    std::string stem() const;
};

enum class SaveTemps { No, Here, WithResult };

struct Options {
    Stage stage = Stage::Link;
    std::vector<Input> inputs; // sources and arguments of the linker, in their order
    std::string output;
    std::string cc;                           // -cc; empty if the environment decides
    std::vector<std::string> both;            // for every run of cc: -std= -O -f -m -pthread
    std::vector<std::string> preprocess;      // -I -D -U -include -isystem
    std::vector<std::string> preprocess_only; // -P -C -dM, which only matter with -E
    std::vector<std::string> dependency;      // -M..., except -MF
    std::vector<std::string> compile;         // -g -W...
    std::vector<std::string> ask_cc;          // -dumpmachine -print-search-dirs ...
    std::vector<std::string> doubtful;        // those that look like splitcc's own, misspelled
    std::string dependency_file;              // -MF
    bool dependencies = false;                // -MD or -MMD
    bool dependency_target = false;           // -MT or -MQ
    bool only_dependencies = false;           // -M or -MM
    bool show = false;                        // print the commands, run none
    bool verbose = false;
    SaveTemps save_temps = SaveTemps::No;
    // the C compiler writes more files beside the object, as with --coverage
    bool files_beside_object = false;
    bool pie = false;    // -pie, which is not possible
    bool shared = false; // -shared or -r: the result is no program
    bool is_static = false;
    bool exports = false;   // the program shows its names to libraries
    bool sanitizer = false; // a sanitizer that replaces functions of libc
    WarningOptions warnings;
    bool color = false;
    bool json = false; // messages in gcc's JSON
    unsigned error_limit = 20;
    bool help = false, version = false;
    bool checks = false;       // -fcheck
    bool profile = false;      // -fprofile-lines
    bool old_programs = false; // -fold-programs
    std::string print;         // what -print-... asks for, if splitcc knows it
    std::string standard;
    std::string index; // -findex=: the file for what editors ask of the source
};

// Thrown for a command line that makes no sense; what() is the message to the user.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace splitcc
