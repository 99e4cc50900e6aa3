// SPDX-License-Identifier: BSD-3-Clause
//
// Compiles one source to one result: preprocessor, translation, C compiler.
#pragma once

#include <set>
#include <string>

#include "driver/options.h"
#include "driver/toolchain.h"
#include "translate.h"

namespace splitcc {

class Compiler {
public:
    Compiler(const Options &options, Toolchain &tools) : options_(options), tools_(tools) {}

    // Returns whether a file that is C by its name is Split-C: it includes <split-c/split-c.h>, or
    // belongs to an old program, or splitcc -E has made it of a Split-C source.
    bool is_split_c(const std::string &path);

    // Runs -E, -M and -MM.  The output goes to the result, or to standard output.
    int preprocess_only(const Input &input);

    // Makes an object, assembly or a translation, or only checks, as the stage says.
    int compile(const Input &input, const std::string &result);

private:
    struct Dependencies {
        Command options;  // options for the preprocessor
        std::string file; // the final file; empty if the preprocessor writes it
        std::string temporary;
    };
    // the preprocessor (preprocess.cc)
    Dependencies dependencies(const Input &input, const std::string &result);
    void write_dependencies(const Dependencies &dependencies);
    Command preprocess_command(const Input &input, const Dependencies &dependencies) const;
    void keep_standard_input();
    std::optional<std::string> source_text(const Input &input) const;
    std::string read_source(const Input &input);
    int preprocess(const Input &input, const Dependencies &dependencies, std::string &text);
    int preprocess_joined(const Input &input, const std::set<uint32_t> &lines, std::string &text);

    // translation and the C compiler (compile.cc)
    std::string translation_name(const Input &input, const std::string &result);
    Translation translate_text(const std::string &source, std::string text);
    void translate_with_messages(const Input &input, const Dependencies &dependencies);
    int write_translation(const std::string &c_file);
    Command stage_options(const std::string &result) const;
    void add_old_program_options(Command &command);
    int compile_c(const Command &command, const std::string &result);
    int compile_split_c(const Input &input, const std::string &result);
    int compile_other(const Input &input, const std::string &result);

    const Options &options_;
    Toolchain &tools_;
    Translation translation_;       // the translation of the current source
    bool implied_messages_ = false; // <split-c/am.h> is included though it does not say so
    bool translated_ = false;       // splitcc has made the current source
    std::string standard_input_;    // the file that keeps the text of standard input
};

} // namespace splitcc
