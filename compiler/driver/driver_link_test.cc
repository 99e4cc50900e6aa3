// SPDX-License-Identifier: BSD-3-Clause
//
// What programs are linked from, and with which options.
#include "driver/driver_folder.h"

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
    Folder folder;
    folder.file("table.sc",
                "int table[4] = {1, 2, 3, 4};\n"
                "int at(int i) { static int calls; calls++; return table[i] + calls; }\n");
    folder.file("main.c", "int at(int i);\nint main(void) { return at(2) - 4; }\n");
    check_fine(folder.splitcc("-O2 -c table.sc"));
    check_fine(folder.shell("cc -pie -fPIE main.c table.o -o program && ./program"));
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

TEST_CASE("definitions of a header of old that are there twice are told with the standard to take")
{
    Folder folder;
    folder.file("old.h", "#include <split-c/split-c.h>\nint n, *global g;\n"
                         "extern inline int next(int i) { return i + 1; }\n");
    folder.file("main.sc", "#include \"old.h\"\nint splitc_main(void) { n = 1; return 0; }\n");
    folder.file("look.sc", "#include \"old.h\"\nint look(void) { return next(n); }\n");
    folder.file("own.sc", "int look(void) { return 0; }\n");
    for (const std::string option : {"", "-g ", "-cc clang "})
        CHECK_THAT(folder.splitcc(option + "main.sc look.sc").err,
                   Contains("splitcc: note: 'g' and 'n' are defined in several files") &&
                       Contains("compile all files with -std=gnu89"));
    check_fine(folder.splitcc("-std=gnu89 main.sc look.sc"));
    Outcome functions = folder.splitcc("-std=gnu89 main.sc look.sc own.sc");
    CHECK_THAT(functions.err, Contains("multiple definition of `look'") && !Contains("note"));
}

TEST_CASE("tentative definitions in files of C are one object under gnu89")
{
    Folder folder;
    folder.file("f.c", "int shared; int f() { return shared; }\n");
    folder.file("g.c", "int shared; int g() { return shared; }\n");
    folder.file("main.sc", "#include <split-c/split-c.h>\nint shared;\n"
                           "splitc_main() { shared = 3; return f() + g() != 6; }\n");
    check_fine(folder.splitcc("-std=gnu89 main.sc f.c g.c -o prog"));
    CHECK(folder.shell("./prog").code == 0);
    CHECK_THAT(folder.splitcc("-std=gnu89 -fno-common main.sc f.c g.c -o none").err,
               Contains("multiple definition"));
}

TEST_CASE("functions of the library are found without their header")
{
    Folder folder;
    const std::string main = "#include <split-c/split-c.h>\nextern int work();\n"
                             "int splitc_main(void) { return work(); }\n";
    folder.file("main.sc", main);
    folder.file("work.sc", "work() { barrier(); all_store_sync(); store_sync(0);\n"
                           "    return all_reduce_to_all_add(1) - am_procs() + all_bcast(0); }\n");
    for (const std::string options : {"-cc gcc", "-cc gcc -g", "-cc gcc -flto -O2", "-cc clang"}) {
        INFO(options);
        Outcome linked = folder.splitcc("-std=gnu89 " + options + " main.sc work.sc -o prog",
                                        "LC_ALL= LANG=de_DE.UTF-8 LANGUAGE=de");
        check_fine(linked);
        for (const std::string name :
             {"barrier", "all_store_sync", "store_sync", "all_reduce_to_all_add", "all_bcast"})
            CHECK_THAT(linked.err, Contains("splitcc: warning: '" + name +
                                            "' of the library is called where "
                                            "<split-c/split-c.h> is not included"));
        CHECK_THAT(linked.err, Contains("'am_procs'") && Contains("<split-c/am.h>"));
        if (options != "-cc gcc -flto -O2")
            CHECK_THAT(linked.err, Contains("work.sc"));
        check_fine(folder.shell("timeout 60 '" SPLITCC_BIN_FOLDER "/unetrun' -n 2 ./prog"));
    }
    Outcome quiet = folder.splitcc("-w -std=gnu89 main.sc work.sc -o prog");
    check_fine(quiet);
    CHECK(quiet.err.empty());
    // Other results than ints are those of who declares them.
    folder.file("work.sc",
                "double get_seconds();\nvoid *spread all_spread_malloc();\n"
                "work() { double t = get_seconds(); int *spread p = all_spread_malloc(4, 4);\n"
                "    return !(t > 0 && get_seconds() - t < 100 && p != 0); }\n");
    Outcome declared = folder.splitcc("-std=gnu89 main.sc work.sc -o prog");
    check_fine(declared);
    for (const std::string text :
         {"splitcc: warning: 'get_seconds' of the library is called where <split-c/split-c.h> is "
          "not included (work.sc), where its 'double' is taken for an int unless it is declared; "
          "include it",
          "'all_spread_malloc'", "its 'void *spread' is taken"})
        CHECK_THAT(declared.err, Contains(text));
    check_fine(folder.shell("timeout 60 '" SPLITCC_BIN_FOLDER "/unetrun' -n 2 ./prog"));
    // A program's own functions are not the library's.
    folder.file("own.c", "int barrier(void) { return 7; }\n");
    folder.file("work.sc", "work() { return barrier() != 7; }\n");
    Outcome own = folder.splitcc("-std=gnu89 main.sc work.sc own.c -o prog");
    check_fine(own);
    CHECK(own.err.empty());
    CHECK(folder.shell("./prog").code == 0);
}

TEST_CASE("functions of another file that have a name of <split-c/am.h> are called as they are")
{
    Folder folder;
    folder.file("main.sc", "splitc_main() { return am_reply() - am_reply(1); }\n");
    folder.file("own.c", "am_reply() { return 3; }\n");
    for (const std::string cc : {"gcc", "clang"}) {
        Outcome outcome = folder.splitcc("-std=gnu89 -w main.sc own.c -o prog -cc " + cc);
        check_fine(outcome);
        CHECK(outcome.err.empty());
        CHECK(folder.shell("./prog").code == 0);
    }
}

TEST_CASE("messages may be sent without their header, which is a warning")
{
    Folder folder;
    folder.file("main.sc", "#include <split-c/split-c.h>\nint got;\n"
                           "void take(int from, int n) { got = n; }\n"
                           "int splitc_main(void)\n{ am_request_1(MYPROC, take, 7);\n"
                           "  while (!got) am_poll();\n  return got != 7; }\n");
    folder.file("own.c", "int am_request_1(int to, void (*take)(int, int), int n)\n"
                         "{ take(to, n + 1); return 0; }\n");
    for (const std::string standard : {"", "-std=gnu89 "}) {
        Outcome outcome = folder.splitcc(standard + "main.sc -o prog");
        check_fine(outcome);
        CHECK_THAT(outcome.err, Contains("main.sc:5:3: warning: 'am_request_1' is not declared"));
        CHECK(folder.splitcc(standard + "-Wno-implicit-function-declaration main.sc").err.empty());
        CHECK(folder.splitcc(standard + "-w main.sc -o prog").err.empty());
        CHECK(folder.shell("./prog").code == 0);
    }
    // Where the program declares it, its own is called.
    folder.file("main.sc", folder.text("main.sc").replace(29, 0, "int am_request_1();\n"));
    check_fine(folder.splitcc("-w main.sc own.c -o prog"));
    CHECK(folder.shell("./prog").code == 1);
}

TEST_CASE("functions of the library that need their header are refused without it")
{
    Folder folder;
    folder.file("main.sc", "#include <split-c/split-c.h>\nextern void work();\n"
                           "int splitc_main(void) { work(); return 0; }\n");
    folder.file("work.sc", "work() { barrier(); nobodys(); sent(); tolocal(0); }\n");
    folder.file("sent.c", "sent() { am_request_0(0, sent); }\n");
    Outcome outcome = folder.splitcc("-std=gnu89 main.sc work.sc sent.c -o prog");
    CHECK(outcome.code == 1);
    CHECK_FALSE(folder.has("prog"));
    for (const std::string text :
         {"error: 'am_request_0' of the library is called where <split-c/am.h> is not included "
          "(sent.c), without which it cannot be called; include it",
          "error: 'tolocal'", "warning: 'barrier'", "undefined reference to `nobodys'"})
        CHECK_THAT(outcome.err, Contains(text));
    CHECK_THAT(outcome.err, !Contains("undefined reference to `barrier'"));
}

TEST_CASE("what the linker misses is told without temporary files, and what it may have been")
{
    Folder folder;
    folder.file("main.sc", "#include <split-c/split-c.h>\n"
                           "splitc_main() { barier(); nobodys(); return 0; }\n");
    Outcome outcome = folder.splitcc("-std=gnu89 main.sc -o prog");
    CHECK(outcome.code == 1);
    for (const std::string text :
         {"undefined reference to `barier'", "undefined reference to `nobodys'",
          "splitcc: note: nothing defines 'barier', which the linker misses; did you mean "
          "'barrier'?\n"})
        CHECK_THAT(outcome.err, Contains(text));
    for (const std::string text : {"/splitcc-", "0-main", "nothing defines 'nobodys'"})
        CHECK_THAT(outcome.err, !Contains(text));
    folder.file("long.sc", "#include <split-c/split-c.h>\nsplitc_main() { " +
                               std::string(300000, 'q') + "(); return 0; }\n");
    CHECK(folder.splitcc("-std=gnu89 long.sc -o prog").code == 1);
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

TEST_CASE("what goes to the linker keeps its place among the inputs")
{
    Folder folder;
    folder.file("main.sc", "int last = 0;\nint splitc_main(void)\n{\n    return last != 2;\n}\n");
    folder.file("sets.c", "extern int last;\n"
                          "__attribute__((constructor)) static void set(void) { last = 2; }\n");
    check_fine(folder.splitcc("-c sets.c"));
    check_fine(folder.shell("ar rc libsets.a sets.o"));
    check_fine(folder.splitcc("main.sc -L. -Wl,--whole-archive -lsets -Xlinker --no-whole-archive "
                              "-o with"));
    CHECK(folder.shell("./with").code == 0);
    check_fine(folder.splitcc("main.sc -L. -lsets -Wl,--whole-archive -Wl,--no-whole-archive "
                              "-o without"));
    CHECK(folder.shell("./without").code == 1);
}

TEST_CASE("options that compiling and linking share")
{
    Folder folder;
    folder.file("main.sc", kMain);
    folder.file("twice.c", kTwice);
    for (std::string options :
         {"-flto -O2", "-pg", "-pthread", "-pipe -O3", "-fPIC", "-m64 -g3", "-fsanitize=undefined",
          "-fsanitize=address -g", "-rdynamic", "-Wa,--noexecstack -Wl,-z,now -s", "-fopenmp"}) {
        INFO(options);
        check_fine(folder.splitcc(options + " main.sc twice.c -o prog"));
        Outcome ran = folder.shell("./prog");
        check_fine(ran);
        CHECK(ran.err.empty());
    }
}

TEST_CASE("a sanitizer does not complain of the runtime and what it uses")
{
    Folder folder;
    folder.file("main.sc", kMain);
    folder.file("twice.c", kTwice);
    for (std::string options :
         {"gcc -fsanitize=address,undefined", "gcc -fsanitize=leak", "gcc -fsanitize=thread",
          "clang -fsanitize=address,undefined", "clang -fsanitize=thread"}) {
        INFO(options);
        size_t space = options.find(' ');
        check_fine(folder.splitcc("-g" + options.substr(space) + " main.sc twice.c -o prog",
                                  "SPLITCC_CC=" + options.substr(0, space)));
        Outcome ran = folder.shell("timeout 60 '" SPLITCC_BIN_FOLDER "/unetrun' -n 2 ./prog");
        check_fine(ran);
        CHECK_THAT(ran.err, !Contains("Sanitizer"));
    }
}

TEST_CASE("a sanitizer complains of the program")
{
    Folder folder;
    folder.file("main.sc", "#include <split-c/split-c.h>\n#include <stdlib.h>\n"
                           "char *volatile lost;\nint splitc_main(void)\n{\n"
                           "    lost = malloc(7);\n    lost = NULL;\n    return 0;\n}\n");
    for (std::string options :
         {"gcc -fsanitize=address", "gcc -fsanitize=leak", "clang -fsanitize=address"}) {
        INFO(options);
        size_t space = options.find(' ');
        check_fine(folder.splitcc("-g" + options.substr(space) + " main.sc -o prog",
                                  "SPLITCC_CC=" + options.substr(0, space)));
        Outcome ran = folder.shell("ASAN_OPTIONS=detect_leaks=1 timeout 60 '" SPLITCC_BIN_FOLDER
                                   "/unetrun' -n 2 ./prog");
        CHECK(ran.code != 0);
        CHECK_THAT(ran.err, Contains("leak of 7 byte(s)"));
        if (options.substr(0, space) == "gcc") // clang finds lines by a tool of another package
            CHECK_THAT(ran.err, Contains("main.sc:6"));
    }
}

TEST_CASE("an address sanitizer does not take what global pointers reach for leaks")
{
    Folder folder;
    folder.file("main.sc", "#include <split-c/split-c.h>\n#include <stdlib.h>\n"
                           "int *global kept;\nint splitc_main(void)\n{\n"
                           "    kept = toglobal(MYPROC, (int *)malloc(sizeof(int)));\n"
                           "    return 0;\n}\n");
    for (const std::string cc : {"gcc", "clang"}) {
        INFO(cc);
        check_fine(folder.splitcc("-cc " + cc + " -g -fsanitize=address main.sc -o prog"));
        Outcome ran = folder.shell("timeout 60 '" SPLITCC_BIN_FOLDER "/unetrun' -n 2 ./prog");
        check_fine(ran);
        CHECK_THAT(ran.err, !Contains("Sanitizer"));
    }
}

TEST_CASE("extern inline of gnu89 in two modules is one function")
{
    Folder folder;
    const std::string square = "#include <split-c/split-c.h>\n"
                               "extern inline int square(int v) { return v * v; }\n";
    folder.file("a.sc", square + "extern int other(int);\n"
                                 "int splitc_main() { return square(PROCS) - other(PROCS); }\n");
    folder.file("b.sc", square + "int other(int n) { return square(n); }\n");
    for (const std::string options :
         {"-cc gcc", "-cc gcc -O2", "-cc gcc -flto", "-cc gcc -O2 -flto", "-cc gcc -flto -fno-lto",
          "-cc clang -O2"}) {
        INFO(options);
        check_fine(folder.splitcc(options + " -std=gnu89 a.sc b.sc -o prog"));
        CHECK(folder.shell("./prog").code == 0);
    }
}

TEST_CASE("inline in two modules is one function")
{
    Folder folder;
    folder.file("square.h", "#include <split-c/split-c.h>\nextern int other(int);\n"
                            "inline int square(int v) { return v * v; }\n"
                            "inline double *global same(double *global p) { return p; }\n");
    folder.file("a.sc", "#include \"square.h\"\n"
                        "int splitc_main(void) { return square(PROCS) - other(PROCS); }\n");
    folder.file("b.sc", "#include \"square.h\"\nint (*pointer)(int) = square;\n"
                        "int other(int n) { return pointer(n) + (same(0) != 0); }\n");
    for (const std::string options :
         {"-cc gcc", "-cc gcc -O2", "-cc gcc -flto", "-cc clang", "-cc gcc -fgnu89-inline",
          "-cc gcc -Werror=missing-prototypes", "-cc clang -Wmissing-prototypes"}) {
        INFO(options);
        if (options.ends_with("89-inline")) // each defines it
            CHECK(folder.splitcc(options + " -c a.sc").code == 0);
        else
            check_fine(folder.splitcc(options + " a.sc b.sc -o prog"));
        CHECK(folder.shell("./prog").code == 0);
    }
}

TEST_CASE("options that few programs need reach the C compiler")
{
    Folder folder;
    folder.file("a.sc", "#include <split-c/split-c.h>\nint x;\nvoid store(int *global g)\n"
                        "{\n    *g = x;\n}\n");
    check_fine(folder.splitcc("-A 'foo(bar)' -remap -undef -aux-info aux.txt -c a.sc"));
    CHECK(folder.shell("grep -q store aux.txt").code == 0);
    const Outcome timed = folder.splitcc("-time -c a.sc");
    CHECK(timed.code == 0);
    CHECK(timed.err.starts_with("# cc1 "));
}

TEST_CASE("malloc is the runtime's, whatever the libraries of a program define")
{
    Folder folder;
    folder.file("main.sc", "#include <split-c/split-c.h>\n#include <stdio.h>\n"
                           "#include <stdlib.h>\n#include <string.h>\n"
                           "int splitc_main(void)\n{\n    char *p = malloc(1);\n"
                           "    on_one puts(strerror(7));\n    return !p;\n}\n");
    folder.file("own.c", "const char *strerror(int n) { return n == 7 ? \"mine\" : \"\"; }\n");
    check_fine(folder.splitcc("-shared -fPIC -w own.c -o libown.so"));
    check_fine(folder.splitcc("main.sc -Wl,--as-needed -L. -lown -Wl,-rpath,'$ORIGIN' -o prog"));
    Outcome ran = folder.shell("timeout 60 '" SPLITCC_BIN_FOLDER "/unetrun' -v -n 2 ./prog");
    check_fine(ran);
    CHECK(ran.out == "mine\n");
    CHECK_THAT(ran.err, !Contains("no windows"));
}

TEST_CASE("a program that brings its own malloc keeps it, blocks of any size")
{
    Folder folder;
    folder.file("main.sc", "#include <split-c/split-c.h>\n#include <stdlib.h>\n"
                           "extern int taken(void *);\n"
                           "int splitc_main(void)\n{\n"
                           "    char *small = malloc(8), *large = malloc(1 << 20);\n"
                           "    char *zeros = calloc(1 << 10, 1 << 10);\n"
                           "    large = realloc(large, 1 << 21);\n"
                           "    free(small);\n"
                           "    return !taken(small) || !taken(large) || !taken(zeros);\n}\n");
    folder.file("own.c",
                "#define _GNU_SOURCE\n#include <string.h>\n#include <sys/syscall.h>\n"
                "#include <unistd.h>\n"
                "static char pool[1 << 25];\nstatic size_t used;\n"
                "ssize_t pwrite(int fd, const void *at, size_t n, off_t to)\n{\n"
                "    usleep(100); /* makes the copying of static objects slow */\n"
                "    return syscall(SYS_pwrite64, fd, at, n, to);\n}\n"
                "int taken(void *p) { return (char *)p >= pool && (char *)p < pool + used; }\n"
                "void *malloc(size_t n)\n{\n"
                "    char *p = pool + __atomic_fetch_add(&used, (n + 31) / 16 * 16, 5) + 16;\n"
                "    return used <= sizeof pool ? p : NULL;\n}\n"
                "void free(void *p) { (void)p; }\n"
                "void *calloc(size_t c, size_t n) { return malloc(c * n); }\n"
                "void *realloc(void *p, size_t n)\n"
                "{ void *q = malloc(n); return q && p ? memcpy(q, p, n) : q; }\n");
    check_fine(folder.splitcc("-fno-builtin main.sc own.c -o prog"));
    check_fine(folder.shell("timeout 60 '" SPLITCC_BIN_FOLDER "/unetrun' ./prog"));
    for (int run = 0; run < 10; run++) // what PMIx's thread wrote meanwhile has to be kept
        check_fine(folder.shell("timeout 20 '" SPLITCC_BIN_FOLDER "/unetrun' -n 2 ./prog"));
}

TEST_CASE("coverage of Split-C lines")
{
    Folder folder;
    folder.file("main.sc", kMain);
    folder.file("twice.c", kTwice);
    check_fine(folder.splitcc("--coverage main.sc twice.c -o prog"));
    CHECK(folder.shell("./prog").code == 0);
    Outcome report = folder.shell("gcov -t main.gcda");
    check_fine(report);
    CHECK_THAT(report.out, Contains(":    6:    A[MYPROC] = 21;") && !Contains("#####:    6:"));
}

TEST_CASE("a shared library of other code than -fPIC makes is refused with the remedy")
{
    Folder folder;
    folder.file("a.sc", "#include <split-c/split-c.h>\nint A[PROCS]::;\nint n;\n"
                        "int f(void)\n{\n    return A[0] + n;\n}\n");
    check_refused(folder.splitcc("-shared a.sc -o liba.so"), "-fPIC");
    check_fine(folder.splitcc("-c a.sc"));
    check_refused(folder.splitcc("-shared a.o -o liba.so"), "-fPIC");
    CHECK_FALSE(folder.has("liba.so"));
}

TEST_CASE("a shared library may have Split-C in it")
{
    Folder folder;
    folder.file("lib.sc", "#include <split-c/split-c.h>\n"
                          "int fetch(int *global p) { return *p; }\n");
    folder.file("main.sc", "#include <split-c/split-c.h>\nint fetch(int *global p);\nint mine;\n"
                           "int splitc_main(void)\n{\n    int next = (MYPROC + 1) % PROCS;\n"
                           "    mine = MYPROC;\n    barrier();\n"
                           "    return fetch(toglobal(next, &mine)) != next;\n}\n");
    check_fine(folder.splitcc("-shared -fPIC lib.sc -o libfetch.so"));
    check_fine(folder.splitcc("main.sc -L. -lfetch -Wl,-rpath,'$ORIGIN' -o prog"));
    check_fine(folder.shell("timeout 60 '" SPLITCC_BIN_FOLDER "/unetrun' -n 2 ./prog"));
}

TEST_CASE("a program shows its names to libraries if it is asked to")
{
    Folder folder;
    folder.file("main.sc",
                "#include <dlfcn.h>\nint mine = 7;\nint splitc_main(void)\n{\n"
                "    int *found = dlsym(0, \"mine\");\n    return found ? *found : 1;\n}\n");
    for (std::string option : {"-rdynamic", "-Wl,-E", "-Wl,--export-dynamic"}) {
        INFO(option);
        check_fine(folder.splitcc(option + " main.sc -o prog"));
        CHECK(folder.shell("./prog").code == 7);
    }
    check_fine(folder.splitcc("main.sc -o prog"));
    CHECK(folder.shell("./prog").code == 1);
}

TEST_CASE("a program is neither static nor position-independent")
{
    Folder folder;
    folder.file("main.sc", kMain);
    folder.file("twice.c", kTwice);
    Outcome fixed = folder.splitcc("-static main.sc twice.c -o prog");
    CHECK(fixed.code != 0);
    CHECK_THAT(fixed.err, Contains("cannot be linked with -static") && !Contains("undefined"));
    CHECK_FALSE(folder.has("prog"));
    Outcome pie = folder.splitcc("-fPIE -pie main.sc twice.c -o prog");
    check_fine(pie);
    CHECK_THAT(pie.err, Contains("'-pie' is ignored"));
    CHECK_THAT(folder.shell("readelf -h prog").out, Contains("EXEC"));
    CHECK(folder.shell("./prog").code == 0);
}

TEST_CASE("a plain main makes a plain C program")
{
    Folder folder;
    const char *source = "#include <stdio.h>\n#include <stdlib.h>\nint main(void)\n{\n"
                         "    return puts(\"plain\") < 0 || !malloc(1) ? 1 : 3;\n}\n";
    folder.file("plain.sc", source);
    folder.file("plain.c", source);
    for (std::string name : {"plain.sc", "plain.c", "-x splitc plain.c", "-s plain.sc",
                             "-rdynamic plain.sc", "-static plain.c"}) {
        INFO(name);
        check_fine(folder.splitcc(name + " -o prog"));
        Outcome ran = folder.shell("./prog");
        CHECK(ran.code == 3);
        CHECK(ran.out == "plain\n");
        CHECK_THAT(folder.shell("ldd prog").out, !Contains("pmix") && !Contains("mimalloc"));
        CHECK_THAT(folder.shell("nm -a prog").out,
                   !Contains("splitc_") && !Contains("gam_") && !Contains("unet_"));
    }
}

TEST_CASE("what the linker warns of is said once")
{
    Folder folder;
    folder.file("plain.c", "#include <stdio.h>\nint main(void)\n{\n    return !tmpnam(0);\n}\n");
    Outcome outcome = folder.splitcc("plain.c -o prog");
    check_fine(outcome);
    const std::string words = "the use of `tmpnam' is dangerous";
    CHECK(outcome.err.find(words) != std::string::npos);
    CHECK(outcome.err.find(words) == outcome.err.rfind(words));
}

TEST_CASE("a program without splitc_main is told so")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    Outcome outcome = folder.splitcc("a.sc -o prog");
    CHECK(outcome.code != 0);
    CHECK_THAT(outcome.err, Contains("no splitc_main") && !Contains("splitc_entry"));
    CHECK_FALSE(folder.has("prog"));
}

TEST_CASE("a splitc_main in a C file is told from one that is nowhere")
{
    Folder folder;
    folder.file("main.c", "int twice(int x);\nint splitc_main() { return twice(0); }\n");
    folder.file("twice.sc", "int twice(int x) { return 2 * x; }\n");
    const std::string expected = "splitcc: error: splitc_main is in a C file; name it .sc, or "
                                 "compile it with '-x splitc'\n";
    CHECK_THAT(folder.splitcc("main.c twice.sc -o prog").err, Catch::StartsWith(expected));
    check_fine(folder.splitcc("-c main.c twice.sc"));
    CHECK_THAT(folder.splitcc("main.o twice.o -lm -o prog").err, Catch::StartsWith(expected));
    check_fine(folder.splitcc("-x splitc main.c -x none twice.o -o prog"));
}

TEST_CASE("a main that is not the runtime's is told of")
{
    Folder folder;
    folder.file("use.sc", "#include <split-c/split-c.h>\nint work(void) { return PROCS; }\n");
    folder.file("main.c", "int work(void);\nint main(void) { return work() - 1; }\n");
    Outcome outcome = folder.splitcc("use.sc main.c -o prog");
    CHECK(outcome.code == 1);
    CHECK(outcome.err ==
          "splitcc: error: a Split-C program begins in 'splitc_main', which every processor runs; "
          "one of its C files or libraries defines 'main': rename that function\n");
    CHECK_FALSE(folder.has("prog"));
}

TEST_CASE("a program may be compiled as a whole")
{
    Folder folder;
    folder.file("whole.sc", std::string(kMain) + kTwice);
    check_fine(folder.splitcc("-O2 -fwhole-program whole.sc -o prog"));
    CHECK(folder.shell("./prog").code == 0);
}

TEST_CASE("more objects than a command can name come from a file")
{
    Folder folder;
    folder.file("main.sc", kMain);
    folder.file("twice.c", kTwice);
    folder.file("empty.c", "");
    check_fine(folder.splitcc("-c empty.c"));
    std::string name, objects = "main.sc twice.c -o prog\n";
    for (int i = 0; i < 1000; i++)
        name += "./";
    for (int i = 0; i < 1500; i++) // few and long, as ld's time goes with their number's square
        objects += name + "empty.o\n";
    folder.file("objects", objects);
    check_fine(folder.splitcc("@objects"));
    CHECK(folder.shell("./prog").code == 0);
}
