// SPDX-License-Identifier: BSD-3-Clause

#include "node/memory_watch.h"

#include <fstream>

namespace unetrun {

namespace fs = std::filesystem;

namespace {

// Reads a file of names and numbers.  Both versions of cgroups and the counters of the machine use
// the same name.
std::uint64_t kills_in(const fs::path &counters)
{
    std::ifstream file(counters);
    std::string name;
    for (std::uint64_t count; file >> name >> count;)
        if (name == "oom_kill")
            return count;
    return 0;
}

// Whether "cpu,memory" has memory in it.
bool has_memory(const std::string &controllers)
{
    return ("," + controllers + ",").find(",memory,") != std::string::npos;
}

// "262144 KiB"; empty if there is no limit.
std::string limit_in(const fs::path &file)
{
    std::uint64_t bytes = 0;
    if (!(std::ifstream(file) >> bytes) || bytes >= std::uint64_t{1} << 60)
        return "";
    return std::to_string(bytes >> 10) + " KiB";
}

} // namespace

// Lines are "ID:CONTROLLERS:PATH".  The line of version 2 has no controllers; it counts only where
// no line of version 1 has the memory controller.
MemoryWatch::Group MemoryWatch::own_group(const fs::path &root)
{
    const fs::path mount = root / "sys/fs/cgroup";
    std::ifstream file(root / "proc/self/cgroup");
    Group group;
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos)
            continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::string name = line.substr(second + 1);
        const fs::path below = fs::path(name).relative_path();
        if (has_memory(controllers))
            return {name, mount / "memory" / below / "memory.oom_control",
                    mount / "memory" / below / "memory.limit_in_bytes"};
        if (controllers.empty())
            group = {name, mount / below / "memory.events", mount / below / "memory.max"};
    }
    return group;
}

MemoryWatch::MemoryWatch(const fs::path &root)
    : machine_(root / "proc/vmstat"), group_(own_group(root)), machine_kills_(kills_in(machine_)),
      group_kills_(kills_in(group_.counters))
{
}

std::string MemoryWatch::news() const
{
    const std::string what = "meanwhile the system has killed a process for lack of memory, ";
    const std::string remedy = ": run fewer ranks, or give more";
    if (kills_in(group_.counters) > group_kills_) {
        const std::string limit = limit_in(group_.limit);
        return what + "in cgroup " + group_.name +
               (limit.empty() ? "" : ", whose limit is " + limit) + remedy;
    }
    if (kills_in(machine_) > machine_kills_)
        return what + "the machine's or that of a limit (cgroup)" + remedy;
    return "";
}

} // namespace unetrun
