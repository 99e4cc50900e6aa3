// SPDX-License-Identifier: BSD-3-Clause
//
// Failures and signals leave nothing behind.
#include "driver/driver_folder.h"

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
    // This compiler proper works on the temporary file and interrupts its parent.
    folder.script("cc", "for word; do\n"
                        "    [ \"$word\" = -E ] && exec cc \"$@\"\n"
                        "done\n"
                        "kill -TERM $PPID\n"
                        "exit 1\n");
    Outcome outcome = folder.shell("SPLITCC_CC=./cc '" SPLITCC_BIN_FOLDER "/splitcc' -c a.sc");
    CHECK(outcome.code == 128 + 15);
    CHECK(folder.others({"a.sc", "cc"}).empty());
}

TEST_CASE("any signal, at any step, leaves nothing behind")
{
    Folder folder;
    folder.file("main.sc", kMain);
    folder.file("twice.c", kTwice);
    // This compiler interrupts its parent at the step that the test names.
    folder.script("cc", "for word; do\n"
                        "    [ \"$word\" = \"$STEP\" ] && { echo x >\"$VICTIM\"; kill -$SIGNAL "
                        "$PPID; exit 1; }\n"
                        "done\n"
                        "exec cc \"$@\"\n");
    for (std::string signal : {"INT", "TERM", "HUP", "PIPE"})
        for (std::string step : {"-E", "cpp-output", "-no-pie"}) {
            INFO(signal << " at " << step);
            Outcome outcome = folder.shell("SPLITCC_CC=./cc STEP=" + step + " SIGNAL=" + signal +
                                           " VICTIM=/dev/null '" SPLITCC_BIN_FOLDER
                                           "/splitcc' main.sc twice.c -o prog");
            CHECK(outcome.code > 128);
            CHECK(folder.others({"main.sc", "twice.c", "cc"}).empty());
        }
}

TEST_CASE("what a killed compiler has begun to write is removed")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    folder.file("b.c", kTwice);
    folder.script("cc", "out=; for word; do\n"
                        "    [ \"$word\" = -E ] && exec cc \"$@\"\n"
                        "    [ \"$out\" = next ] && out=$word\n"
                        "    [ \"$word\" = -o ] && out=next\n"
                        "done\n"
                        "echo partial >\"$out\"\n"
                        "kill -KILL $$\n");
    for (std::string what : {"-c a.sc", "-S a.sc", "-c b.c -o out.o", "-MD -c a.sc", "b.c"}) {
        INFO(what);
        CHECK(folder.splitcc(what, "SPLITCC_CC=./cc").code != 0);
        CHECK(folder.others({"a.sc", "b.c", "cc"}).empty());
    }
}

TEST_CASE("a failure keeps the result of an earlier success")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    check_fine(folder.splitcc("-MD -c a.sc"));
    std::string before = folder.text("a.o"), dependencies = folder.text("a.d");
    folder.file("a.sc", kWrong);
    CHECK(folder.splitcc("-MD -c a.sc").code == 1);
    CHECK(folder.text("a.o") == before);
    CHECK(folder.text("a.d") == dependencies);
}

TEST_CASE("a full disk is an error, not half a file")
{
    Folder folder;
    std::string large = "int *global g;\n";
    for (int i = 0; i < 20000; i++)
        large +=
            "int f" + std::to_string(i) + "(void) { return *g + " + std::to_string(i) + "; }\n";
    folder.file("a.sc", large);
    for (std::string what : {"-trans a.sc", "-O0 -S a.sc -o a.s", "-MD -c a.sc"}) {
        INFO(what);
        Outcome outcome =
            folder.shell("ulimit -f 500; timeout 60 '" SPLITCC_BIN_FOLDER "/splitcc' " + what);
        CHECK(outcome.code != 0);
        CHECK_THAT(outcome.err, Contains("File too large"));
        CHECK(folder.others({"a.sc"}).empty());
    }
    folder.file("b.sc", kAlone);
    check_refused(folder.splitcc("-trans b.sc -o /dev/full"), "No space left");
}

TEST_CASE("what cannot be written is named")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    fs::create_directories(folder.work() / "folder");
    check_refused(folder.splitcc("-trans a.sc -o folder"), "'folder'");
    check_refused(folder.splitcc("-trans a.sc -o none/a.c"), "'none/a.c'");
    check_refused(folder.splitcc("-MD -MF none/a.d -c a.sc -o folder/a.o"), "'none/a.d'");
    check_refused(folder.splitcc("-c a.sc -o none/a.o"), "none/a.o");
    check_refused(folder.splitcc("-c a.sc", "TMPDIR=/proc/none"), "TMPDIR");
    CHECK(folder.others({"a.sc"}) == Names{"folder"});
}

TEST_CASE("a result does not take the place of what it is made from")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    folder.file("b.c", kTwice);
    folder.file("c.o", "");
    fs::create_symlink("a.sc", folder.work() / "link.sc");
    for (std::string what :
         {"a.sc -o a.sc", "-c a.sc -o ./a.sc", "-S a.sc -o a.sc", "-E a.sc -o a.sc",
          "-trans a.sc -o a.sc", "-M a.sc -o a.sc", "-c a.sc -o link.sc", "-c link.sc -o a.sc",
          "a.sc b.c -o b.c", "a.sc c.o -o c.o"}) {
        INFO(what);
        check_refused(folder.splitcc(what), "would be overwritten by the result");
        CHECK(folder.text("a.sc") == kAlone);
        CHECK(folder.text("b.c") == kTwice);
    }
    for (std::string what : {"-MD -MF a.sc -c a.sc", "-M -MF link.sc a.sc"})
        check_refused(folder.splitcc(what), "would be overwritten by the dependencies");
    CHECK(folder.text("a.sc") == kAlone);
    CHECK(folder.others({"a.sc", "b.c", "c.o", "link.sc"}).empty());
    check_fine(folder.splitcc("-x splitc -c /dev/null -o /dev/null")); // as configure scripts do
}

TEST_CASE("a result goes where a symbolic link leads")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    folder.file("there/old.c", "old");
    fs::create_symlink("there/old.c", folder.work() / "old.c");
    fs::create_symlink("there/new.d", folder.work() / "new.d");
    check_fine(folder.splitcc("-trans a.sc -o old.c"));
    check_fine(folder.splitcc("-MD -MF new.d -c a.sc"));
    CHECK(fs::is_symlink(folder.work() / "old.c"));
    CHECK(fs::is_symlink(folder.work() / "new.d"));
    CHECK_THAT(folder.text("there/old.c"), Contains("splitc_read"));
    CHECK_THAT(folder.text("there/new.d"), Contains("a.sc"));
    fs::create_symlink("/proc/self/fd/1", folder.work() / "out");
    for (const std::string where : {"| cat", ">out.c && cat out.c"}) {
        Outcome outcome = folder.splitcc("-trans a.sc -o out " + where);
        CHECK(fs::is_symlink(folder.work() / "out"));
        CHECK_THAT(outcome.out, Contains("splitc_read"));
    }
    fs::create_symlink("loop.c", folder.work() / "loop.c");
    check_refused(folder.splitcc("-trans a.sc -o loop.c"), "'loop.c'");
}

TEST_CASE("a reader that goes away leaves nothing behind")
{
    Folder folder;
    std::string large = "int *global g;\n";
    for (int i = 0; i < 5000; i++)
        large += "int f" + std::to_string(i) + "(void) { return *g; }\n";
    folder.file("a.sc", large);
    for (std::string what : {"-trans -o - a.sc", "-S -o - a.sc", "-E a.sc"}) {
        INFO(what);
        check_fine(folder.splitcc(what + " | head -c 1 >/dev/null"));
    }
    CHECK(folder.splitcc("-trans -o - a.sc | head -c 1 >/dev/null").err.empty());
    CHECK(folder.others({"a.sc"}).empty());
}

TEST_CASE("a signal ends a translation that takes long")
{
    Folder folder;
    std::string large = "int *global g;\n";
    for (int i = 0; i < 100000; i++)
        large += "int f" + std::to_string(i) + "(void) { return *g; }\n";
    folder.file("a.sc", large);
    // The driver translates once the preprocessor has ended.
    folder.script("cc", "cc \"$@\"\necho >preprocessed\n");
    Outcome outcome =
        folder.shell("mkfifo preprocessed; SPLITCC_CC=./cc timeout 60 '" SPLITCC_BIN_FOLDER
                     "/splitcc' -trans a.sc & "
                     "read line <preprocessed; kill $!; wait $!");
    CHECK(outcome.code == 128 + 15);
    CHECK(folder.others({"a.sc", "cc", "preprocessed"}).empty());
}

TEST_CASE("signals that are ignored at the start remain so")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    folder.script("cc", "kill -$SIGNAL $PPID\nexec cc \"$@\"\n");
    for (std::string signal : {"INT", "TERM", "HUP", "PIPE"}) {
        INFO(signal);
        check_fine(folder.shell("trap '' " + signal + "; SPLITCC_CC=./cc SIGNAL=" + signal +
                                " '" SPLITCC_BIN_FOLDER "/splitcc' -c a.sc"));
        CHECK(folder.others({"a.sc", "cc"}) == Names{"a.o"});
        fs::remove(folder.work() / "a.o");
    }
}
