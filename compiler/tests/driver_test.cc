// SPDX-License-Identifier: BSD-3-Clause
//
// The driver: splitcc as make and people call it.  Each case works in a folder of
// its own, with a private TMPDIR that has to be empty whatever happened.
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

namespace {

struct Outcome {
    int code;
    std::string out, err;
};

std::string read(const fs::path &path)
{
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

const char *const kMain = "#include <split-c/split-c.h>\n"
                          "int twice(int);\n"
                          "int splitc_main(void)\n"
                          "{\n"
                          "    int A[PROCS]::;\n"
                          "    A[MYPROC] = 21;\n"
                          "    return twice(A[MYPROC]) != 42;\n"
                          "}\n";
const char *const kTwice = "int twice(int x)\n{\n    return 2 * x;\n}\n";
const char *const kAlone = "int *global g;\nint f(void)\n{\n    return *g;\n}\n";
const char *const kWrong = "int *global g;\nint f(void)\n{\n    return g * 2;\n}\n";

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
        CHECK(fs::is_empty(root_ / "tmp")); // whatever the case did
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

    // The names of what is there, the sources given apart.
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

// One line on standard error, from splitcc itself, that has these words.
void check_refused(const Outcome &outcome, const std::string &words)
{
    INFO("standard error: " << outcome.err);
    CHECK(outcome.code == 1);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.rfind("splitcc: ", 0) == 0);
    CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
    CHECK_THAT(outcome.err, Catch::Contains(words));
}

void check_fine(const Outcome &outcome)
{
    INFO("standard error: " << outcome.err);
    CHECK(outcome.code == 0);
}

using Catch::Contains;
using Names = std::set<std::string>;

} // namespace

TEST_CASE("option -c makes one object for each source, here")
{
    Folder folder;
    folder.file("sub/a.sc", kAlone);
    folder.file("b.sc", kTwice);
    folder.file("c.c", "int c;\n");
    check_fine(folder.splitcc("-c sub/a.sc b.sc c.c"));
    CHECK(folder.others({"sub", "b.sc", "c.c"}) == Names{"a.o", "b.o", "c.o"});
}

TEST_CASE("option -S, -E and -trans stop where they say")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    check_fine(folder.splitcc("-S a.sc"));
    CHECK_THAT(folder.text("a.s"), Contains("splitc_far_read"));
    check_fine(folder.splitcc("-trans a.sc"));
    CHECK_THAT(folder.text("a.trans.c"), Contains("splitc_read"));
    Outcome preprocessed = folder.splitcc("-E a.sc");
    check_fine(preprocessed);
    CHECK_THAT(preprocessed.out, Contains("return *g;"));
    CHECK(folder.others({"a.sc"}) == Names{"a.s", "a.trans.c"});
}

TEST_CASE("option -o names the result of every stage")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    fs::create_directories(folder.work() / "out");
    check_fine(folder.splitcc("-c a.sc -o out/x.o"));
    check_fine(folder.splitcc("-S -oout/x.s a.sc"));
    check_fine(folder.splitcc("-E a.sc -o out/x.i"));
    check_fine(folder.splitcc("-trans a.sc -o out/x.c"));
    CHECK(folder.has("out/x.o"));
    CHECK_THAT(folder.text("out/x.s"), Contains("splitc_far_read"));
    CHECK_THAT(folder.text("out/x.i"), Contains("return *g;"));
    CHECK_THAT(folder.text("out/x.c"), Contains("splitc_read"));
    CHECK(folder.others({"a.sc"}) == Names{"out"});
    Outcome shown = folder.splitcc("-trans a.sc -o -");
    check_fine(shown);
    CHECK(shown.out == folder.text("out/x.c"));
}

TEST_CASE("option -show prints commands and makes nothing")
{
    Folder folder;
    folder.file("a b.sc", kAlone);
    Outcome shown = folder.splitcc("-show -O2 'a b.sc' -lm -o prog");
    check_fine(shown);
    CHECK_THAT(shown.out, Contains("-E") && Contains("-O2") && Contains("-lsplitc") &&
                              Contains("-lm") && Contains("'a b.sc'"));
    CHECK(folder.others({"a b.sc"}).empty());
}

TEST_CASE("option -MD writes the dependencies of the object beside it")
{
    Folder folder;
    folder.file("a.sc", "#include \"inner.h\"\n#include <stddef.h>\nint *global g;\n");
    folder.file("inner.h", "#include \"sub/more.h\"\n");
    folder.file("sub/more.h", "extern int n;\n");
    fs::create_directories(folder.work() / "out");

    check_fine(folder.splitcc("-MD -c a.sc"));
    CHECK_THAT(folder.text("a.d"), Catch::StartsWith("a.o:") && Contains("a.sc") &&
                                       Contains("inner.h") && Contains("sub/more.h") &&
                                       Contains("stddef.h") && Contains("abi.h"));
    check_fine(folder.splitcc("-MMD -c a.sc -o out/x.o"));
    CHECK_THAT(folder.text("out/x.d"),
               Catch::StartsWith("out/x.o:") && Contains("inner.h") && !Contains("stddef.h"));
    check_fine(folder.splitcc("-MMD -MF out/deps -MT target -c a.sc"));
    CHECK_THAT(folder.text("out/deps"), Catch::StartsWith("target:") && Contains("inner.h"));
    Outcome listed = folder.splitcc("-MM a.sc");
    check_fine(listed);
    CHECK_THAT(listed.out, Catch::StartsWith("a.o:") && Contains("sub/more.h"));
}

TEST_CASE("make rebuilds by the dependencies")
{
    Folder folder;
    folder.file("a.sc", "#include \"a.h\"\nint *global g = N;\n");
    folder.file("a.h", "#define N 0\n");
    folder.file("Makefile", "a.o: a.sc\n\t'" SPLITCC_BIN_FOLDER "/splitcc' -MD -c a.sc\n"
                            "-include a.d\n");
    check_fine(folder.shell("make -s"));
    Outcome again = folder.shell("make -q");
    CHECK(again.code == 0);
    CHECK(folder.shell("touch -d '+1 minute' a.h && make -q").code == 1);
}

TEST_CASE("options come from @files too, quoted")
{
    Folder folder;
    folder.file("a.sc", "int *global g;\nchar *text = TEXT;\nint n = N;\n");
    folder.file("inner", "-DN=3\n");
    folder.file("options", "-c  '-DTEXT=\"a b\"'\n@inner \"a\".sc\n-o out\\ put.o");
    check_fine(folder.splitcc("@options"));
    CHECK(folder.has("out put.o"));
    folder.file("self", "@self");
    check_refused(folder.splitcc("@self"), "nest");
}

TEST_CASE("option -x says which language follows")
{
    Folder folder;
    folder.file("a.txt", kAlone);
    folder.file("b.c", kAlone);
    folder.file("c.c", "int global = 1;\n");
    check_fine(folder.splitcc("-c -x splitc a.txt b.c -x none c.c"));
    CHECK(folder.others({"a.txt", "b.c", "c.c"}) == Names{"a.o", "b.o", "c.o"});
    CHECK(folder.splitcc("-c b.c").code == 1); // plain C again
    check_refused(folder.splitcc("-trans c.c"), "'c.c'");
    check_refused(folder.splitcc("-c a.txt -x"), "'-x'");
}

TEST_CASE("macros and headers reach the preprocessor")
{
    Folder folder;
    folder.file("a.sc", "#include <mine.h>\n#ifdef GONE\n#error defined\n#endif\n"
                        "int *global g = VALUE;\nint n = OTHER + FROM_FILE + __SPLITC__;\n");
    folder.file("inc/mine.h", "#define OTHER 1\n");
    folder.file("force.h", "#define FROM_FILE 2\n");
    check_fine(folder.splitcc("-c a.sc -I inc -DVALUE=0 -D GONE -UGONE -include force.h"));
    CHECK(folder.splitcc("-c a.sc -I inc -DVALUE=0 -DGONE -include force.h").code == 1);
}

TEST_CASE("paths may have spaces and quotes")
{
    Folder folder;
    folder.file("it's a \"dir\"/my prog.sc", kAlone);
    check_fine(folder.splitcc("-c \"it's a \\\"dir\\\"/my prog.sc\" -o \"the object.o\""));
    CHECK(folder.has("the object.o"));
    folder.file("it's a \"dir\"/wrong.sc", kWrong);
    Outcome wrong = folder.splitcc("-c \"it's a \\\"dir\\\"/wrong.sc\"");
    CHECK(wrong.code == 1);
    CHECK_THAT(wrong.err, Catch::StartsWith("it's a \"dir\"/wrong.sc:4:14: error: "));
}

TEST_CASE("what makes no sense is refused in one line")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    folder.file("b.sc", kAlone);
    check_refused(folder.splitcc(""), "no input files");
    check_refused(folder.splitcc("-c none.sc"), "'none.sc'");
    check_refused(folder.splitcc("-c a.sc --no-such-option"), "'--no-such-option'");
    check_refused(folder.splitcc("-c a.sc b.sc -o both.o"), "-o");
    check_refused(folder.splitcc("-c a.sc -o"), "'-o'");
    check_refused(folder.splitcc("-c a.sc -I"), "'-I'");
    check_refused(folder.splitcc("-trans a.sc -o none/a.c"), "'none/a.c'");
    CHECK(folder.others({"a.sc", "b.sc"}).empty());
}

TEST_CASE("the C compiler is chosen by SPLITCC_CC")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    for (std::string cc : {"gcc", "clang"}) {
        INFO(cc);
        check_fine(folder.splitcc("-c -Wall -Werror a.sc -o " + cc + ".o", "SPLITCC_CC=" + cc));
        CHECK(folder.has(cc + ".o"));
        CHECK_THAT(folder.splitcc("-show -c a.sc", "SPLITCC_CC=" + cc).out,
                   Catch::StartsWith(cc + " "));
    }
    Outcome missing = folder.splitcc("-c a.sc", "SPLITCC_CC=no-such-cc");
    CHECK(missing.code != 0);
    CHECK_THAT(missing.err, Contains("no-such-cc"));
}

TEST_CASE("a failure leaves no result and no temporary file")
{
    Folder folder;
    folder.file("wrong.sc", kWrong);
    folder.file("no_header.sc", "#include \"none.h\"\n");
    folder.file("cc_refuses.sc", "int *global g;\nint n = \"text\" + 1.5;\n");
    for (std::string name : {"wrong", "no_header", "cc_refuses"})
        for (std::string stage : {"-c", "-S", ""}) {
            INFO(name << ' ' << stage);
            Outcome outcome = folder.splitcc(stage + " " + name + ".sc -o result");
            CHECK(outcome.code == 1);
            CHECK_THAT(outcome.err, Contains(name + ".sc:"));
        }
    CHECK(folder.splitcc("-trans wrong.sc").code == 1);
    CHECK(folder.others({"wrong.sc", "no_header.sc", "cc_refuses.sc"}).empty());
}

TEST_CASE("one bad source among several fails the whole")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    folder.file("wrong.sc", kWrong);
    folder.file("b.sc", kTwice);
    Outcome outcome = folder.splitcc("-c a.sc wrong.sc b.sc");
    CHECK(outcome.code == 1);
    CHECK(folder.others({"a.sc", "b.sc", "wrong.sc"}) == Names{"a.o", "b.o"});
    CHECK(folder.splitcc("a.sc wrong.sc b.sc -o prog").code == 1);
    CHECK_FALSE(folder.has("prog"));
}

TEST_CASE("a signal leaves nothing behind")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    // The compiler proper, at work on the temporary file, interrupts its parent.
    folder.script("cc", "for word; do\n"
                        "    [ \"$word\" = -E ] && exec cc \"$@\"\n"
                        "done\n"
                        "kill -TERM $PPID\n"
                        "exit 1\n");
    Outcome outcome = folder.shell("SPLITCC_CC=./cc '" SPLITCC_BIN_FOLDER "/splitcc' -c a.sc");
    CHECK(outcome.code == 128 + 15);
    CHECK(folder.others({"a.sc", "cc"}).empty());
}

TEST_CASE("messages of the C compiler name the source's lines")
{
    Folder folder;
    folder.file("a.sc", "int *global g;\n\nint f(void)\n{\n    int unused_one;\n"
                        "    return *g;\n}\n");
    Outcome outcome = folder.splitcc("-c -Wall a.sc");
    check_fine(outcome);
    CHECK_THAT(outcome.err, Contains("a.sc:5:9") && Contains("unused_one") && !Contains("splitc_"));
}

TEST_CASE("option -save-temps keeps the translation")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    check_fine(folder.splitcc("-save-temps -c a.sc"));
    CHECK(folder.others({"a.sc"}) == Names{"a.o", "a.trans.c"});
}

TEST_CASE("option --version and --help")
{
    Folder folder;
    Outcome version = folder.splitcc("--version"), help = folder.splitcc("--help");
    check_fine(version);
    CHECK_THAT(version.out, Catch::StartsWith("splitcc "));
    check_fine(help);
    for (const char *option : {"-c", "-S", "-E", "-trans", "-o", "-x", "-show", "SPLITCC_CC"})
        CHECK_THAT(help.out, Contains(option));
}

#ifdef WITH_RUNTIME

TEST_CASE("sources, objects, archives and libraries make one program")
{
    Folder folder;
    folder.file("main.sc", kMain);
    folder.file("twice.c", kTwice);
    folder.file("half.c", "double floor(double);\nint half(double x) { return floor(x / 2); }\n");
    check_fine(folder.splitcc("main.sc twice.c -o both"));
    CHECK(folder.shell("./both").code == 0);
    check_fine(folder.splitcc("-c main.sc twice.c half.c"));
    check_fine(folder.splitcc("main.o twice.o -o linked"));
    CHECK(folder.shell("./linked").code == 0);
    check_fine(folder.shell("ar rc libhelp.a twice.o half.o"));
    check_fine(folder.splitcc("main.sc -L. -lhelp -lm"));
    CHECK(folder.shell("./a.out").code == 0);
    check_fine(folder.splitcc("main.o libhelp.a -o archive"));
    CHECK(folder.shell("./archive").code == 0);
    CHECK(folder.splitcc("main.o -o undefined").code != 0);
    CHECK_FALSE(folder.has("undefined"));
}

TEST_CASE("checked and unchecked objects make one program")
{
    Folder f;
    f.file("main.sc", "#include <split-c/split-c.h>\n"
                      "extern int follow(int *global g);\n"
                      "int splitc_main(int argc, char **argv)\n"
                      "{\n"
                      "    int *spread p = all_spread_malloc(PROCS, 4);\n"
                      "    *p = 1;\n"
                      "    if (argc == 2)\n"
                      "        all_spread_free(p + 1);\n"
                      "    return follow(argc == 3 ? 0 : p) - 1;\n"
                      "}\n");
    f.file("follow.sc", "#include <split-c/split-c.h>\n"
                        "int follow(int *global g) { return *g; }\n");
    auto says = [&](const char *command, const char *expected) {
        Outcome ran = f.shell(command);
        INFO(command << " printed: " << ran.err);
        CHECK(ran.code == 1);
        CHECK(ran.err.find(expected) == 0);
    };
    check_fine(f.splitcc("-c main.sc follow.sc"));
    check_fine(f.splitcc("-c -fcheck main.sc -o main_checked.o"));
    check_fine(f.splitcc("-c -fcheck follow.sc -o follow_checked.o"));

    check_fine(f.splitcc("main_checked.o follow.o -o a"));
    CHECK(f.shell("./a").code == 0);
    says("./a x", "main.sc:8: rank 0: all_spread_free of (0, 0x");
    says("./a x y", "splitc: rank 0: null global pointer");

    check_fine(f.splitcc("main.o follow_checked.o -o b"));
    CHECK(f.shell("./b").code == 0);
    says("./b x", "splitc: rank 0: all_spread_free of (0, 0x");
    says("./b x y", "follow.sc:2: rank 0: 4 bytes at (0, 0) cannot be read");

    check_fine(f.splitcc("-fcheck main.o follow.o -o c"));
    CHECK(f.shell("./c").code == 0);
    says("./c x", "splitc: rank 0: all_spread_free of (0, 0x");
}

TEST_CASE("an object of plain C goes into a program that is linked as cc links by default")
{
    Folder f;
    f.file("table.sc", "int table[4] = {1, 2, 3, 4};\n"
                       "int at(int i) { static int calls; calls++; return table[i] + calls; }\n");
    f.file("main.c", "int at(int i);\nint main(void) { return at(2) - 4; }\n");
    check_fine(f.splitcc("-O2 -c table.sc"));
    check_fine(f.shell("cc -pie -fPIE main.c table.o -o program && ./program"));
}

TEST_CASE("tentative definitions in a header are one object")
{
    Folder folder;
    folder.file("shared.h", "#include <split-c/split-c.h>\nint *global g;\nint n;\n"
                            "int A[PROCS]::[2];\nstruct { int a; int *spread s; } both;\n");
    folder.file("main.sc", "#include \"shared.h\"\nsplitc_main()\n{\n    n = 3;\n    g = &n;\n"
                           "    A[MYPROC][1] = 5;\n    both.s = A;\n    return look() != 13;\n}\n");
    folder.file("look.sc",
                "#include \"shared.h\"\nlook()\n{\n"
                "    return *g + A[MYPROC][1] + (both.s + MYPROC)[0] + tolocal(A[MYPROC])"
                "[1];\n}\n");
    check_fine(folder.splitcc("-std=gnu89 -w main.sc look.sc -o prog"));
    CHECK(folder.shell("./prog").code == 0);
    check_fine(folder.splitcc("-fcommon -w -c look.sc main.sc"));
    check_fine(folder.splitcc("look.o main.o -o other"));
    CHECK(folder.shell("./other").code == 0);
}

TEST_CASE("a program from the -print options and cc alone")
{
    Folder folder;
    folder.file("main.sc", kMain);
    folder.file("twice.c", kTwice);
    check_fine(folder.splitcc("-c main.sc"));
    check_fine(folder.shell("splitcc='" SPLITCC_BIN_FOLDER "/splitcc'; "
                            "eval cc $(\"$splitcc\" -print-cflags) -c twice.c && "
                            "eval cc main.o twice.o -o prog $(\"$splitcc\" -print-libs)"));
    CHECK(folder.shell("./prog").code == 0);
}

TEST_CASE("a source that had to be preprocessed again still finds its headers")
{
    Folder folder;
    folder.file("sub/main.sc", "#include \"near.h\"\nchar *text = \"one\ntwo\";\n"
                               "int splitc_main(void)\n{\n    return text[3] != '\\n' || "
                               "NEAR != 1 || __LINE__ != 6;\n}\n");
    folder.file("sub/near.h", "#define NEAR 1\n");
    check_fine(folder.splitcc("-MD -w sub/main.sc -o prog"));
    CHECK(folder.shell("./prog").code == 0);
}

#endif
