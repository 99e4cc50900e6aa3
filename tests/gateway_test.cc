// SPDX-License-Identifier: BSD-3-Clause
//
// An unmodified program fetches a file from a server on U-Net, and what unet-gateway refuses.
#include "process.h"

#include <catch2/catch.hpp>
#include <unistd.h>

namespace {

const std::string kBin = BUILD_FOLDER "/bin";

// Why there can be no gateway here; "" if there can.
std::string missing()
{
    if (geteuid() != 0)
        return "a TUN interface takes root";
    if (access("/dev/net/tun", R_OK | W_OK) != 0)
        return "no /dev/net/tun";
    if (run({{"sh", "-c", "curl --version"}}).code != 0)
        return "no curl";
    if (run({{"unshare", "-n", "true"}}).code != 0)
        return "no network namespace to be had";
    return "";
}

Outcome gateway(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), kBin + "/unet-gateway");
    return run({arguments});
}

} // namespace

TEST_CASE("curl fetches a file from a server on U-Net by the gateway")
{
    const std::string backend = GENERATE("shm", "udp", "eth");

    if (const std::string why = missing(); !why.empty()) {
        WARN("not run: " << why);
        return;
    }
    TemporaryFolder folder;
    // udp is on 127.0.0.1, and a new namespace has that down.
    const Outcome outcome =
        run({{"unshare", "-n", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh",
              PROJECT_SOURCE "/tests/gateway.sh", kBin, backend, folder.path}});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.out == "fetched 1 from http://10.9.0.2:8080/\n"
                         "fetched 2 from http://10.9.0.2:8080/\n");
}

TEST_CASE("A gateway replaces the socket of one that was killed, and nothing else")
{
    if (const std::string why = missing(); !why.empty()) {
        WARN("not run: " << why);
        return;
    }
    TemporaryFolder folder;
    const Outcome outcome =
        run({{"unshare", "-n", "bash", PROJECT_SOURCE "/tests/gateways.sh", kBin, folder.path}});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.out ==
          "10.9.0.0/24 on unet0, programs over shm at socket\n"
          "unet-gateway: interface unet0: Device or resource busy; another program has it: name "
          "another one with --tun\n"
          "unet-gateway: socket: another gateway serves there; name another socket\n"
          "10.9.0.0/24 on unet0, programs over shm at socket\n"
          "unet-gateway: file: cannot listen there: Address already in use; what is there is no "
          "gateway's socket: name another one\n"
          "unet-gateway: none/socket: cannot listen there: No such file or directory; make its "
          "directory, or name another socket\n"
          "unet-gateway: interface lo: Invalid argument; no TUN interface can have that name: name "
          "another one with --tun\n"
          "unet-gateway: interface unet1: Operation not permitted; making it takes CAP_NET_ADMIN, "
          "and that /dev/net/tun may be opened\n"
          "content\n");
}

TEST_CASE("The gateway says which names no interface can have")
{
    for (const auto &[name, why] :
         {std::pair{"a-name-of-16-chrs", "File name too long; a name has at most 15 characters"},
          {"", "no TUN interface can have that name"},
          {"tun%d", "no TUN interface can have that name"}}) {
        const Outcome outcome =
            gateway({"--network", "10.9.0.0/24", "--tun", name, "/nowhere/socket"});
        INFO(outcome.err);
        CHECK(outcome.code == 1);
        CHECK_THAT(outcome.err,
                   Catch::Contains(why) && Catch::Contains("name another one with --tun"));
        CHECK_THAT(outcome.err, !Catch::Contains("CAP_NET_ADMIN"));
    }
}

TEST_CASE("The gateway says what is wrong with its command line")
{
    CHECK(gateway({}).code == 2);
    CHECK(gateway({"--what"}).code == 2);
    for (const std::vector<std::string> &arguments :
         {std::vector<std::string>{"--network", "10.9.0.0/24"},
          {"socket"},
          {"--network", "10.9.0.0/24", "socket", "another"}}) {
        const Outcome outcome = gateway(arguments);
        CHECK(outcome.code == 2);
        CHECK_THAT(outcome.err, Catch::Contains("--network and one SOCKET are needed"));
    }
    for (const char *network :
         {"10.9.0.0", "10.9.0.0/30", "10.9.0.0/7", "10.9.0/24", "10.9.0.0/24x"}) {
        const Outcome outcome = gateway({"--network", network, "/nowhere/socket"});
        INFO(network);
        CHECK(outcome.code == 2);
        CHECK_THAT(outcome.err, Catch::Contains("is no network such as 10.9.0.0/24"));
    }
    const Outcome outcome = gateway({"--network", "10.9.0.0/24", "--backend", "none", "socket"});
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, Catch::Contains("no backend 'none'"));
}

TEST_CASE("The gateway tells its options")
{
    const Outcome outcome = gateway({"--help"});

    CHECK(outcome.code == 0);
    for (const char *option : {"--network ADDRESS/PREFIX", "--backend", "--tun", "SOCKET"})
        CHECK_THAT(outcome.out, Catch::Contains(option));
    CHECK_THAT(gateway({"--print-options"}).out, Catch::Contains("option\t--tun\tNAME\t"));
    CHECK_THAT(gateway({"--version"}).out, Catch::Matches("unet-gateway [0-9]+[.][0-9.]+\n"));
    CHECK(gateway({"--version"}).code == 0);
}

TEST_CASE("What the gateway cannot print is no success")
{
    const std::string option = GENERATE("--help", "--version", "--print-options");
    const Outcome full =
        run({{"sh", "-c", "exec \"$@\" >/dev/full", "sh", kBin + "/unet-gateway", option}});

    CHECK(full.code == 1);
    CHECK(full.err == "unet-gateway: cannot write to standard output: No space left on device\n");
}

TEST_CASE("A program without its gateway says so")
{
    TemporaryFolder folder;
    const Outcome outcome = run({{kBin + "/ip_serve", folder / "socket", "/etc/hostname"}});

    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, Catch::Contains("socket: No such file or directory"));
}
