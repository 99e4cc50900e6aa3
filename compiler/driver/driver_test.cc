// SPDX-License-Identifier: BSD-3-Clause
//
// The driver as make and people call it.
#include "driver/driver_folder.h"

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

TEST_CASE("an object is the same each time, and has the name of its source, if strings have lines")
{
    Folder folder;
    folder.file("a.sc", "#include <split-c/split-c.h>\nconst char *text = \"one\ntwo\";\n"
                        "const char *base = __BASE_FILE__;\n");
    for (const std::string cc : {"gcc", "clang"}) {
        INFO(cc);
        check_fine(folder.splitcc("-w -g -c -cc " + cc + " a.sc -o first.o"));
        check_fine(folder.splitcc("-w -g -c -cc " + cc + " a.sc -o second.o"));
        CHECK(folder.text("first.o") == folder.text("second.o"));
        check_fine(folder.splitcc("-w -trans -cc " + cc + " a.sc"));
        CHECK_THAT(folder.text("a.trans.c"), Contains("*base = \"a.sc\""));
    }
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

TEST_CASE("headers are found without their folder, too, but behind the program's own")
{
    Folder folder;
    folder.file("team.h", "#define MINE 3\n");
    folder.file("a.sc", "#include <split-c.h>\n#include \"team.h\"\n#include \"control.h\"\n"
                        "int A[PROCS]::[MINE];\n");
    folder.file("c.c", "#include <abi.h>\n#include \"team.h\"\nint n = MINE;\n");
    check_fine(folder.splitcc("-c a.sc c.c"));
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

TEST_CASE("which compiler it is shows by its file's name, and else by what it says")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    for (const std::string cc : {"gcc", "clang"})
        for (const std::string &make :
             {"ln -s $(command -v " + cc + ") it", "ln -s $(command -v " + cc + ") other-gcc-99",
              "printf '#!/bin/sh\\nexec " + cc + " \"$@\"\\n' >it && chmod +x it"}) {
            INFO(make);
            const std::string name = make.ends_with("99") ? "other-gcc-99" : "it";
            folder.shell("rm -f it other-gcc-99; " + make);
            const Outcome shown = folder.splitcc("-show -std=gnu89 -c a.sc -cc ./" + name);
            check_fine(shown);
            CHECK((shown.out.find("-Wno-error=return-type") != std::string::npos) ==
                  (cc == "clang"));
        }
}

TEST_CASE("the C compiler is chosen by -cc or SPLITCC_CC")
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
    for (std::string option : {"-cc clang", "-cc=clang"})
        CHECK_THAT(folder.splitcc("-show " + option + " -c a.sc", "SPLITCC_CC=gcc").out,
                   Catch::StartsWith("clang "));
    Outcome missing = folder.splitcc("-c a.sc", "SPLITCC_CC=no-such-cc");
    CHECK(missing.code != 0);
    CHECK_THAT(missing.err, Contains("no-such-cc"));
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

TEST_CASE("an answer that cannot be written is no success")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    folder.file("b.c", kTwice);
    const std::string option = GENERATE("--help", "--version", "-print-options", "-print-prefix",
                                        "-dumpmachine", "a.sc -show", "-trans -o - a.sc",
                                        "-MD -MF - -c a.sc", "-MD -MF - -c b.c", "-M -MF - a.sc");
    Outcome outcome = folder.splitcc("-cc gcc " + option + " >/dev/full");
    INFO(option << ": " << outcome.err);
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err,
               Contains("splitcc: ") &&
                   Contains("cannot write to standard output: No space left on device\n"));
}

TEST_CASE("what the C compiler cannot write to standard output is no success")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    const std::string cc = GENERATE("gcc", "clang");
    for (const std::string what : {"-E", "-M", "-MM -MT x", "-S -o -", "-E -o -"}) {
        INFO(cc << " " << what);
        Outcome outcome = folder.splitcc("-cc " + cc + " " + what + " a.sc >/dev/full");
        CHECK(outcome.code != 0);
        CHECK_THAT(outcome.err, Contains("No space left on device"));
    }
}

TEST_CASE("of several stages the first one counts")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    Outcome preprocessed = folder.splitcc("-E -c a.sc");
    check_fine(preprocessed);
    CHECK_THAT(preprocessed.out, Contains("return *g;"));
    check_fine(folder.splitcc("-c -S a.sc"));
    CHECK(folder.others({"a.sc"}) == Names{"a.s"});
}

TEST_CASE("option -fsyntax-only checks and makes nothing")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    folder.file("b.c", kTwice);
    folder.file("wrong.sc", kWrong);
    folder.file("wrong.c", "int f(void) { return x; }\n");
    check_fine(folder.splitcc("-fsyntax-only a.sc b.c"));
    CHECK(folder.splitcc("-fsyntax-only wrong.sc").code == 1);
    CHECK(folder.splitcc("-fsyntax-only wrong.c").code == 1);
    CHECK(folder.others({"a.sc", "b.c", "wrong.sc", "wrong.c"}).empty());
}

TEST_CASE("standard input is a source, results go to standard output")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    folder.file("two_lines.sc", "char *text = \"one\ntwo\";\nint *global g;\n");
    check_fine(folder.splitcc("-x splitc -c - -o a.o <a.sc"));
    check_fine(folder.splitcc("-x splitc -w -c - -o b.o <two_lines.sc"));
    check_fine(folder.shell("cat two_lines.sc | '" SPLITCC_BIN_FOLDER
                            "/splitcc' -x splitc -w -S - -o - >c.s"));
    CHECK(folder.others({"a.sc", "two_lines.sc"}) == Names{"a.o", "b.o", "c.s"});
    CHECK_THAT(folder.text("c.s"), Contains("one\\ntwo"));
    // It is read again with <split-c/am.h>.
    CHECK_THAT(folder
                   .splitcc("-std=gnu89 -x splitc -S -o - - <<'END'\n"
                            "work() {}\nsend() { am_request_0(0, work); }\nEND\n")
                   .out,
               Contains("send:") && Contains("splitc_am_request_0"));
    Outcome wrong = folder.splitcc("-x splitc -c - <<'END'\nint *global g = 1 +;\nEND\n");
    CHECK(wrong.code == 1);
    CHECK_THAT(wrong.err, Catch::StartsWith("<stdin>:1:"));
    CHECK_THAT(folder.splitcc("-E -dM - </dev/null").out, Contains("#define __SPLITC__ 1"));
    CHECK_THAT(folder.splitcc("-E - <a.sc").out, Contains("return *g;"));
    CHECK_THAT(folder.splitcc("-S -o - a.sc").out, Contains("splitc_far_read"));
    check_refused(folder.splitcc("-c - <a.sc"), "'-x splitc -'");
    check_refused(folder.splitcc("-x splitc -c - - <a.sc"), "only once");
}

TEST_CASE("dependencies are named as the C compiler names them")
{
    Folder folder;
    folder.file("a.sc", kMain);
    folder.file("b.c", kTwice);
    folder.file("wrong.sc", kWrong);
    check_fine(folder.splitcc("-MMD -MP -MQ 'a b$' -MF named -c a.sc"));
    CHECK_THAT(folder.text("named"), Catch::StartsWith("a\\ b$$:") && Contains("split-c.h:\n"));
    check_fine(folder.splitcc("-MMD -c a.sc -o 'an object.o'"));
    CHECK_THAT(folder.text("an object.d"), Catch::StartsWith("an\\ object.o: a.sc"));
    check_fine(folder.splitcc("-M -MF listed a.sc"));
    CHECK_THAT(folder.text("listed"), Catch::StartsWith("a.o: a.sc"));
    check_fine(folder.splitcc("-MM b.c -o also"));
    CHECK(folder.text("also") == "b.o: b.c\n");
    check_fine(folder.splitcc("-MMD -MF - -c b.c -o b.o"));
    CHECK_FALSE(folder.has("-"));
    CHECK(folder.splitcc("-MD -c wrong.sc").code == 1);
    CHECK_FALSE(folder.has("wrong.d"));
}

TEST_CASE("option -save-temps=obj keeps the translation beside the result")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    fs::create_directories(folder.work() / "out");
    check_fine(folder.splitcc("-save-temps=obj -c a.sc -o out/x.o"));
    CHECK(folder.has("out/a.trans.c"));
    CHECK(folder.others({"a.sc"}) == Names{"out"});
}

TEST_CASE("what only the C compiler knows is asked of it")
{
    Folder folder;
    for (std::string question : {"-dumpmachine", "-dumpversion", "-print-search-dirs",
                                 "-print-file-name=libc.so.6", "-m64 -print-multi-os-directory"}) {
        INFO(question);
        Outcome asked = folder.splitcc(question);
        check_fine(asked);
        CHECK(asked.out == folder.shell("cc " + question).out);
        CHECK_FALSE(asked.out.empty());
    }
    CHECK(folder.splitcc("-print-prefix").out ==
          fs::canonical(SPLITCC_BIN_FOLDER "/..").string() + "\n");
    CHECK_THAT(folder.splitcc("-v").err, Catch::StartsWith("splitcc ") && Contains("gcc"));
}

TEST_CASE("option -v shows the commands and what they say")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    Outcome outcome = folder.splitcc("-v -c a.sc");
    check_fine(outcome);
    CHECK_THAT(outcome.err, Contains("-x cpp-output") && Contains("#include <...> search starts"));
    CHECK(folder.has("a.o"));
}

TEST_CASE("C files go to the C compiler untouched")
{
    Folder folder;
    folder.file("a.c",
                "#ifdef __SPLITC__\n#error\n#endif\n#include <stdio.h>\nint global, spread;\n"
                "int f(int sync) { return printf(\"%d\", sync + global); }\n");
    check_fine(folder.splitcc("-O2 -g -c a.c -o ours.o"));
    check_fine(folder.shell("cc -O2 -g -c a.c -o theirs.o && cmp ours.o theirs.o"));
}

TEST_CASE("a Split-C program by a name of C is taken for what it is")
{
    Folder folder;
    folder.file("a.c", "#include <split-c/split-c.h>\nint splitc_main(void) { return 0; }\n");
    folder.file("own.h", "#include <split-c/split-c.h>\nint *global f(int *global);\n");
    folder.file("b.c", "# include \"own.h\"\nint *global f(int *global p) { return p; }\n");
    check_fine(folder.splitcc("-Wall -O2 a.c b.c -o prog"));
    check_fine(folder.splitcc("-trans b.c"));
    check_fine(folder.splitcc("-E b.c -o b.i"));
    folder.file("both.h", "#ifdef __SPLITC__\n#include <split-c/split-c.h>\n#endif\n");
    folder.file("c.c", "#include \"both.h\"\nint *global; int spread;\n");
    check_fine(folder.splitcc("-Wall -c c.c -MMD -MF c.d"));
    check_fine(folder.splitcc("-c b.c -MD -MF b.d"));
    CHECK_THAT(folder.shell("cat b.d").out, Contains("split-c/split-c.h"));
    Outcome outcome = folder.splitcc("-x c -c a.c");
    CHECK(outcome.code != 0);
    CHECK_THAT(outcome.err, Contains("this is a Split-C program: name its file .sc, or compile it "
                                     "with splitcc -x splitc"));
    CHECK_THAT(outcome.err, !Contains("expected"));
}

TEST_CASE("the C files of an old program are old, too")
{
    Folder folder;
    folder.file("main.sc", "#include <split-c/split-c.h>\n#include <stdio.h>\n"
                           "splitc_main() { char *name(); printf(\"%s\", name(3)); }\n");
    folder.file("name.c", "#include <string.h>\nchar *name(i) { return strcpy((char *)room(20), "
                          "\"PASS\n\"); }\n"
                          "skip(p) char *p; { ((int *)p)++; return *p; }\n"
                          "f() { return h(3); } static h(x) { return x; }\n");
    folder.file("room.c", "#include <stdlib.h>\nchar *room(n) { return (char *)malloc(n); }\n"
                          "int select(v, n, k) int *v; { return v[k]; }\n");
    check_fine(folder.splitcc("-fold-programs -w main.sc name.c room.c -o prog"));
    CHECK(folder.shell("./prog").out == "PASS\n");
}

TEST_CASE("functions of programs of the 1990s return without a value")
{
    Folder folder;
    folder.file("a.sc", "#include <split-c/split-c.h>\nstep(n) { if (n) return; n = 2; }\n"
                        "splitc_main() { step(1); }\n");
    for (const std::string options : {"-fold-programs", "-std=gnu89"})
        for (const std::string cc : {"gcc", "clang"})
            CHECK(folder.splitcc("-cc " + cc + " " + options + " -c a.sc").code == 0);
}

TEST_CASE("every language that the C compiler knows by its ending is compiled")
{
    Folder folder;
    folder.file("a.s", ".globl a\na:\n");
    folder.file("b.S", "#define NAME b\n.globl NAME\nNAME:\n");
    folder.file("c.i", "int c;\n");
    folder.file("d.cc", "namespace n { int d; }\n");
    check_fine(folder.splitcc("-c a.s b.S c.i d.cc"));
    CHECK(folder.others({"a.s", "b.S", "c.i", "d.cc"}) == Names{"a.o", "b.o", "c.o", "d.o"});
    Outcome unused = folder.splitcc("-c c.i d.o");
    check_fine(unused);
    CHECK_THAT(unused.err, Contains("warning: 'd.o' is for the linker"));
}

TEST_CASE("odd names are names")
{
    Folder folder;
    for (std::string name : {"-c", "größe", "$(false)", "a\nb", "*", "x.y", "@options"}) {
        INFO(name);
        folder.file(name + ".sc", kAlone);
        std::ofstream(folder.work() / "name") << name;
        check_fine(folder.splitcc("-c \"./$(cat name).sc\""));
        CHECK(folder.has(name + ".o"));
    }
}

TEST_CASE("what splitcc has preprocessed or translated is compiled as a source")
{
    Folder folder;
    folder.file("a.sc", kMain);
    check_fine(folder.splitcc("-O2 -c a.sc"));
    check_fine(folder.splitcc("-trans a.sc"));
    check_fine(folder.splitcc("-E a.sc -o e.sc"));
    check_fine(folder.splitcc("-O2 -c -x splitc a.trans.c -o t.o"));
    check_fine(folder.splitcc("-O2 -c e.sc"));
    check_fine(folder.shell("'" SPLITCC_BIN_FOLDER "/splitcc' -E e.sc | '" SPLITCC_BIN_FOLDER
                            "/splitcc' -O2 -c -x splitc - -o p.o"));
    for (std::string name : {"t.o", "e.o", "p.o"}) {
        INFO(name);
        check_fine(folder.shell("for o in a.o " + name +
                                "; do objdump -sr -j .text $o | tail -n +3 >$o.code; done; cmp " +
                                "a.o.code " + name + ".code && test -s a.o.code"));
    }
    for (std::string option : {"-fcheck", "-fprofile-lines"}) {
        Outcome late = folder.splitcc(option + " -c -x splitc a.trans.c");
        check_fine(late);
        CHECK_THAT(late.err, Contains("warning: '" + option + "' comes too late for 'a.trans.c'"));
    }
}

TEST_CASE("a file in .i that splitcc has preprocessed is Split-C, and no other one")
{
    Folder folder;
    folder.file("a.sc", kMain);
    folder.file("first.h", "extern int first;\n");
    folder.file("b.c", "#include <split-c/abi.h>\nint global = sizeof(splitc_ptr), *spread;\n"
                       "int *take(void) { return global * spread; }\n");
    for (std::string cc : {"gcc", "clang"}) {
        INFO(cc);
        check_fine(folder.splitcc("-O2 -c a.sc -cc " + cc));
        for (std::string options : {"", "-fcheck -fprofile-lines", "-include first.h"}) {
            INFO(options);
            check_fine(folder.splitcc("-cc " + cc + " -E a.sc -o e.i " + options));
            check_fine(folder.splitcc("-cc " + cc + " -O2 -c e.i"));
            if (options.empty())
                check_fine(folder.shell("for o in a e; do objdump -sr -j .text $o.o | "
                                        "tail -n +3 >$o.code; done; cmp a.code e.code"));
            check_fine(folder.splitcc("-cc " + cc + " -trans e.i"));
        }
        check_fine(folder.splitcc("-cc " + cc + " -E b.c -o c.i"));
        const Outcome c = folder.splitcc("-cc " + cc + " -c c.i");
        CHECK(c.code == 1); // cc's own words
        CHECK_THAT(c.err, Contains("invalid operands to binary"));
    }
    check_refused(folder.splitcc("-trans c.i"), "'c.i' is none");
}

TEST_CASE("option -fold-programs gathers what old programs expect")
{
    Folder folder;
    folder.file("a.sc", kMain);
    folder.file("b.c", kTwice);
    Outcome gcc = folder.splitcc("-show -cc gcc -fold-programs a.sc b.c");
    check_fine(gcc);
    CHECK_THAT(gcc.out, Contains("-std=gnu89") && Contains("-fcommon") &&
                            Contains("-ftrivial-auto-var-init=zero") &&
                            Contains("splitc_wants_stack") && !Contains("-enable-trivial"));
    CHECK_THAT(folder.splitcc("-show -fold-programs -std=gnu99 a.sc").out,
               Contains("-std=gnu99") && !Contains("gnu89"));
    CHECK_THAT(folder.splitcc("-show -fold-programs -fno-old-programs a.sc").out,
               !Contains("gnu89") && !Contains("auto-var-init"));
    for (std::string cc : {"gcc", "clang"})
        check_fine(folder.splitcc("-cc " + cc + " -Werror -fold-programs a.sc b.c -o " + cc));
    folder.script("gcc-11", "echo '#define __GNUC__ 11'\n");
    check_refused(folder.splitcc("-cc ./gcc-11 -fold-programs -c b.c"), "gcc 12");
}

TEST_CASE("ccache in front of splitcc or of its C compiler")
{
    Folder folder;
    if (folder.shell("command -v ccache").code != 0) {
        WARN("not run: there is no ccache");
        return;
    }
    folder.file("a.sc", kAlone);
    const std::string cache = "CCACHE_DIR=\"$PWD/cache\" CCACHE_TEMPDIR=\"$PWD/cache\" "
                              "CCACHE_CONFIGPATH=/dev/null ";
    for (int i = 0; i < 2; i++)
        check_fine(folder.shell(cache + "ccache '" SPLITCC_BIN_FOLDER "/splitcc' -c a.sc"));
    CHECK_THAT(folder.shell("nm a.o").out, Contains("splitc_far_read"));
    fs::remove(folder.work() / "a.o");
    for (int i = 0; i < 2; i++)
        check_fine(folder.splitcc("-c a.sc", cache + "SPLITCC_CC='ccache gcc'"));
    CHECK_THAT(folder.shell("nm a.o").out, Contains("splitc_far_read"));
    Outcome counts = folder.shell(cache + "ccache --print-stats");
    CHECK_THAT(counts.out, Contains("preprocessed_cache_hit\t1\n"));
}

TEST_CASE("make compiles in parallel")
{
    Folder folder;
    std::string objects;
    for (int i = 0; i < 12; i++) {
        std::string name = "part" + std::to_string(i);
        folder.file(name + ".sc", "int *global g" + std::to_string(i) + ";\n");
        objects += ' ' + name + ".o";
    }
    folder.file("Makefile", "all:" + objects +
                                "\n%.o: %.sc\n\t'" SPLITCC_BIN_FOLDER
                                "/splitcc' -MD -c $<\n-include $(wildcard *.d)\n");
    check_fine(folder.shell("make -s -j6"));
    for (int i = 0; i < 12; i++)
        CHECK_THAT(folder.shell("nm part" + std::to_string(i) + ".o").out,
                   Contains("g" + std::to_string(i) + "\n"));
    CHECK(folder.shell("make -q").code == 0);
}
