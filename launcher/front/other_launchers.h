// SPDX-License-Identifier: BSD-3-Clause
//
// How options of other launchers correspond to those of unetrun.
#pragma once

#include <string>

namespace unetrun {

// The option of unetrun that means the same as one of another launcher; empty if none does.
std::string our_option_for(const std::string &option);

// The options of other launchers that mean the same as one of unetrun, with `between` them.
std::string synonyms_of(const std::string &ours, const std::string &between);

// What to write instead of an option that mpirun, mpiexec or srun have and unetrun has not; empty
// if the option is not known.  `option` has no value behind '='.
std::string our_word_for(const std::string &option);

} // namespace unetrun
