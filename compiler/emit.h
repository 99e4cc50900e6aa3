// SPDX-License-Identifier: BSD-3-Clause
//
// Writes the translated C: copied source and new text, with line markers
// wherever the two would make the C compiler count lines wrongly.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lex.h"
#include "rope.h"
#include "source.h"

namespace splitcc {

// Text to be put in front of a token, whatever piece that token is in.
using Insertions = std::map<uint32_t, std::string>;

std::string emit(const Source &source, const std::vector<Token> &tokens, const Rope &unit,
                 const Insertions &insertions);

} // namespace splitcc
