// SPDX-License-Identifier: BSD-3-Clause
//
// Finds out whether the system has killed processes for lack of memory.  A rank that SIGKILL has
// ended may be one of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace unetrun {

class MemoryWatch {
public:
    // Watches from now on.  `root` is where proc and sys are mounted.
    explicit MemoryWatch(const std::filesystem::path &root = "/");

    // What has happened since, and what to do about it; empty if nothing has.
    std::string news() const;

private:
    // The memory cgroup of this process, in version 1 or 2 of cgroups.
    struct Group {
        std::string name;                      // "/user.slice/..."; empty: there is none
        std::filesystem::path counters, limit; // files
    };
    static Group own_group(const std::filesystem::path &root);

    std::filesystem::path machine_; // the file with its counters
    Group group_;
    std::uint64_t machine_kills_, group_kills_; // before
};

} // namespace unetrun
