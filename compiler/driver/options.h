// SPDX-License-Identifier: BSD-3-Clause
//
// The command line: what people know from gcc, mpicc and upcc.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "diag/warnings.h"

namespace splitcc {

// How far to go; where several are asked for, the first counts.
enum class Stage { Preprocess, Translate, Syntax, Assembly, Object, Link };

enum class Language {
    SplitC,
    Other, // a source in a language that cc knows by its name, or by -x
    Linker // no source: an object, an archive, -l..., -Wl,...
};

struct Input {
    std::string path;
    Language language = Language::Linker;
    std::string x; // the -x in force, empty if none
};

enum class SaveTemps { No, Here, WithResult };

struct Options {
    Stage stage = Stage::Link;
    std::vector<Input> inputs; // sources and what the linker gets, in order
    std::string output;
    std::string cc;                           // the C compiler, if not the environment's
    std::vector<std::string> both;            // for every cc: -std= -O -f -m -pthread
    std::vector<std::string> preprocess;      // -I -D -U -include -isystem
    std::vector<std::string> preprocess_only; // -P -C -dM: where it ends with -E
    std::vector<std::string> dependency;      // -M... but -MF
    std::vector<std::string> compile;         // -g -W...
    std::vector<std::string> ask_cc;          // -dumpmachine -print-search-dirs ...
    std::string dependency_file;              // -MF
    bool dependencies = false;                // -MD or -MMD
    bool dependency_target = false;           // -MT or -MQ
    bool only_dependencies = false;           // -M or -MM
    bool show = false;                        // print commands, run nothing
    bool verbose = false;
    SaveTemps save_temps = SaveTemps::No;
    bool files_beside_object = false; // --coverage and its like put more files there
    bool pie = false;                 // -pie, which programs cannot be
    bool shared = false;              // -shared or -r: no program comes out
    bool is_static = false;
    bool exports = false;   // the program shows its names to libraries
    bool sanitizer = false; // one that takes the place of libc's functions
    WarningOptions warnings;
    bool color = false;
    bool json = false; // messages as gcc's JSON
    unsigned error_limit = 20;
    bool help = false, version = false;
    bool checks = false;       // -fcheck
    bool profile = false;      // -fprofile-lines
    bool old_programs = false; // -fold-programs
    std::string print;         // what -print-... asked for, of ours
    std::string standard;
};

// Thrown for a command line that makes no sense; what() is for the user.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

Options parse_options(std::vector<std::string> arguments);

} // namespace splitcc
