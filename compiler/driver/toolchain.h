// SPDX-License-Identifier: BSD-3-Clause
//
// The C compiler, and where splitcc is installed.
#pragma once

#include <optional>
#include <string>

#include "driver/options.h"
#include "driver/process.h"

namespace splitcc {

[[noreturn]] void fatal(const std::string &message);

// Writes out what has been printed on standard output; it is an error if that does not take it.
void flush_standard_output();

class Toolchain {
public:
    explicit Toolchain(const Options &options);

    // Returns a call of the C compiler, which -cc or SPLITCC_CC name (possibly in several words).
    Command cc(const Command &words) const;

    // Returns whether the C compiler has the option, which it is asked for.
    bool knows(const std::string &option);

    // Returns whether the C compiler is clang, which it is asked if the name of its file does not
    // say.
    bool is_clang();

    // Returns the options that make it initialize automatic variables with zeros.
    Command zeroing();

    // Returns the prefix: headers are in include/ below it, libraries in lib/.
    const std::string &prefix() const { return prefix_; }

    // Returns the options by which headers are found: as <split-c/NAME> and, unless the program has
    // one of that name, as <NAME>.
    Command include_options() const;

    // Prints the command if -show or -v are given.  Returns whether it is to be run.
    bool announce(const Command &command) const;

    // Announces and runs the command, and returns its exit code.  If a signal killed it, the
    // incomplete result is removed.  Standard error goes into the file `errors`, if it is given.
    int run(const Command &command, const std::string &result, const std::string &errors = "");

    // Does the same and appends standard output to `output`.
    int run_captured(const Command &command, std::string &output, const std::string &errors);

    // Returns the temporary directory, which is made when it is first needed.
    TemporaryDirectory &temporary();

private:
    Command fitting(const Command &command);
    unsigned macro(const std::string &name);

    Command cc_;
    std::string macros_; // the macros that cc predefines, once one has been asked for
    std::optional<bool> clang_;
    std::string prefix_;
    bool show_, verbose_;
    std::optional<TemporaryDirectory> temporary_;
};

} // namespace splitcc
