// SPDX-License-Identifier: BSD-3-Clause
//
// Reading splitcc's command line.
#pragma once

#include "driver/options.h"

namespace splitcc {

// `arguments` do not begin with splitcc's own name.  Throws UsageError.
Options parse_options(std::vector<std::string> arguments);

} // namespace splitcc
