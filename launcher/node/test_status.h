// SPDX-License-Identifier: BSD-3-Clause
//
// The status page of a rank that waits, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <split-c/status.h>

namespace unetrun {

inline splitc_status waiting(const char *what, std::uint64_t looks = 1)
{
    splitc_status status{};
    status.magic = SPLITC_STATUS_MAGIC;
    status.whom = SPLITC_ANYBODY;
    std::strncpy(status.what, what, sizeof status.what - 1);
    status.waits = 7;
    status.looks = looks;
    return status;
}

} // namespace unetrun
