// SPDX-License-Identifier: BSD-3-Clause
//
// -Wsplit-phase: objects that are used while a get or put of them may still be
// under way, because no sync() stands between.
#pragma once

#include <vector>

#include "ast/ast.h"
#include "diag/diag.h"

namespace splitcc {

// Look at one function definition.  Only what happens on every path is reported:
// a call that may complete transfers, a label, and the paths that meet after a branch or
// a loop end what is known.
void check_split_phase(const Declaration *function, Tokens &tokens, Diagnostics &diag);

} // namespace splitcc
