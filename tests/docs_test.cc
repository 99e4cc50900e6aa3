// SPDX-License-Identifier: BSD-3-Clause
//
// The examples of docs/*.md.  A fenced block whose info string begins with `splitc`
// is a program, and the blocks right after it say what it does:
//
//   splitc compile   translates and compiles without a message
//   splitc run       and runs: prints the next `output` block (lines in any order) and
//                    ends with 0
//   splitc warning   compiles with exactly the messages of the next `message` block
//   splitc error     the same, and does not compile
//
// Words that may follow: `body` (the block is what stands inside splitc_main),
// `ranks=1,4`, `flags=-std=gnu89,-O2`, `uses=vmmc` (libraries), `exit=3`; a `message` block after a
// `run` is what appears on standard error, process ids as "(pid N)".  The file is called
// example.sc, or example.cc with the word `c++`.
#include "splitc_run.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

namespace {

struct Example {
    size_t line = 0; // of its fence
    std::string kind;
    std::map<std::string, std::string> settings; // ranks=2 as {"ranks", "2"}
    std::string code;
    std::optional<std::string> output, message;

    std::string setting(const std::string &key, const std::string &otherwise) const
    {
        const auto found = settings.find(key);
        return found == settings.end() ? otherwise : found->second;
    }
};

struct Block {
    size_t line = 0;
    std::string info, text;
};

[[noreturn]] void malformed(const std::string &document, size_t line, const std::string &what)
{
    FAIL("docs/" << document << ":" << line << ": " << what);
    throw; // FAIL does not return
}

std::vector<Block> blocks(const std::string &document)
{
    std::istringstream lines(read_file(PROJECT_SOURCE "/docs/" + document));
    std::vector<Block> all;
    bool inside = false;
    size_t number = 0;

    for (std::string line; std::getline(lines, line);) {
        number++;
        const bool fence = line.rfind("```", 0) == 0;
        if (fence && !inside)
            all.push_back({number, line.substr(3), ""});
        else if (!fence && inside)
            all.back().text += line + "\n";
        inside = inside != fence;
    }
    if (inside)
        malformed(document, all.back().line, "this block is never closed");
    return all;
}

std::vector<std::string> split(const std::string &text, char separator)
{
    std::istringstream in(text);
    std::vector<std::string> words;

    for (std::string word; std::getline(in, word, separator);)
        if (!word.empty())
            words.push_back(word);
    return words;
}

Example example_of(const std::string &document, const Block &block)
{
    static const std::vector<std::string> kinds = {"compile", "run", "warning", "error"};
    static const std::vector<std::string> keys = {"body", "ranks", "flags", "uses", "exit", "c++"};
    const auto knows = [](const std::vector<std::string> &all, const std::string &word) {
        return std::find(all.begin(), all.end(), word) != all.end();
    };
    const std::vector<std::string> words = split(block.info, ' ');
    Example example;

    example.line = block.line;
    example.code = block.text;
    if (words.size() < 2 || !knows(kinds, words[1]))
        malformed(document, block.line, "an example is 'splitc compile', run, warning or error");
    example.kind = words[1];
    for (size_t i = 2; i < words.size(); i++) {
        const size_t equals = std::min(words[i].find('='), words[i].size());
        const std::string key = words[i].substr(0, equals);
        if (!knows(keys, key))
            malformed(document, block.line, "unknown setting '" + words[i] + "'");
        example.settings[key] = equals < words[i].size() ? words[i].substr(equals + 1) : "";
    }
    return example;
}

std::vector<Example> examples(const std::string &document)
{
    std::vector<Example> all;
    bool open = false; // whether `output` and `message` belong to the last example

    for (const Block &block : blocks(document)) {
        const bool result = block.info == "output" || block.info == "message";
        if (result && !open)
            malformed(document, block.line, "'" + block.info + "' follows no example");
        if (block.info == "output")
            all.back().output = block.text;
        else if (block.info == "message")
            all.back().message = block.text;
        else if (block.info == "splitc" || block.info.rfind("splitc ", 0) == 0)
            all.push_back(example_of(document, block));
        open = result || block.info.rfind("splitc", 0) == 0;
    }
    return all;
}

// The block as a file of its own; one that is a body, in splitc_main.  Messages show
// example.sc as the document does.
std::string write_source(const TemporaryFolder &folder, const Example &example)
{
    const std::string name = example.settings.count("c++") ? "example.cc" : "example.sc";

    write_file(folder / name, example.code);
    if (!example.settings.count("body"))
        return name;
    write_file(folder / "body.sc", "#include <split-c/split-c.h>\n#include <stdio.h>\n"
                                   "int splitc_main(int argc, char *argv[])\n{\n"
                                   "(void)argc; (void)argv;\n"
                                   "#line 1 \"example.sc\"\n" +
                                       example.code + "return 0;\n}\n");
    return "body.sc";
}

std::string sorted(const std::string &text)
{
    std::vector<std::string> lines = split(text, '\n');
    std::string joined;

    std::sort(lines.begin(), lines.end());
    for (const std::string &line : lines)
        joined += line + "\n";
    return joined;
}

Outcome compile(const TemporaryFolder &folder, const Example &example)
{
    Command command{{compiler()}};

    for (const std::string &flag : split(example.setting("flags", ""), ','))
        command.arguments.push_back(flag);
    for (const std::string &word : {write_source(folder, example), std::string("-o")})
        command.arguments.push_back(word);
    command.arguments.push_back(example.kind == "run" ? "example" : "example.o");
    if (example.kind != "run")
        command.arguments.push_back("-c");
    if (example.kind == "run")
        for (const std::string &library : split(example.setting("uses", ""), ','))
            command.arguments.push_back("-l" + library);
    command.folder = folder.path;
    return run(command);
}

std::string without_pids(const std::string &text)
{
    return std::regex_replace(text, std::regex("\\(pid [0-9]+\\)"), "(pid N)");
}

void check_run(const TemporaryFolder &folder, const Example &example)
{
    for (const std::string &count : split(example.setting("ranks", "4"), ',')) {
        Command command = ranks(std::stoi(count), folder / "example", {});
        command.folder = folder.path;
        const Outcome outcome = run(command);
        INFO("on " << count << " ranks it printed:\n" << outcome.out << outcome.err);
        CHECK(outcome.code == std::stoi(example.setting("exit", "0")));
        CHECK(sorted(outcome.out) == sorted(example.output.value_or("")));
        CHECK(sorted(without_pids(outcome.err)) == sorted(example.message.value_or("")));
    }
}

void check(const std::string &document, size_t number)
{
    const std::vector<Example> all = examples(document);
    REQUIRE(number <= all.size());
    const Example &example = all[number - 1];
    const bool is_run = example.kind == "run";
    const TemporaryFolder folder;

    INFO("docs/" << document << ":" << example.line << ":\n" << example.code);
    const Outcome compiled = compile(folder, example);
    CHECK(compiled.out == "");
    CHECK(compiled.err == (is_run ? "" : example.message.value_or("")));
    REQUIRE(compiled.code == (example.kind == "error" ? 1 : 0));
    if (is_run)
        check_run(folder, example);
    if (example.kind == "warning" || example.kind == "error")
        CHECK(example.message.has_value());
}

} // namespace

#include "docs_examples.inc"
