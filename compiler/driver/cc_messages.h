// SPDX-License-Identifier: BSD-3-Clause
//
// Messages of the C compiler about a translation, rewritten to be about the source: they have the
// places that the text came from, and no names that splitcc has made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/message.h"
#include "translate.h"

namespace splitcc {

struct CcMessages {
    std::vector<Message> messages;
    std::string other; // the lines that are about no place
};

// Returns the options that make the C compiler print messages in the form that is read here,
// whatever options came before.  `display_columns` tells whether it counts columns of the screen
// unless it is told to count bytes.
std::vector<std::string> cc_message_options(bool display_columns);

CcMessages read_cc_messages(std::string_view said, const Translation &translation);

} // namespace splitcc
