// SPDX-License-Identifier: BSD-3-Clause
//
// Any text at all, as if the preprocessor had printed it: lexer, parser,
// semantic analysis, lowering and emission.
#include <cstdlib>

#include "translate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    splitcc::Translation t =
        splitcc::translate(std::string(reinterpret_cast<const char *>(data), size), {});
    if (!t.ok && t.messages.empty()) // refused, and not said why
        std::abort();
    return 0;
}
