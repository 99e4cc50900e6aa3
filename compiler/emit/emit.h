// SPDX-License-Identifier: BSD-3-Clause
//
// The folder emit/ writes the translated C: source text that is copied, and new text between it,
// with line markers wherever the C compiler would count lines differently.  It includes source/ and
// lex/, and knows nothing of the tree; lower/ hands it a Rope.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/origins.h"
#include "emit/rope.h"
#include "lex/lex.h"
#include "source/source.h"

namespace splitcc {

// Text that replaces the tokens from the key up to, not including, `last`, in whatever piece of the
// rope they are.  If there are no such tokens, the text is inserted before the token: as a part of
// the construct there, or directly behind the token before, where it moves nothing.
struct Substitution {
    enum Place : uint8_t { AtToken, BeforeGap };
    uint32_t last;
    std::string text;
    Place place = AtToken;
};
using Substitutions = std::map<uint32_t, Substitution>;

// Returns the translation, and records in `origins` where its text comes from.
std::string emit(const Source &source, Tokens &tokens, const Rope &unit,
                 const Substitutions &substitutions, Origins &origins);

} // namespace splitcc
