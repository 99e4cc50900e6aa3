// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "tree/rsh.h"

using namespace unetrun;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using Strings = std::vector<std::string>;

namespace {

// What the user is told when ssh ends so.
std::string told(int code, const std::string &words, const std::string &nonsense = {})
{
    return start_failure("host2", {"ssh", "-T"}, "/opt/bin/unetrun", {code << 8, words, nonsense})
        .what();
}

} // namespace

TEST_CASE("the remote shell's command is cut into words, with quotes")
{
    CHECK(split_words("ssh") == Strings{"ssh"});
    CHECK(split_words("  ssh\t-F file ") == Strings{"ssh", "-F", "file"});
    CHECK(split_words("ssh -F 'my file' -o \"A b\"=\"\"") ==
          Strings{"ssh", "-F", "my file", "-o", "A b="});
    for (const char *bad : {"", "  ", "ssh 'open", "''"})
        CHECK_THROWS_WITH(split_words(bad), Contains("--rsh wants a command"));
}

TEST_CASE("the remote shell gets one word to execute, whatever the path")
{
    CHECK(rsh_command({"ssh", "-T"}, "host2", "/it's here/unetrun") ==
          Strings{"ssh", "-T", "host2", "exec '/it'\\''s here/unetrun' --relay"});
}

TEST_CASE("what ssh says when a host cannot be used is told with a remedy")
{
    CHECK_THAT(told(255, "root@host2: Permission denied (publickey)."),
               Contains("host2 refuses the key: root@host2: Permission denied") &&
                   Contains("'ssh host2 true' work without a password"));
    CHECK_THAT(told(255, "ssh: connect to host host2 port 22: No route to host"),
               Contains("host2 cannot be reached: ") && Contains("the routes to it"));
    CHECK_THAT(told(255, "ssh: connect to host host2 port 22: Connection refused"),
               Contains("host2 cannot be reached: ") && Contains("sshd runs there"));
    CHECK_THAT(told(255, "ssh: connect to host host2 port 22: Connection timed out"),
               Contains("host2 cannot be reached: ") && Contains("firewall"));
    CHECK_THAT(told(255, "ssh: Could not resolve hostname host2: Name or service not known"),
               Contains("host2 is not known: ") && Contains("check the name"));
    CHECK_THAT(told(255, "ssh: connect to host host2 port 22: Cannot assign requested address"),
               Contains("host2 cannot be reached: ") && Contains("TCP port is free here"));
    CHECK_THAT(told(255, "Host key verification failed."), Contains("log in once by hand"));
}

TEST_CASE("a host without unetrun is told with the path where it has to be")
{
    CHECK_THAT(told(127, "sh: 1: exec: /opt/bin/unetrun: not found"),
               Contains("cannot run /opt/bin/unetrun on host2: sh: 1: exec: ") &&
                   Contains("install this version of unetrun there, at the same path"));
    CHECK_THAT(told(126, "bash: /opt/bin/unetrun: Permission denied"), // of the shell, not of ssh
               Contains("cannot run /opt/bin/unetrun on host2: "));
}

TEST_CASE("what a shell prints before the relay starts is shown")
{
    CHECK_THAT(told(0, "", "what arrives is not the launcher's protocol: 'Welcome!'"),
               Contains("cannot talk to host2: ") && Contains("'Welcome!'") &&
                   Contains("start-up files there print nothing"));
}

TEST_CASE("any other end of the remote shell is told as it is")
{
    CHECK_THAT(told(3, ""), Equals("ssh cannot start a daemon on host2: exit code 3; try ssh host2 "
                                   "true"));
    CHECK_THAT(start_failure("h", {"ssh"}, "u", {std::nullopt, "", ""}).what(),
               Contains("it does not answer"));
    CHECK_THAT(link_failure("h", {9, "", ""}).what(),
               Equals("lost the connection to h (killed by signal 9 (Killed))"));
}
