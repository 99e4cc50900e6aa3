// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

// A Split-C module of at least so many lines, always the same for the same number:
// numbered variations of ordinary functions, some on local and some on global data.
std::string make_source(long lines);

// The same of tables: initializers with designators, names and numbers, and a function that
// looks something up in them.
std::string make_table(long lines);
