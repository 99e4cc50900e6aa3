// SPDX-License-Identifier: BSD-3-Clause
//
// Translation takes time in proportion to the size of its input, and little memory for what it only
// copies.
#include "translate.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <fstream>
#include <functional>
#include <malloc.h>
#include <pthread.h>

using namespace splitcc;

namespace {

std::string repeat(long n, const std::function<std::string(const std::string &)> &line)
{
    std::string text;
    for (long i = 0; i < n; i++)
        text += line(std::to_string(i)) + "\n";
    return text;
}

// Runs the body on a thread whose stack is large enough for long expressions, as the driver does.
void on_deep_stack(std::function<void()> body)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t{256} << 20);
    pthread_t thread;
    auto start = [](void *argument) -> void * {
        (*static_cast<std::function<void()> *>(argument))();
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, &attributes, start, &body) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

double seconds_now()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

// Returns the least processor time of three translations.
double seconds_for(const std::string &text)
{
    double least = 1e9;
    for (int i = 0; i < 3; i++) {
        double took = 0;
        Translation t;
        on_deep_stack([&] {
            const double start = seconds_now();
            t = translate(text, {});
            took = seconds_now() - start;
        });
        INFO((t.messages.empty() ? "" : t.messages[0].text));
        REQUIRE(t.ok);
        least = std::min(least, took);
    }
    return least;
}

// With sixteen times as many lines, linear time is 16 and quadratic time 256.  Caches and other
// processes account for what is in between.
void check_growth(const std::string &before,
                  const std::function<std::string(const std::string &)> &line,
                  const std::string &after)
{
    const long n = 1000;
    const std::string small = before + repeat(n, line) + after;
    const std::string large = before + repeat(16 * n, line) + after;
    const double once = seconds_for(small);
    double more = seconds_for(large);
    for (int i = 0; i < 5 && more >= 64 * once; i++) // the machine may be busy
        more = std::min(more, seconds_for(large));
    INFO(n << " lines like " << line("1") << " took " << once << " s, 16 times as many took "
           << more << " s");
    CHECK(more < 64 * once);
}

double kilobytes(const std::string &what)
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (double number; word == what && status >> number)
            return number;
    FAIL("no " << what << " in /proc/self/status");
    return 0;
}

// The memory for a translation as a multiple of its text; the text and the translation are 2.
void check_memory(const std::string &text, double most)
{
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << 5 << std::flush; // the high-water mark so far
    const double before = kilobytes("VmRSS:");
    Translation t;
    on_deep_stack([&] { t = translate(text, {}); });
    INFO((t.messages.empty() ? "" : t.messages[0].text));
    REQUIRE(t.ok);
    const double times = (kilobytes("VmHWM:") - before) * 1024 / static_cast<double>(text.size());
    INFO(text.size() << " bytes took " << times << " times as much memory, up to " << most
                     << " are expected");
    CHECK(times > 1.9);
    CHECK(times < most);
}

const std::string prologue = "typedef unsigned long splitc_ptr;\n"
                             "void splitc_sync(void); void sync(void);\n";

} // namespace

TEST_CASE("the time for designated values grows with their number")
{
    check_growth(
        "int a[] = {\n", [](auto i) { return "[" + i + "] = " + i + ","; }, "};");
    check_growth(
        "struct { int x, y; } a[] = {\n", [](auto i) { return "[" + i + "] = {.y = " + i + "},"; },
        "};");
}

TEST_CASE("the time for values grows with their number")
{
    check_growth(
        "int a[] = {\n", [](auto i) { return i + ", -" + i + ","; }, "};");
    check_growth(
        "struct { struct { int x, y[2]; } s; char c; } a[] = {\n",
        [](auto i) { return "1, 2, " + i + ", 'c',"; }, "};");
    check_growth(
        "const char a[] =\n", [](auto i) { return "\"" + i + "\""; }, ";");
}

TEST_CASE("the time for declarations grows with their number")
{
    check_growth(
        "", [](auto i) { return "int v" + i + ";"; }, "");
    check_growth(
        "", [](auto i) { return "int *global v" + i + ";"; }, "");
    check_growth(
        "", [](auto i) { return "extern int f" + i + "(int a, char *b);"; }, "");
    check_growth(
        "", [](auto i) { return "typedef struct s" + i + " { int a; } t" + i + ";"; }, "");
    check_growth(
        "int last", [](auto i) { return ", v" + i; }, ";");
    check_growth(
        "int *global last", [](auto i) { return ", v" + i; }, ";");
    check_growth(
        "extern int v;", [](auto) { return "extern int v;"; }, "");
    check_growth(
        "", [](auto i) { return "static double A" + i + "[4]::[2];"; }, "");
}

TEST_CASE("the time for members and enumerators grows with their number")
{
    check_growth(
        "struct s {\n", [](auto i) { return "int m" + i + ";"; }, "} v;");
    check_growth(
        "struct s { int first;\n", [](auto i) { return "struct { int m" + i + "; };"; }, "} v;");
    check_growth(
        "enum e {\n", [](auto i) { return "e" + i + ","; }, "};");
}

TEST_CASE("the time for uses of members grows with their number")
{
    const long members = 300;
    check_growth(
        "struct s {\n" + repeat(members, [](auto i) { return "int m" + i + ";"; }) +
            "};\nint f(struct s *p, struct s *global g) {\n",
        [](auto) { return "p->m299 += g->m299;"; }, "return 0; }");
}

TEST_CASE("the time for statements grows with their number")
{
    const std::string head = "int f(int x, int *global g) {\n", tail = "return x; }";
    check_growth(
        head, [](auto i) { return "x = x * " + i + " + 1;"; }, tail);
    check_growth(
        head, [](auto i) { return "x += *g + g[" + i + "];"; }, tail);
    check_growth(
        head, [](auto i) { return "*g = " + i + ";"; }, tail);
    check_growth(
        head, [](auto i) { return "{ int y" + i + " = x; x += y" + i + "; }"; }, tail);
    check_growth(
        head, [](auto i) { return "int y" + i + " = x;"; }, tail);
    check_growth(
        head, [](auto i) { return "if (x == " + i + ") *g = x;"; }, tail);
    check_growth(
        head, [](auto i) { return "l" + i + ": if (x) goto l" + i + ";"; }, tail);
    check_growth(
        head + "switch (x) {\n", [](auto i) { return "case " + i + ": x = *g; break;"; },
        "}" + tail);
    check_growth(
        head, [](auto i) { return "for (int i = 0; i < " + i + "; i++) x ^= i;"; }, tail);
    check_growth(
        "", [](auto i) { return "int f" + i + "(int x) { return x; }"; }, "");
}

TEST_CASE("the time for split-phase accesses grows with their number")
{
    const std::string head = prologue + "int f(int *global g) { int x[9], y;\n";
    check_growth(
        head, [](auto i) { return "x[" + i + " % 9] := g[" + i + "];"; }, "sync(); return x[0]; }");
    check_growth(
        head, [](auto i) { return "y := g[" + i + "]; sync(); x[0] += y;"; }, "return x[0]; }");
    check_growth(
        head, [](auto i) { return "g[" + i + "] :- " + i + ";"; }, "return 0; }");
    check_growth(
        head, [](auto i) { return "{ int z" + i + "; z" + i + " := *g; sync(); }"; },
        "return 0; }");
    check_growth(
        prologue + "int f(int *global g) { int y;\n" +
            repeat(300, [](auto i) { return "int x" + i + "; x" + i + " := *g;"; }),
        [](auto i) { return "y = " + i + ";"; }, "sync(); return y; }");
}

TEST_CASE("the time for one expression grows with its length")
{
    check_growth(
        "int f(int x) { return 0\n", [](auto i) { return "+ x * " + i; }, "; }");
    check_growth(
        "int f(int *global x) { return 0\n", [](auto i) { return "+ x[" + i + "]"; }, "; }");
    check_growth(
        "void g(int, ...); void f(int *global x) { g(0\n", [](auto i) { return ", x[" + i + "]"; },
        "); }");
    check_growth(
        "void f(int x) { x = 1\n", [](auto i) { return ", x += " + i; }, "; }");
}

TEST_CASE("the memory for tables is little more than that of their text")
{
    const long n = 200'000;
    check_memory("int a[] = {\n" + repeat(n, [](auto i) { return i + ", 0x" + i + ","; }) + "};",
                 5);
    check_memory("struct { const char *name; short n[4]; } a[] = {\n" +
                     repeat(n, [](auto i) { return "{.name = \"" + i + "\", {1, -2, '3', 4}},"; }) +
                     "};",
                 5);
}

TEST_CASE("the memory for plain functions is that of what they declare")
{
    const std::string body = "(int x, const char *p) {\n"
                             "    for (int i = 0; i < x; i++)\n"
                             "        x += p[i] * (x - i) / 3 % 17;\n"
                             "    while (x > 100 && p[x])\n"
                             "        x -= p[x] ? x / 2 : x / 3 + (x & 15);\n"
                             "    return x < 0 ? -x : x;\n}";
    check_memory(repeat(20'000, [&](auto i) { return "static int f" + i + body; }), 16);
}
