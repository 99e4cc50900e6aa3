// SPDX-License-Identifier: BSD-3-Clause
//
// links.h - gam's test ranks, and "windows": processes over shm that see each other's memory.
//
// On "windows" what a rank allocates with `new` once it runs, vectors included, lies in an arena
// that all ranks have mapped.
#ifndef VMMC_LINKS_H
#define VMMC_LINKS_H

#include "world.h"

namespace links {

// As world::run; what this machine or user cannot have is left out with a word.
void run_link(const std::string &link, uint32_t ranks, const world::Body &body,
              const world::Options &options = {});

} // namespace links

// Guests of tests/kernel have another.
#ifndef VMMC_LINKS
#define VMMC_LINKS "windows", "shm", "udp", "eth", "chaos"
#endif
#define EACH_LINK GENERATE(as<std::string>{}, VMMC_LINKS)

#endif
