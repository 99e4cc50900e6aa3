// SPDX-License-Identifier: BSD-3-Clause
//
// What is made of the table of options.
#pragma once

#include <string>

namespace unetrun {

std::string help_text();

// What --print-options prints, for packaging/options.awk: a line for each option,
//     option TAB its names, separated by blanks TAB its value TAB the line of --help TAB the rest
// and one for each that other launchers call otherwise,
//     synonym TAB our name TAB the names of others, separated by blanks
std::string option_list();

} // namespace unetrun
