// SPDX-License-Identifier: BSD-3-Clause
//
// -Wsplit-phase: objects that are used before a get or put of them is certainly complete.
#pragma once

#include <vector>

#include "ast/ast.h"
#include "diag/diag.h"

namespace splitcc {

// Checks one function definition.  It reports only what happens on every path.  Knowledge of
// transfers in progress ends at a call that may complete them, at a label, and where paths meet
// that disagree.
void check_split_phase(const Declaration *function, Tokens &tokens, Diagnostics &diag);

} // namespace splitcc
