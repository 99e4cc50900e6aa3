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
}

TEST_CASE("A program without its gateway says so")
{
    TemporaryFolder folder;
    const Outcome outcome = run({{kBin + "/ip_serve", folder / "socket", "/etc/hostname"}});

    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, Catch::Contains("socket: No such file or directory"));
}
