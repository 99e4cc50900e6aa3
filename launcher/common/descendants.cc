// SPDX-License-Identifier: BSD-3-Clause

#include "common/descendants.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <signal.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "common/failure.h"

namespace unetrun {

void adopt_orphans()
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        throw system_failure("cannot become the reaper of orphans");
}

namespace {

// State and parent of a process: the third and fourth field of its stat file; the second,
// in brackets, may contain anything.
std::optional<std::pair<char, pid_t>> stat_of(const std::filesystem::path &process)
{
    std::ifstream file(process / "stat");
    std::string line;
    std::getline(file, line);
    const std::size_t bracket = line.rfind(')');
    if (bracket == std::string::npos)
        return std::nullopt;
    std::istringstream rest(line.substr(bracket + 1));
    char state;
    pid_t parent;
    if (!(rest >> state >> parent))
        return std::nullopt;
    return std::pair(state, parent);
}

std::multimap<pid_t, pid_t> children_by_parent()
{
    std::multimap<pid_t, pid_t> children;
    std::error_code error;
    std::filesystem::directory_iterator entry("/proc", error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos)
            continue;
        if (const auto stat = stat_of(entry->path()))
            children.emplace(stat->second, std::stoi(name));
    }
    return children;
}

} // namespace

bool has_children()
{
    return waitid(P_ALL, 0, nullptr, WEXITED | WNOHANG | WNOWAIT) == 0;
}

std::set<pid_t> children()
{
    if (!has_children())
        return {}; // the usual case, which need not look at every process
    std::set<pid_t> ours;
    for (const auto &[parent, child] : children_by_parent())
        if (parent == getpid())
            ours.insert(child);
    return ours;
}

bool kill_descendants(const std::set<pid_t> &spared)
{
    const std::multimap<pid_t, pid_t> children = children_by_parent();
    std::vector<pid_t> found{getpid()};
    for (std::size_t i = 0; i < found.size(); i++) {
        const auto [first, last] = children.equal_range(found[i]);
        for (auto child = first; child != last; ++child)
            if (spared.count(child->second) == 0)
                found.push_back(child->second);
    }
    std::for_each(found.begin() + 1, found.end(), [](pid_t pid) { kill(pid, SIGKILL); });
    return found.size() > 1;
}

char process_state(pid_t pid)
{
    const auto stat = stat_of("/proc/" + std::to_string(pid));
    return stat ? stat->first : 'X';
}

} // namespace unetrun
