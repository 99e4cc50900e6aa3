// SPDX-License-Identifier: BSD-3-Clause
//
// Calls of the library from files that do not include its headers, as old programs have them.  The
// library's symbols begin with splitc_, and the header that names them so is not there.
#pragma once

#include <string>

#include "driver/toolchain.h"

namespace splitcc {

struct UndeclaredCalls {
    Command aliases;      // options for the linker, by which it finds the functions
    std::string messages; // what there is to say of all of them
    std::string advice;   // what other names are probably misspellings of
};

// Returns what the linker's messages (in English) say of functions of the library.  Those that
// cannot get their arguments without the header have no alias.  If `quiet`, nothing is said of the
// others.
UndeclaredCalls undeclared_calls(Toolchain &tools, const std::string &said, bool quiet);

} // namespace splitcc
