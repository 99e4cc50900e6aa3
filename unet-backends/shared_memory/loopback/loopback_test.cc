// SPDX-License-Identifier: BSD-3-Clause
#include "conformance/harness.h"

const Backend backend_under_test = {.name = "loopback"};
