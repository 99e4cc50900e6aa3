// SPDX-License-Identifier: BSD-3-Clause
//
// From one source to one result.
#pragma once

#include <set>
#include <string>

#include "driver/options.h"
#include "driver/toolchain.h"
#include "translate.h"

namespace splitcc {

// Thrown out of what a signal has made pointless.
struct Interrupted {};

class Compiler {
public:
    Compiler(const Options &options, Toolchain &tools) : options_(options), tools_(tools) {}

    // -E, -M and -MM: to the result, or to standard output.
    int preprocess_only(const Input &input);

    // An object, assembly, a translation or nothing, as the stage says.
    int compile(const Input &input, const std::string &result);

private:
    struct Dependencies {
        Command options;  // for the preprocessor
        std::string file; // where they are to be in the end; empty: nowhere of ours
        std::string temporary;
    };
    Command stage_options(const std::string &result) const;
    void add_old_ways(Command &command);
    Command preprocess_command(const Input &input, const Dependencies &dependencies) const;
    Dependencies dependencies(const Input &input, const std::string &result);
    void finish(const Dependencies &dependencies);
    void keep_standard_input();
    std::optional<std::string> source_text(const Input &input) const;
    std::string read_source(const Input &input);
    int preprocess(const Input &input, const Dependencies &dependencies, std::string &text);
    int preprocess_joined(const Input &input, const std::set<uint32_t> &lines, std::string &text);
    std::string translation_name(const Input &input, const std::string &result);
    int translate_to(const std::string &c_file, std::string text);
    int compile_c(const Command &command, const std::string &result);
    int split_c(const Input &input, const std::string &result);
    int other(const Input &input, const std::string &result);

    const Options &options_;
    Toolchain &tools_;
    Translation translation_;    // of the source at hand
    bool translated_ = false;    // it comes from us
    std::string standard_input_; // what came from it, in a file
};

} // namespace splitcc
