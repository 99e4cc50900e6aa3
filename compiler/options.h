// SPDX-License-Identifier: BSD-3-Clause
//
// The command line: what people know from gcc, mpicc and upcc.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "warnings.h"

namespace splitcc {

enum class Stage { Preprocess, Translate, Assembly, Object, Link };

enum class Language { SplitC, Other }; // Other: cc knows by the name, or by -x

struct Input {
    std::string path;
    Language language = Language::Other;
    std::string x; // the -x in force, empty if none
};

struct Options {
    Stage stage = Stage::Link;
    std::vector<Input> inputs; // sources, objects and archives, in order
    std::string output;
    std::vector<std::string> both;       // for every cc: -std= -O -f -m -pthread
    std::vector<std::string> preprocess; // -I -D -U -include -isystem
    std::vector<std::string> dependency; // -M...
    std::vector<std::string> compile;    // -g -W...
    std::vector<std::string> link;       // -L -Wl, -static ... (-l stays among the inputs)
    bool dependencies = false;           // -MD or -MMD
    bool dependency_file = false;        // -MF
    bool dependency_target = false;      // -MT or -MQ
    bool only_dependencies = false;      // -M or -MM
    bool show = false;                   // print commands, run nothing
    bool verbose = false;
    bool save_temps = false;
    WarningOptions warnings;
    bool color = false;
    bool json = false; // messages as gcc's JSON
    unsigned error_limit = 20;
    bool help = false, version = false;
    std::string print; // what -print-... asked for
    std::string standard;
};

// Thrown for a command line that makes no sense; what() is for the user.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

Options parse_options(std::vector<std::string> arguments);

} // namespace splitcc
