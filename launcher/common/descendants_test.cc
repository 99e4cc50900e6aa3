// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>
#include <chrono>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/descendants.h"
#include "common/process.h"

using namespace unetrun;

namespace {

Spawn shell(const std::string &script)
{
    Spawn what;
    what.file = "/bin/sh";
    what.arguments = {"sh", "-c", script};
    sigemptyset(&what.signals);
    return what;
}

int status_of(pid_t pid)
{
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

// Again and again until it is true, or 30 seconds have passed: a process that was killed ends when
// it gets a processor.
template <class Condition> bool eventually(Condition condition)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);

    while (!condition()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        sched_yield();
    }
    return true;
}

} // namespace

TEST_CASE("descendants are killed however they hide")
{
    adopt_orphans();
    Pipe pipe = make_pipe();
    Spawn what = shell("setsid sh -c 'sleep 1000 & sleep 1000 & wait' & (sleep 1000 &) ; "
                       "echo ready; wait");
    what.out = pipe.write_end.get();
    spawn(what);
    pipe.write_end.reset();
    char text[16];
    REQUIRE(read(pipe.read_end.get(), text, sizeof text) == 6);
    CHECK(eventually([] {
        kill_descendants();
        return waitpid(-1, nullptr, WNOHANG) == -1;
    }));
    CHECK(read(pipe.read_end.get(), text, sizeof text) == 0); // nobody holds the pipe
}

TEST_CASE("children that are spared live on, with all they have started")
{
    adopt_orphans();
    Pipe in = make_pipe(), out = make_pipe();
    Spawn what = shell("sh -c 'echo up; read word; echo $word'; exit 3");
    what.in = in.read_end.get();
    what.out = out.write_end.get();
    const pid_t stranger = spawn(what);
    out.write_end.reset();
    char text[16];
    REQUIRE(read(out.read_end.get(), text, sizeof text) == 3);
    const std::set<pid_t> before = children();
    CHECK(before == std::set<pid_t>{stranger});

    spawn(shell("setsid sleep 1000 & sleep 1000 & wait"));
    CHECK(kill_descendants(before));
    CHECK(eventually([&] {
        waitpid(-1, nullptr, WNOHANG);
        return !kill_descendants(before);
    }));
    CHECK(children() == before);

    CHECK(write(in.write_end.get(), "alive\n", 6) == 6);
    CHECK(exit_code_of(status_of(stranger)) == 3);
    CHECK(read(out.read_end.get(), text, sizeof text) == 6);
    CHECK(children().empty());
}
