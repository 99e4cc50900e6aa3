// SPDX-License-Identifier: BSD-3-Clause
//
// The scanner: text to tokens.
#pragma once

#include "lex/lex.h"

namespace splitcc {

// Reads the next `count` tokens of the text from the byte `from` on, which is the beginning or
// a place where it has stopped before; behind the last one, every token is the end.  Returns
// where it has stopped.  `diag`: null if this part of the text has been read before.
uint32_t read_tokens(const std::string &text, uint32_t from, Names &names, Diagnostics *diag,
                     Token *tokens, uint32_t count);

} // namespace splitcc
