// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <random>

#include "source.h"

namespace {

const char head[] = R"(#include <split-c/split-c.h>

struct action {
    unsigned short state, symbol;
    short precedence;
    unsigned char extra, count;
};

)";

const char tail[] = R"(
static unsigned long found[PROCS]::;

void look_up(unsigned first, unsigned many)
{
    for (unsigned i = first; i < first + many; i++)
        found[MYPROC] += actions[i].state + names[actions[i].symbol][0] + next[i % states][1];
}
)";

} // namespace

std::string make_table(long lines)
{
    std::string text = head;
    std::mt19937 random(1);
    const long symbols = std::max(lines / 25, 1L), states = std::max(lines / 5, 1L);
    auto symbol = [&](unsigned long i) { return "symbol_of_rule_" + std::to_string(i); };
    auto any_symbol = [&] { return symbol(random() % static_cast<unsigned long>(symbols)); };
    auto number = [&](unsigned below) { return std::to_string(random() % below); };

    text += "enum { states = " + std::to_string(states) + " };\nenum symbol {\n";
    for (long i = 0; i < symbols; i++)
        text += "  " + symbol(static_cast<unsigned long>(i)) + " = " + std::to_string(i) + ",\n";
    text += "};\n\nstatic const char *const names[] = {\n";
    for (long i = 0; i < symbols; i++)
        text += "  [" + symbol(static_cast<unsigned long>(i)) + "] = \"rule " + std::to_string(i) +
                "\",\n";
    text += "};\n\nstatic const unsigned short next[][4] = {\n";
    for (long i = 0; i < states; i++)
        text += "  {" + number(65536) + ", " + number(65536) + ", " + number(256) + "},\n";
    text += "};\n\nstatic const struct action actions[] = {\n";
    for (long i = 2 * symbols + states; i < lines; i++)
        text += "  {.state = " + number(65536) + ", .symbol = " + any_symbol() +
                ", .precedence = -" + number(100) + ", .count = " + number(9) + "},\n";
    return text + "};\n" + tail;
}
