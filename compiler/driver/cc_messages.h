// SPDX-License-Identifier: BSD-3-Clause
//
// What the C compiler says about a translation, told about the source: places are
// those that the text came from, and names that splitcc made do not occur.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/message.h"
#include "translate.h"

namespace splitcc {

struct CcMessages {
    std::vector<Message> messages;
    std::string other; // lines that are about no place
};

// Options that have the C compiler speak as is understood here, whatever came before them.
// `display_columns`: it counts columns of the display unless told to count bytes.
std::vector<std::string> cc_message_options(bool display_columns);

CcMessages read_cc_messages(std::string_view said, const Translation &translation);

} // namespace splitcc
