// SPDX-License-Identifier: BSD-3-Clause
//
// Texts from outside, made fit for the user's terminal.
#pragma once

#include <string>

namespace unetrun {

// Replaces control characters, which ranks, hosts and file names may contain: the text becomes one
// line without escape sequences.
std::string printable(std::string text);

} // namespace unetrun
