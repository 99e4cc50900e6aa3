// SPDX-License-Identifier: BSD-3-Clause
//
// Needs the kernel module, so it runs in a virtual machine: see tests/kernel.
#include "conformance/harness.h"

const Backend backend_under_test = {.name = "fe"};
