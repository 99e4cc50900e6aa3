// SPDX-License-Identifier: BSD-3-Clause
//
// MPI programs among the ranks: Open MPI's find each other by PMIx, which unetrun speaks, others
// do not, and each would be a job of one rank without a word.
#pragma once

#include <string>
#include <vector>

namespace unetrun {

// The variable that makes Open MPI 4 look for PMIx, as it only does when there is a daemon of
// mpirun's; it never talks to that.  Later ones look by themselves.
constexpr char open_mpi_variable[] = "OMPI_MCA_orte_local_daemon_uri=1.0;tcp://127.0.0.1:1";

// What is to be said of the program before it is started as several ranks; mostly nothing.
// `real_nodes`: they are not one machine that acts as several.
std::string mpi_warning(const std::string &program, bool real_nodes,
                        const std::vector<std::string> &environment);

// The shared libraries that an ELF file names, and the loader that would find them; empty if there
// are none, or it is none.
struct SharedLibraries {
    std::vector<std::string> names;
    std::string loader;
};
SharedLibraries shared_libraries(const std::string &file);

} // namespace unetrun
