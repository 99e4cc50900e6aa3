// SPDX-License-Identifier: BSD-3-Clause
//
// What the C compiler says about a translation, told about the source: places are
// those that the text came from, and names that splitcc made do not occur.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "message.h"
#include "translate.h"

namespace splitcc {

struct CcMessages {
    std::vector<Message> messages;
    std::string other; // lines that are about no place
};

CcMessages read_cc_messages(std::string_view said, const Translation &translation);

} // namespace splitcc
