// SPDX-License-Identifier: BSD-3-Clause
//
// compile_bench COMPILER [--quick] [--json FILE] - what translation costs in processor time and
// memory, beside what `cc -O2 -c` costs for the C that comes of it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "source.h"

namespace {

using Words = std::vector<std::string>;

struct Cost {
    double seconds = 0; // of a processor, with all that it starts
    double megabytes = 0;
};

struct Row {
    const char *kind; // of source
    long lines;
    Cost preprocessing, whole, cc; // whole: preprocessing and translation
    double translation() const { return std::max(whole.seconds - preprocessing.seconds, 0.0); }
};

struct Options {
    std::string compiler;
    std::string json;
    bool quick = false;
};

class Folder {
public:
    Folder()
    {
        std::string name = std::filesystem::temp_directory_path() / "compile-bench-XXXXXX";
        if (!mkdtemp(name.data()))
            throw std::runtime_error("cannot make a folder like " + name);
        path_ = name;
    }
    ~Folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    std::string file(const std::string &name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

std::string c_compiler()
{
    const char *chosen = std::getenv("SPLITCC_CC");
    return chosen && *chosen ? chosen : "cc";
}

Cost cost_of(const Words &words)
{
    std::vector<char *> argv;
    for (const std::string &word : words)
        argv.push_back(const_cast<char *>(word.c_str()));
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        execvp(argv[0], argv.data());
        std::perror(argv[0]);
        _exit(127);
    }
    int status = 0;
    rusage usage{};
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        throw std::runtime_error(words[0] + " failed on " + words.back());
    auto seconds = [](const timeval &t) { return t.tv_sec + t.tv_usec / 1e6; };
    return {seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss / 1024.0};
}

Cost median_of(int runs, const Words &words)
{
    std::vector<Cost> costs;
    for (int i = 0; i < runs; i++)
        costs.push_back(cost_of(words));
    auto less = [](const Cost &a, const Cost &b) { return a.seconds < b.seconds; };
    std::sort(costs.begin(), costs.end(), less);
    return costs[costs.size() / 2];
}

Row measure(const Options &options, const Folder &folder, const char *kind, const std::string &text,
            int runs)
{
    const long lines = std::count(text.begin(), text.end(), '\n');
    const std::string source = folder.file("m.sc"), c = folder.file("m.c");
    if (!(std::ofstream(source) << text).flush())
        throw std::runtime_error("cannot write " + source);
    Row row{kind, lines, {}, {}, {}};
    row.preprocessing = median_of(runs, {options.compiler, "-E", "-o", folder.file("m.i"), source});
    row.whole = median_of(runs, {options.compiler, "-trans", "-o", c, source});
    row.cc = median_of(runs, {c_compiler(), "-O2", "-w", "-fno-pie", "-x", "cpp-output", "-c", "-o",
                              folder.file("m.o"), c});
    return row;
}

void print_row(const Row &row)
{
    std::printf("%-9s %8ld  %9.3f  %9.3f  %9.3f  %7.1f %%  %7.1f %%  %7.0f  %7.0f  %6.2f\n",
                row.kind, row.lines, row.preprocessing.seconds, row.translation(), row.cc.seconds,
                100 * row.translation() / row.cc.seconds, 100 * row.whole.seconds / row.cc.seconds,
                row.whole.megabytes, row.cc.megabytes, row.whole.megabytes / row.cc.megabytes);
    std::fflush(stdout);
}

void print_table_head()
{
    std::printf("processor seconds; translation alone, and with the preprocessor, as parts of\n"
                "what `%s -O2 -c` takes for the translated file; the most memory in MB\n\n"
                "%-9s %8s  %9s  %9s  %9s  %9s  %9s  %7s  %7s  %6s\n",
                c_compiler().c_str(), "source", "lines", "preproc.", "translate", "cc -O2", "alone",
                "whole", "splitcc", "cc", "ratio");
}

void write_json(const std::string &name, const std::vector<Row> &rows)
{
    std::ofstream out(name);
    const char *separator = "[\n";
    for (const Row &row : rows) {
        out << separator << "  {\"source\": \"" << row.kind << "\", \"lines\": " << row.lines
            << ", \"preprocess_s\": " << row.preprocessing.seconds
            << ", \"translate_s\": " << row.translation() << ", \"cc_s\": " << row.cc.seconds
            << ", \"time_ratio\": " << row.translation() / row.cc.seconds
            << ", \"splitcc_mb\": " << row.whole.megabytes << ", \"cc_mb\": " << row.cc.megabytes
            << ", \"memory_ratio\": " << row.whole.megabytes / row.cc.megabytes << "}";
        separator = ",\n";
    }
    out << "\n]\n";
    if (!out.flush())
        throw std::runtime_error("cannot write " + name);
}

Options parse(int argc, char **argv)
{
    Options options;
    for (int i = 1; i < argc; i++) {
        const std::string word = argv[i];
        if (word == "--quick")
            options.quick = true;
        else if (word == "--json" && i + 1 < argc)
            options.json = argv[++i];
        else if (!word.empty() && word[0] != '-' && options.compiler.empty())
            options.compiler = word;
        else
            throw std::invalid_argument(word);
    }
    return options;
}

void bench(const Options &options)
{
    std::vector<long> sizes{100, 1'000, 10'000};
    if (!options.quick)
        sizes.insert(sizes.end(), {100'000, 250'000});
    const Folder folder;
    std::vector<Row> rows;
    auto add = [&](const char *kind, const std::string &text, int runs) {
        rows.push_back(measure(options, folder, kind, text, runs));
        print_row(rows.back());
    };
    print_table_head();
    for (long size : sizes)
        add("functions", make_source(size), size >= 100'000 ? 1 : size >= 10'000 ? 3 : 9);
    add("table", make_table(options.quick ? 100'000 : 250'000), 5);
    if (!options.json.empty())
        write_json(options.json, rows);
}

} // namespace

int main(int argc, char **argv)
{
    Options options;
    try {
        options = parse(argc, argv);
    } catch (const std::invalid_argument &word) {
        std::fprintf(stderr, "compile_bench: unknown or incomplete argument '%s'\n", word.what());
        return 2;
    }
    if (options.compiler.empty()) {
        std::fputs("usage: compile_bench COMPILER [--quick] [--json FILE]\n", stderr);
        return 2;
    }
    try {
        bench(options);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "compile_bench: %s\n", error.what());
        return 1;
    }
    return 0;
}
