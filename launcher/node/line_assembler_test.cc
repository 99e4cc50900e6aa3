// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <random>

#include "node/line_assembler.h"

using namespace unetrun;

namespace {

struct Collector {
    std::vector<std::string> pieces;
    LineAssembler::Emit emit = [this](std::string_view bytes) { pieces.emplace_back(bytes); };

    std::string all() const
    {
        std::string text;
        for (const auto &piece : pieces)
            text += piece;
        return text;
    }
};

} // namespace

TEST_CASE("an unfinished line waits for its end")
{
    Collector out;
    LineAssembler lines(true);
    lines.feed("one\ntw", out.emit);
    CHECK(out.all() == "one\n");
    lines.feed("o", out.emit);
    CHECK(out.all() == "one\n");
    lines.feed("\nthree", out.emit);
    CHECK(out.all() == "one\ntwo\n");
    lines.finish(out.emit);
    CHECK(out.all() == "one\ntwo\nthree");
    CHECK(lines.held() == 0);
}

TEST_CASE("a writer that is alone need not wait")
{
    Collector out;
    LineAssembler lines(false);
    lines.feed("prompt> ", out.emit);
    CHECK(out.all() == "prompt> ");
    lines.feed("", out.emit);
    CHECK(out.pieces.size() == 1);
}

TEST_CASE("any bytes in any portions come out as they went in, cut at ends of lines only")
{
    std::mt19937 random(42);
    for (int round = 0; round < 300; round++) {
        std::string bytes(random() % 4000, '\0');
        for (char &byte : bytes)
            byte = random() % 20 == 0 ? '\n' : static_cast<char>(random());
        Collector out;
        LineAssembler lines(true);
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t size = 1 + random() % 200;
            lines.feed(std::string_view(bytes).substr(at, size), out.emit);
            at += size;
        }
        for (const auto &piece : out.pieces)
            REQUIRE(piece.back() == '\n');
        lines.finish(out.emit);
        REQUIRE(out.all() == bytes);
    }
}

TEST_CASE("a line up to the limit stays whole, and a longer one passes in bounded pieces")
{
    const std::string portion(64 << 10, 'x');
    Collector out;
    LineAssembler lines(true);
    for (std::size_t fed = 0; fed + portion.size() < line_max; fed += portion.size())
        lines.feed(portion, out.emit);
    CHECK(out.pieces.empty());
    lines.feed("\n", out.emit);
    REQUIRE(out.pieces.size() == 1);
    CHECK(out.pieces[0].size() == line_max - portion.size() + 1);

    for (int i = 0; i < 100; i++) {
        lines.feed(portion, out.emit);
        REQUIRE(lines.held() < line_max);
    }
    CHECK(out.pieces.size() > 1);
}
