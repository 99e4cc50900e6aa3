// SPDX-License-Identifier: BSD-3-Clause
//
// Messages of the C compiler have the right places in all texts that old sources contain, with any
// compiler and any options.
#include "driver/driver_folder.h"

#include <algorithm>
#include <vector>

namespace {

// Returns what splitcc prints when it compiles this with each of the C compilers.
std::vector<std::string> said_about(const std::string &source, const std::string &options)
{
    Folder folder;
    folder.file("a.sc", source);
    std::vector<std::string> all;
    for (std::string cc : {"gcc", "clang"})
        all.push_back(folder.splitcc("-cc " + cc + " " + options + " -c a.sc").err);
    return all;
}

// Checks that both print one warning, about `place`.
void check_place(const std::string &source, const std::string &place, const std::string &shown,
                 const std::string &options = "")
{
    for (const std::string &said : said_about(source, options)) {
        CHECK_THAT(said, Catch::StartsWith("a.sc:" + place + ": warning: ") &&
                             Catch::EndsWith("\n" + shown));
        CHECK(std::count(said.begin(), said.end(), '\n') == 3);
    }
}

} // namespace

TEST_CASE("messages of the C compiler stand at their places behind tabs")
{
    check_place("int f(void) {\n\treturn \"abc\"; }\n", "2:9",
                "  2 | \treturn \"abc\"; }\n    | \t       ^\n");
    check_place("int *global g;\nint f(void) {\n\tint a = *g;\treturn\t\"abc\"; }\n", "3:21",
                "  3 | \tint a = *g;\treturn\t\"abc\"; }\n    | \t           \t      \t^\n");
}

TEST_CASE("messages of the C compiler stand at their places behind UTF-8")
{
    check_place("int f(void) { /* h\xc3\xa4 */ return \"abc\"; }\n", "1:32",
                "  1 | int f(void) { /* h\xc3\xa4 */ return \"abc\"; }\n"
                "    |                               ^\n");
    // Two wide characters take four columns.
    check_place(
        "int *global g;\nint f(void) { /* \xe6\xbc\xa2\xe5\xad\x97 */ *g = 1; return \"a\"; }\n",
        "2:43",
        "  2 | int f(void) { /* \xe6\xbc\xa2\xe5\xad\x97 */ *g = 1; return \"a\"; }\n"
        "    |                                         ^\n");
}

TEST_CASE("messages of the C compiler stand at their places where lines end with CR LF")
{
    check_place("int f(void) {\r\n\treturn \"abc\"; }\r\n", "2:9",
                "  2 | \treturn \"abc\"; }\n    | \t       ^\n");
    check_place("#define F(a, b) b\r\nint f(int n)\r\n{\r\n\tF(1, \\\r\n\t\tint unused;)\r\n"
                "\treturn n;\r\n}\r\n",
                "5:7", "  5 | \t\tint unused;)\n    | \t\t    ^~~~~~\n", "-Wunused-variable");
    for (const std::string &said : said_about("char *s = \"a\r\nb\r\nc\";\r\nint f(void) {\r\n"
                                              "\treturn x; }\r\n",
                                              ""))
        CHECK_THAT(said, Contains("\na.sc:5:9: error: "));
}

TEST_CASE("messages of the C compiler know the letters of names")
{
    check_place("int *global g;\nint f(void) {\n\tint \xc3\xa4x; return *g; }\n", "3:6",
                "  3 | \tint \xc3\xa4x; return *g; }\n    | \t    ^~\n", "-Wunused-variable");
}

TEST_CASE("messages of the C compiler are told however it is to write its own")
{
    const std::string source = "int f(void) {\n\treturn \"abc\"; }\n";
    check_place(source, "2:9", "  2 | \treturn \"abc\"; }\n    | \t       ^\n",
                "-fno-show-column -fmessage-length=30");
    for (const std::string &said : said_about(source, "-fdiagnostics-color=always"))
        CHECK_THAT(said, Contains("\033[1ma.sc:2:9: \033[1;35mwarning: "));
    Folder folder;
    folder.file("a.sc", source);
    Outcome display = folder.splitcc("-cc gcc -fdiagnostics-column-unit=display "
                                     "-fdiagnostics-column-origin=0 -c a.sc");
    CHECK_THAT(display.err, Catch::StartsWith("a.sc:2:9: warning: "));
    check_refused(folder.splitcc("-fdiagnostics-format=sarif-stderr -c a.sc"), "'text' or 'json'");
}

TEST_CASE("messages of the C compiler are about macros only where there is one")
{
    check_place("#include <stddef.h>\n\nint;\n", "3:1", "  3 | int;\n    | ^~~\n");
    for (const std::string &said : said_about("#include <stddef.h>\n\nint;\n", ""))
        CHECK_THAT(said, !Contains("expansion"));
    const std::string source = "#include <stddef.h>\n#define F(x) x\n\nint A[2];\n\nint f(void)\n"
                               "{\n    return strlen(\"a\");\n}\n";
    CHECK_THAT(said_about(source, "-std=gnu11").front(), // gcc names a place between lines
               Contains("\na.sc:8: note: include ") && !Contains("define") && !Contains("int A"));
    const std::string declared = "#include <stddef.h>\n#define N 3\n\nchar *malloc();\n";
    CHECK_THAT(said_about(declared, "-std=gnu89").front(), // the same
               Contains("\na.sc:4: note: ‘malloc’ is declared ") && !Contains("define"));
}

TEST_CASE("what a header that is included twice defines again is told with the cause")
{
    Folder folder;
    folder.file("a.h", "typedef struct { int x; } mask;\n");
    folder.file("a.sc", "#include \"a.h\"\n#include \"a.h\"\n");
    CHECK_THAT(folder.splitcc("-cc gcc -c a.sc").err,
               Catch::StartsWith("In file included from a.sc:2:\na.h:1:27: error: ") &&
                   Contains("\na.h:1:27: note: ") && Contains(": this file is included twice"));
}

TEST_CASE("what -pedantic tells is about the program's own text")
{
    Folder folder;
    folder.file("a.sc", "#include <split-c/split-c.h>\n#include <split-c/am.h>\n"
                        R"(
struct node {
    int key;
    unsigned bits : 3;
};

int A[4]::[3];
static double *global mean;
static struct node *spread nodes, plain;

static int add(int *p, int n)
{
    return *p += n;
}

static void handler(int source, am_word w)
{
    A[0][0] = (int)w + source;
}

static int several(int n, int B[n]::)
{
    int C[n]::[2];
    struct node *global g = nodes, D[2]::;
    static int E[2]::[2];

    g->bits = 3;
    g->bits++;
    C[0][1] = g->bits + g->key + plain.key;
    E[1][0] += C[0][1];
    D[0].key = B[0];
    am_request_1(0, handler, 7);
    return atomic(add, &A[1][2], 4) + E[1][1];
}

int splitc_main(int argc, char **argv)
{
    int x, B[2]::;
    int *global g = &B[1], *spread s = B;

    x := *g;
    *g := argc;
    sync();
    *g :- argv != 0;
    *s++ = x++;
    *mean = 0.5;
    g += 2;
    all_store_sync();
    return tolocal(g) == 0 ? several(2, B) : (int)toproc(g);
}
)");
    const std::string flags = "-pedantic-errors -Wall -Wextra -Werror -c a.sc ";
    for (std::string cc : {"gcc", "clang"})
        for (std::string more : {"", "-fcheck", "-fprofile-lines", "-std=c99", "-O2"}) {
            Outcome outcome = folder.splitcc("-cc " + cc + " " + flags + more);
            INFO(cc << " " << more);
            check_fine(outcome);
            CHECK(outcome.err.empty());
        }
    folder.file("b.sc", "int *global g; ; int f(void) { return ({ *g; }); }\n");
    for (std::string cc : {"gcc", "clang"}) {
        Outcome own = folder.splitcc("-cc " + cc + " -pedantic -c b.sc");
        CHECK_THAT(own.err, Contains("b.sc:1:16: warning: ") &&
                                Contains(cc == "gcc" ? "b.sc:1:39: warning: " : "b.sc:1:40: "));
    }
}

TEST_CASE("a function of the library that is not declared is told with its header")
{
    const std::string program = "void f(void)\n{\n    barrier();\n    own();\n}\n";
    for (const std::string &said :
         said_about(program, "-std=gnu89 -Wimplicit-function-declaration")) {
        INFO(said);
        const size_t hint = said.find("; #include <split-c/split-c.h> declares it [-W");
        CHECK(said.find("a.sc:3:5: warning: ") < hint);
        CHECK(hint < said.find("a.sc:4:5: warning: "));
        CHECK(hint == said.rfind("; #include"));
    }
}

TEST_CASE("a global pointer that is printed as an int is named in plain words")
{
    const std::string program = R"(int printf(const char *, ...);
struct r { char name[8]; int v; int *global q; };
void f(struct r *global g, int A[4]::)
{
    printf("%d", g);
    printf("%s", g->name);
    printf("%d", &g->v);
    printf("%s", g + 1);
    printf("%d", g->q);
    printf("%d", &A[2]);
}
)";
    for (const std::string &said : said_about(program, "-Wformat"))
        for (int line = 5; line <= 10; line++) {
            const size_t at = said.find("a.sc:" + std::to_string(line) + ":");
            INFO("line " << line << " of:\n" << said);
            REQUIRE(at != said.npos);
            CHECK_THAT(said.substr(at, said.find('\n', at) - at),
                       Contains(" is a global pointer [-Wformat"));
        }
}

TEST_CASE("a function that a global pointer leads to is not named by what reads it")
{
    const std::string program = R"(struct s { int (*f)(int *); } *global g;
void f(void)
{
    (*g->f)("x");
    g[1].f("x");
}
)";
    for (const std::string &said : said_about(program, "")) {
        INFO(said);
        CHECK_THAT(said, Contains("a.sc:4:13: warning: ") && Contains("a.sc:5:12: warning: "));
        CHECK_THAT(said, !Contains("{...}"));
    }
}

TEST_CASE("a global pointer that only sizeof uses is used")
{
    const std::string program = R"(struct r { char name[8]; };
unsigned long f(struct r *global p, int (*global a)[4], double A[]::)
{
    int *global q = 0;
    static char t[sizeof *a];
    _Static_assert(sizeof *q == 4, "");
    return sizeof p->name + sizeof(A[0]) + sizeof t;
}
)";
    for (const std::string &said : said_about(program, "-Wall -Wextra"))
        CHECK(said.empty());
}

TEST_CASE("types that global pointers occur in are told in the user's terms")
{
    const std::string program = R"(#include <stdio.h>
int *global *pp;
char *spread who(int *global);
void several(int *global *a, int n);
void f(int *q)
{
    printf("%d %f\n", pp, &pp);
    char *c = who;
    int n = who;
    several(q, *c + n);
    int (*fn)(int) = several;
    fn(1);
}
int h(void) { return who; }
)";
    for (const std::string &said : said_about(program, "-Wall")) {
        INFO(said);
        CHECK_THAT(said, !Contains("splitc_") && !Contains("long") && !Contains("aka"));
        CHECK_THAT(said, Contains("T *global *") && Contains("T *global **") &&
                             Contains("T *spread (") && Contains("(T *global)") &&
                             Contains("T *global *, int)"));
        for (const char *place : {"7:", "8:", "9:", "10:", "11:", "14:"})
            CHECK_THAT(said, Contains(std::string("a.sc:") + place));
        for (const char *option :
             {" [-Wformat", " [-Wincompatible-pointer-types]", " [-Wint-conversion]"})
            CHECK_THAT(said, Contains(option));
        CHECK_THAT(said, Contains("a.sc:4:"));
    }
}

TEST_CASE("assignments to global objects are assignments to the C compiler, too")
{
    for (const std::string &said : said_about("struct s { double *p; };\n"
                                              "void f(struct s *global g, int *global i, int *q)\n"
                                              "{\n    g->p = q;\n    *i = q;\n    *i :- q;\n}\n",
                                              "")) {
        INFO(said);
        CHECK_THAT(said, Contains("assign") && !Contains("initializ"));
        for (const char *place : {"a.sc:4:", "a.sc:5:", "a.sc:6:"})
            CHECK_THAT(said, Contains(place));
    }
}

TEST_CASE("what splitcc has warned of is not warned of by the C compiler")
{
    for (const std::string &said : said_about(
             "int *global *pp;\nint *f(void)\n{\n    int *q = pp;\n    return q;\n}\n", "")) {
        INFO(said);
        CHECK_THAT(said, Contains("makes 'int *' from 'int *global *'"));
        CHECK(said.find("-Wincompatible-pointer-types") ==
              said.rfind("-Wincompatible-pointer-types"));
    }
}

TEST_CASE("comments that say that a case falls through reach the C compiler")
{
    Folder folder;
    folder.file("a.sc", R"(#define CALL(x) g(x)
int *global at;
void g(int);
void f(int n)
{
    switch (n) {
    case 1:
        *at = 1;
        /* FALLTHROUGH */
    case 2:
        CALL(2); // falls through
    case 3: g(3); /* FALLTHRU */ case 4: *at = 4; /* Fall thru. */

    case 5:
        g(5);
        /* Here we
         * fall through. */
    case 6:
        g("/* FALLTHROUGH */"[0]);
    case 7:
        g(7); /* fall through */ g(8);
    case 8:
        g(8);
        // fall through
        // to the end


    /*









    */
    again:
    default:
        if (*at)
            goto again;
    }
}
)");
    // gcc itself says the same if there is no global pointer.
    folder.shell("sed 's/int .global at/extern int *at/' a.sc >plain.c");
    for (std::string level : {"-Wextra", "-Wimplicit-fallthrough=2", "-Wimplicit-fallthrough=4",
                              "-Wimplicit-fallthrough=5"}) {
        INFO(level);
        const std::string places = " 2>&1 | grep -o '[0-9]*:[0-9]*: note: here'";
        Outcome theirs = folder.shell("gcc " + level + " -c plain.c" + places);
        Outcome ours =
            folder.shell("'" SPLITCC_BIN_FOLDER "/splitcc' -cc gcc " + level + " -c a.sc" + places);
        CHECK(ours.out == theirs.out);
        CHECK_FALSE(ours.out.empty());
    }
    CHECK_THAT(folder.splitcc("-cc gcc -Wextra -c a.sc").err,
               Contains("a.sc:15:9: warning: ") && Contains("a.sc:19:9: warning: ") &&
                   Contains("a.sc:21:34: warning: ") && !Contains("a.sc:8:"));
}

// What -Wall says nothing of in C it says nothing of in the translation either.
TEST_CASE("the C compiler warns of nothing that only the translation has")
{
    const std::string sources[] = {
        // values that nobody uses, in commas, loops and conditional expressions
        "void f(int *global g, int *global h, int n)\n{\n"
        "    *g += 1, *h |= 2, (*g)++;\n"
        "    for (n = 0, *g = 0; n < 3; n++, --*h)\n"
        "        n ? (*g = 1) : (*h)++;\n"
        "    n = ({ n++, *g += 2; });\n"
        "    (g++, h++), ((*g)++, (*h)++);\n}\n",
        // one comparison in parentheses
        "int f(int *global g, int *spread s)\n{\n"
        "    while (g == 0)\n        g++;\n"
        "    if (s == 0)\n        return 1;\n"
        "    return g != s + 1;\n}\n",
        // qualifiers of objects that hold far pointers
        "typedef int *global place;\n"
        "struct pair { place restrict a; volatile place b; };\n"
        "int f(place restrict p, struct pair *q)\n{\n"
        "    q->b--;\n    q->b += 2;\n    return *p + *q->a++ + *q->b;\n}\n",
        // types defined in front of far members, and with qualifiers
        "struct graph { struct node { int v; struct node *global next; } *global head; int n; };\n"
        "struct lists { union { int i; float f; } u, *global p; enum { A, B } *global c; };\n"
        "volatile struct { int v; } *global v;\n"
        "const struct point { int x, y; } origin = {0, 0}, *global where;\n",
        // the address of what has no value yet
        "void *malloc(unsigned long);\n"
        "int f(void)\n{\n    int buffer[3];\n    int *global g = buffer, *global h = malloc(4);\n"
        "    *g = 1;\n    *h = 2;\n    return *g + *h;\n}\n",
        // a boolean bit-field
        "struct flags { unsigned a : 3; _Bool b : 1; };\n"
        "void f(struct flags *global g)\n{\n    g->b = 1;\n    g->a = 2;\n"
        "    g->b |= 1, g->b ^= 1, g->b++, --g->b, g->a += 2;\n}\n",
    };
    for (const std::string &source : sources)
        for (const std::string &said : said_about(source, "-Wall")) {
            INFO(source);
            CHECK(said == "");
        }
}

TEST_CASE("a misspelled option of splitcc's own is told before cc suggests one of its own")
{
    Folder folder;
    folder.file("a.sc", kAlone);
    const std::array<std::array<std::string, 2>, 7> words{
        {{"-fchek", "-fcheck"},
         {"-fno-chek", "-fno-check"},
         {"-fprofile-line", "-fprofile-lines"},
         {"-fold-program", "-fold-programs"},
         {"-Wsplit-phas", "-Wsplit-phase"},
         {"-Wno-split-phas", "-Wno-split-phase"},
         {"-Werror=loca-escape", "-Werror=local-escape"}}};
    for (std::string cc : {"gcc", "clang"})
        for (const auto &[wrong, right] : words)
            check_refused(folder.splitcc("-cc " + cc + " -c " + wrong + " a.sc"),
                          "unknown option '" + wrong + "'; did you mean '" + right + "'?");
    check_refused(folder.splitcc("-c -fcheck=all a.sc"), "-fcheck takes no value");
    // These are options of cc, however similar.
    check_fine(folder.splitcc("-cc gcc -c -fprofile-values -Wlogical-op -fprofile-use a.sc"));
    CHECK_THAT(folder.splitcc("-cc gcc -show -c -fcheck-new a.sc").out, Contains("-fcheck-new"));
}
