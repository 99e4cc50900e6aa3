// SPDX-License-Identifier: BSD-3-Clause
//
// Writes the translated C: copied source and new text, with line markers
// wherever the two would make the C compiler count lines wrongly.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/origins.h"
#include "emit/rope.h"
#include "lex/lex.h"
#include "source/source.h"

namespace splitcc {

// Text that stands for the tokens from the key up to, not including, `last`,
// whatever piece they are in; if there are none, it goes in front of the token: as a part
// of the construct there, or, where it may move nothing, right behind the token before.
struct Substitution {
    enum Place : uint8_t { AtToken, BeforeGap };
    uint32_t last;
    std::string text;
    Place place = AtToken;
};
using Substitutions = std::map<uint32_t, Substitution>;

// The translation; `origins` learns where it comes from.
std::string emit(const Source &source, Tokens &tokens, const Rope &unit,
                 const Substitutions &substitutions, Origins &origins);

} // namespace splitcc
