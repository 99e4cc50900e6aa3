// SPDX-License-Identifier: BSD-3-Clause
//
// MPI programs as ranks.  Those of Open MPI find each other by PMIx, as ranks of unetrun do; those
// of other MPIs do not, and without a warning each rank would be a job of its own.
#pragma once

#include <string>
#include <vector>

namespace unetrun {

// The variable that makes Open MPI 4 use PMIx.  It does so only if mpirun has a daemon, whose
// address this is; it never connects to it.  Later versions need no variable.
constexpr char open_mpi_variable[] = "OMPI_MCA_orte_local_daemon_uri=1.0;tcp://127.0.0.1:1";

// What to warn the user of before the program is started as several ranks; mostly empty.
// `real_nodes`: no node is a machine that acts as several.
std::string mpi_warning(const std::string &program, bool real_nodes,
                        const std::vector<std::string> &environment);

// The shared libraries that an ELF file needs, and the loader that finds them; empty if there are
// none, or if it is no ELF file.
struct SharedLibraries {
    std::vector<std::string> names;
    std::string loader;
};
SharedLibraries shared_libraries(const std::string &file);

} // namespace unetrun
