// SPDX-License-Identifier: BSD-3-Clause
//
// Every header of the C library, the kernel and gcc that gcc compiles alone is translated.  They do
// not use Split-C.  If a translation is the text that came in, the C compiler makes the same of
// both; otherwise it has to accept the translation.
#include "process.h"
#include "translate.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

namespace {

using Words = std::vector<std::string>;

Words headers_of(const std::string &package)
{
    const Outcome listed = run({{"dpkg-query", "-L", package}});
    INFO(listed.err);
    REQUIRE(listed.code == 0);
    Words names;
    std::istringstream lines(listed.out);
    for (std::string line; std::getline(lines, line);)
        if (line.ends_with(".h"))
            names.push_back(line);
    return names;
}

// Returns stdarg.h, the intrinsics and the like.
Words headers_of_cc()
{
    std::string folder = run({{"cc", "-print-file-name=include"}}).out;
    folder.erase(folder.find_last_not_of('\n') + 1);
    Words names;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".h")
            names.push_back(entry.path());
    return names;
}

class Sweep {
public:
    explicit Sweep(const std::string &standard) : standard_("-std=" + standard) {}

    void visit(const std::string &header)
    {
        const Outcome text = cc({"-E", "-D__SPLITC__=1", "-include", ABI_HEADER, header});
        if (text.code != 0)
            return; // it needs another header before it
        const splitcc::Translation made = splitcc::translate(text.out, {});
        if (made.ok && made.c == text.out) {
            same_++;
        } else if (cc({"-fsyntax-only", header}).code == 0) {
            INFO(header << ", " << standard_ << ":\n"
                        << splitcc::render_text(made.messages, false));
            CHECK(made.ok);
            check_accepted(made.c);
        }
    }
    int same() const { return same_; }

private:
    Outcome cc(const Words &words) const
    {
        Words command{"cc", standard_, "-w", "-x", "c"};
        command.insert(command.end(), words.begin(), words.end());
        return run({command});
    }
    void check_accepted(const std::string &text) const
    {
        const std::string file = folder_ / "translated.i";
        std::ofstream(file) << text;
        const Words command{"cc", standard_, "-w", "-fsyntax-only", "-x", "cpp-output", file};
        const Outcome accepted = run({command});
        INFO(accepted.err);
        CHECK(accepted.code == 0);
    }

    std::string standard_;
    TemporaryFolder folder_;
    int same_ = 0;
};

void sweep(const Words &headers, const std::string &standard, int at_least)
{
    Sweep sweep(standard);
    for (const std::string &header : headers)
        sweep.visit(header);
    CHECK(sweep.same() > at_least);
}

} // namespace

TEST_CASE("libc6-dev as gnu89")
{
    sweep(headers_of("libc6-dev"), "gnu89", 300);
}
TEST_CASE("libc6-dev as gnu99", "[long]")
{
    sweep(headers_of("libc6-dev"), "gnu99", 300);
}
TEST_CASE("libc6-dev as gnu11", "[long]")
{
    sweep(headers_of("libc6-dev"), "gnu11", 300);
}
TEST_CASE("libc6-dev as gnu17")
{
    sweep(headers_of("libc6-dev"), "gnu17", 300);
}
TEST_CASE("linux-libc-dev as gnu89", "[long]")
{
    sweep(headers_of("linux-libc-dev"), "gnu89", 600);
}
TEST_CASE("linux-libc-dev as gnu99", "[long]")
{
    sweep(headers_of("linux-libc-dev"), "gnu99", 600);
}
TEST_CASE("linux-libc-dev as gnu11", "[long]")
{
    sweep(headers_of("linux-libc-dev"), "gnu11", 600);
}
TEST_CASE("linux-libc-dev as gnu17")
{
    sweep(headers_of("linux-libc-dev"), "gnu17", 600);
}
TEST_CASE("headers of the C compiler as gnu89")
{
    sweep(headers_of_cc(), "gnu89", 20);
}
TEST_CASE("headers of the C compiler as gnu17")
{
    sweep(headers_of_cc(), "gnu17", 20);
}
