// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <filesystem>
#include <unistd.h>

#include "common/failure.h"
#include "front/settings.h"

using namespace unetrun;
using Catch::Matchers::Contains;

TEST_CASE("variables that ranks would not understand are named")
{
    struct Case {
        const char *entry, *says;
    };
    const auto bad = GENERATE(
        Case{"SPLITC_HEAP=lots", "SPLITC_HEAP wants bytes, with K, M, G or T behind the number, "
                                 "up to 16T, not 'lots'"},
        Case{"SPLITC_HEAP=", "SPLITC_HEAP wants"},
        Case{"SPLITC_BACKEND=pigeon",
             "SPLITC_BACKEND wants shm, udp, eth, fe, ni, ofi or atm; or two"},
        Case{"SPLITC_CHAOS=luck", "SPLITC_CHAOS wants loss=P"},
        Case{"SPLITC_PEER_TIMEOUT=1h", "SPLITC_PEER_TIMEOUT wants seconds"},
        Case{"SPLITC_AUTH=none", "SPLITC_AUTH wants full, header or off, not 'none'"},
        Case{"SPLITC_STREAMS=no", "SPLITC_STREAMS wants bytes, with K, M, G or T behind the "
                                  "number, or 0, not 'no'"});
    CHECK_THROWS_WITH(check_settings({"A=1", bad.entry}), Contains(bad.says));
}

TEST_CASE("variables that ranks understand, and others, pass")
{
    CHECK_NOTHROW(
        check_settings({"SPLITC_HEAP=64M", "SPLITC_BACKEND=shm,udp", "SPLITC_CHAOS=loss=0.1",
                        "SPLITC_PEER_TIMEOUT=3", "SPLITC_AUTH=header", "SPLITC_STREAMS=0",
                        "SPLITC_STREAMS=2M", "SPLITC_HEAPS=x", "nonsense", ""}));
}

TEST_CASE("a path where the current directory is gone is told")
{
    const std::filesystem::path here = std::filesystem::current_path();
    const std::filesystem::path gone =
        std::filesystem::temp_directory_path() / ("gone-" + std::to_string(getpid()));
    std::filesystem::create_directory(gone);
    std::filesystem::current_path(gone);
    CHECK(absolute_path("file") == (gone / "file").string());
    std::filesystem::remove(gone);
    CHECK_THROWS_WITH(absolute_path("."),
                      Contains("cannot tell which directory this is") && Contains("(cd)"));
    CHECK(absolute_path("/file") == "/file");
    std::filesystem::current_path(here);
}

TEST_CASE("a network that this machine is not in is told, and an interface it has not")
{
    CHECK_NOTHROW(check_network_is_here("127.0.0.0/8"));
    CHECK_NOTHROW(check_network_is_here("lo"));
    CHECK_THROWS_WITH(check_network_is_here("198.51.100.0/24"),
                      Contains("--net 198.51.100.0/24: this machine cannot be reached there"));
    CHECK_THROWS_WITH(check_network_is_here("nosuch0"),
                      Contains("--iface nosuch0: this machine has no such interface"));
}
