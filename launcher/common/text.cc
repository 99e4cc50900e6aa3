// SPDX-License-Identifier: BSD-3-Clause

#include "common/text.h"

#include <algorithm>

namespace unetrun {

std::string printable(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
    return text;
}

} // namespace unetrun
