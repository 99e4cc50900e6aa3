// SPDX-License-Identifier: BSD-3-Clause
//
// The fixture of the driver's tests: a folder for each case, with a private TMPDIR that has to be
// empty at the end.
#pragma once

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <sys/wait.h>

namespace fs = std::filesystem;

struct Outcome {
    int code;
    std::string out, err;
};

inline std::string read(const fs::path &path)
{
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

inline const char *const kMain = "#include <split-c/split-c.h>\n"
                                 "int twice(int);\n"
                                 "int splitc_main(void)\n"
                                 "{\n"
                                 "    int A[PROCS]::;\n"
                                 "    A[MYPROC] = 21;\n"
                                 "    return twice(A[MYPROC]) != 42;\n"
                                 "}\n";
inline const char *const kTwice = "int twice(int x)\n{\n    return 2 * x;\n}\n";
inline const char *const kAlone = "int *global g;\nint f(void)\n{\n    return *g;\n}\n";
inline const char *const kWrong = "int *global g;\nint f(void)\n{\n    return g * 2;\n}\n";

class Folder {
public:
    Folder()
    {
        std::string pattern = (fs::temp_directory_path() / "splitcc-driver-XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()));
        root_ = pattern;
        fs::create_directories(root_ / "tmp");
        fs::create_directories(work());
    }

    ~Folder()
    {
        CHECK(fs::is_empty(root_ / "tmp")); // nothing may be left behind
        std::error_code ignored;
        fs::remove_all(root_, ignored);
    }

    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;

    fs::path work() const { return root_ / "work"; }

    void file(const std::string &name, const std::string &text) const
    {
        fs::create_directories((work() / name).parent_path());
        std::ofstream(work() / name) << text;
    }

    void script(const std::string &name, const std::string &text) const
    {
        file(name, "#!/bin/sh\n" + text);
        fs::permissions(work() / name, fs::perms::owner_all);
    }

    bool has(const std::string &name) const { return fs::exists(work() / name); }

    std::string text(const std::string &name) const { return read(work() / name); }

    // Returns the names of the files there that are not among the sources.
    std::set<std::string> others(const std::set<std::string> &sources) const
    {
        std::set<std::string> names;
        for (const auto &entry : fs::directory_iterator(work()))
            if (!sources.count(entry.path().filename().string()))
                names.insert(entry.path().filename().string());
        return names;
    }

    Outcome shell(const std::string &command) const
    {
        std::string full = "cd '" + work().string() + "' && export TMPDIR='" +
                           (root_ / "tmp").string() + "' && ( " + command + " ) >'" +
                           (root_ / "out").string() + "' 2>'" + (root_ / "err").string() + "'";
        int status = std::system(full.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                read(root_ / "out"), read(root_ / "err")};
    }

    Outcome splitcc(const std::string &arguments, const std::string &environment = "") const
    {
        return shell("env " + environment + " timeout 60 '" SPLITCC_BIN_FOLDER "/splitcc' " +
                     arguments);
    }

private:
    fs::path root_;
};

// Checks for one line on standard error, from splitcc itself, that has these words.
inline void check_refused(const Outcome &outcome, const std::string &words)
{
    INFO("standard error: " << outcome.err);
    CHECK(outcome.code == 1);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.rfind("splitcc: ", 0) == 0);
    CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
    CHECK_THAT(outcome.err, Catch::Contains(words));
}

inline void check_fine(const Outcome &outcome)
{
    INFO("standard error: " << outcome.err);
    CHECK(outcome.code == 0);
}

using Catch::Contains;
using Names = std::set<std::string>;
