// SPDX-License-Identifier: BSD-3-Clause
//
// What other launchers call what unetrun has, too.
#pragma once

#include <string>

namespace unetrun {

// The option of ours that means the same as one of theirs; empty if none does.
std::string our_option_for(const std::string &option);

// Theirs that mean the same as one of ours: "-H, --host".
std::string synonyms_of(const std::string &ours);

// What to say instead of an option (without a value behind '=') that mpirun, mpiexec or srun
// have, and unetrun has not; empty if it is not known.
std::string our_word_for(const std::string &option);

} // namespace unetrun
