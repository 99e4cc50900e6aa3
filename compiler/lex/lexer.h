// SPDX-License-Identifier: BSD-3-Clause
//
// The scanner.
#pragma once

#include "lex/lex.h"

namespace splitcc {

// Scans `count` tokens from byte `from` on, which is 0 or a value returned before.  Behind the last
// token, every further one is Tok::End.  Returns the offset behind the last one scanned.  `diag` is
// null if this part of the text has been scanned before, so that errors are reported once.
uint32_t read_tokens(const std::string &text, uint32_t from, Names &names, Diagnostics *diag,
                     Token *tokens, uint32_t count);

} // namespace splitcc
