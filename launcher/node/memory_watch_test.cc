// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <fstream>
#include <stdlib.h>

#include "node/memory_watch.h"

using namespace unetrun;
namespace fs = std::filesystem;

namespace {

// A machine's proc and sys, as far as they matter here.
class Machine {
public:
    Machine()
    {
        char name[] = "/tmp/unetrun-test-XXXXXX";
        root = mkdtemp(name);
        write("proc/vmstat", "nr_free_pages 17\noom_kill 3\n");
    }
    ~Machine() { fs::remove_all(root); }
    void write(const std::string &file, const std::string &text) const
    {
        fs::create_directories((root / file).parent_path());
        std::ofstream(root / file) << text;
    }

    fs::path root;
};

const std::string what = "meanwhile the system has killed a process for lack of memory, ";
const std::string remedy = ": run fewer ranks, or give more";

} // namespace

TEST_CASE("memory: a kill in our cgroup is told with its limit, version 2")
{
    Machine machine;
    const std::string group = "sys/fs/cgroup/jobs/mine/";
    machine.write("proc/self/cgroup", "0::/jobs/mine\n");
    machine.write(group + "memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\n");
    machine.write(group + "memory.max", "268435456\n");
    MemoryWatch watch(machine.root);
    CHECK(watch.news() == "");
    machine.write(group + "memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\n");
    CHECK(watch.news() == "");
    machine.write(group + "memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 3\n");
    CHECK(watch.news() == what + "in cgroup /jobs/mine, whose limit is 262144 KiB" + remedy);
    machine.write(group + "memory.max", "max\n"); // the limit is that of a group above
    CHECK(watch.news() == what + "in cgroup /jobs/mine" + remedy);
}

TEST_CASE("memory: a kill in our cgroup is told with its limit, version 1")
{
    Machine machine;
    const std::string group = "sys/fs/cgroup/memory/mine/";
    const std::string counters = "oom_kill_disable 0\nunder_oom 0\noom_kill ";
    machine.write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/mine\n1:cpuset:/\n0::/x\n");
    machine.write(group + "memory.oom_control", counters + "0\n");
    machine.write(group + "memory.limit_in_bytes", "1048576\n");
    MemoryWatch watch(machine.root);
    CHECK(watch.news() == "");
    machine.write(group + "memory.oom_control", counters + "1\n");
    CHECK(watch.news() == what + "in cgroup /mine, whose limit is 1024 KiB" + remedy);
    machine.write(group + "memory.limit_in_bytes", "9223372036854771712\n"); // none
    CHECK(watch.news() == what + "in cgroup /mine" + remedy);
}

TEST_CASE("memory: a kill elsewhere on the machine is told as such")
{
    Machine machine;
    const std::string cgroup = GENERATE("0::/\n", "0::/somewhere/not/shown\n", "nonsense\n", "");
    machine.write("proc/self/cgroup", cgroup);
    MemoryWatch watch(machine.root);
    CHECK(watch.news() == "");
    machine.write("proc/vmstat", "nr_free_pages 17\noom_kill 4\n");
    CHECK(watch.news() == what + "the machine's or that of a limit (cgroup)" + remedy);
}

TEST_CASE("memory: a system that counts nothing")
{
    Machine machine;
    fs::remove_all(machine.root / "proc");
    MemoryWatch watch(machine.root);
    CHECK(watch.news() == "");
}
