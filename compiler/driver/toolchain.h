// SPDX-License-Identifier: BSD-3-Clause
//
// The C compiler, and where splitcc's own parts are.
#pragma once

#include <optional>
#include <string>

#include "driver/options.h"
#include "driver/process.h"

namespace splitcc {

[[noreturn]] void fatal(const std::string &message);

class Toolchain {
public:
    explicit Toolchain(const Options &options);

    // The C compiler (of -cc or SPLITCC_CC, which may be several words), called with these.
    Command cc(const Command &words) const;

    // Whether that is clang.
    bool is_clang();

    // Options with which it zeroes automatic variables.
    Command zeroing();

    // Where splitcc is installed: our headers are in include/, our libraries in lib/.
    const std::string &prefix() const { return prefix_; }

    // Prints what is to be run if that is wanted; true if it is to be run.
    bool announce(const Command &command) const;

    // Announce it and run it; its exit code.  A result that a killed command left
    // incomplete is removed.  Standard error goes into the file `errors`, if given.
    int run(const Command &command, const std::string &result, const std::string &errors = "");

    // The same with its standard output put into `output`.
    int run_captured(const Command &command, std::string &output, const std::string &errors);

    // Once for all inputs, made when first needed.
    TemporaryDirectory &temporary();

private:
    Command fitting(const Command &command);
    unsigned macro(const std::string &name);

    Command cc_;
    std::string macros_; // that cc predefines, once one has been asked for
    std::string prefix_;
    bool show_, verbose_;
    std::optional<TemporaryDirectory> temporary_;
};

} // namespace splitcc
