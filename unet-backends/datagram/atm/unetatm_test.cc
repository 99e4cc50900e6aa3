// SPDX-License-Identifier: BSD-3-Clause
//
// unetatm as users run it.
#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "quoted.h"

namespace {

struct Ran {
    int code = -1;
    std::string output; // and what it said on standard error
};

Ran run(const std::string &arguments)
{
    const std::string command = quoted(UNETATM) + " " + arguments + " 2>&1";
    FILE *pipe = popen(command.c_str(), "r");
    std::array<char, 512> some;
    Ran ran;

    REQUIRE(pipe != nullptr);
    for (size_t n; (n = fread(some.data(), 1, some.size(), pipe)) > 0;)
        ran.output.append(some.data(), n);
    const int status = pclose(pipe);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
}

// Started without a command; its first line.
struct Alone {
    Alone()
    {
        int pipes[2];

        REQUIRE(pipe(pipes) == 0);
        pid = fork();
        REQUIRE(pid >= 0);
        if (pid == 0) {
            dup2(pipes[1], 1);
            execl(UNETATM, "unetatm", "--stats", nullptr);
            _exit(127);
        }
        close(pipes[1]);
        for (char c; read(pipes[0], &c, 1) == 1 && c != '\n';)
            line += c;
        close(pipes[0]);
    }
    int end(int signal)
    {
        int status = -1;

        kill(pid, signal);
        REQUIRE(waitpid(pid, &status, 0) == pid);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    pid_t pid;
    std::string line;
};

} // namespace

TEST_CASE("unetatm runs a command within a switch, and ends as it does")
{
    CHECK(run("true").code == 0);
    CHECK(run("sh -c 'exit 7'").code == 7);
    CHECK(run("--loss 1000 --seed 3 -- sh -c 'kill -9 $$'").code == 137);
    CHECK(run("sh -c 'echo $UNET_ATM_CARRIER'").output.rfind("cells:127.0.0.1:", 0) == 0);
    CHECK(run("--stats true").output.find("unetatm: cells: 0 in") == 0);
}

TEST_CASE("unetatm says what it cannot do")
{
    const Ran missing = run("no-such-program");

    CHECK(missing.code == 127);
    CHECK(missing.output == "unetatm: cannot run no-such-program: No such file or directory\n");
    for (const char *bad : {"--loss", "--loss x true", "--loss -1 true", "--loss 1000001 true",
                            "--seed '' true", "--nothing 3 true", "-x true", "--listen",
                            "--listen here true", "--listen 127.0.0.1 true"}) {
        INFO(bad);
        const Ran ran = run(bad);
        CHECK(ran.code == 2);
        CHECK(ran.output.rfind("unetatm: ", 0) == 0);
    }
    const Ran foreign = run("--listen 192.0.2.1:0 true");
    CHECK(foreign.code == 1);
    CHECK(foreign.output ==
          "unetatm: cannot listen at 192.0.2.1:0: Cannot assign requested address\n");
}

TEST_CASE("unetatm tells its options and version")
{
    CHECK(run("--help").output.rfind("usage: unetatm", 0) == 0);
    CHECK(run("--help").code == 0);
    CHECK(run("--version").output.rfind("unetatm ", 0) == 0);
}

TEST_CASE("unetatm alone prints what to set, until it is interrupted")
{
    for (int signal : {SIGINT, SIGTERM}) {
        Alone alone;
        CHECK(alone.line.rfind("UNET_ATM_CARRIER=cells:127.0.0.1:", 0) == 0);
        CHECK(alone.end(signal) == 0);
    }
}
