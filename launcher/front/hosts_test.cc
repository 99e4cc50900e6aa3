// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "common/failure.h"
#include "front/hosts.h"

using namespace unetrun;
using Catch::Matchers::Contains;
using Hosts = std::vector<Host>;

namespace Catch {

template <> struct StringMaker<Host> {
    static std::string convert(const Host &host)
    {
        return host.name + ":" + (host.slots ? std::to_string(*host.slots) : "-") + " x" +
               std::to_string(host.times);
    }
};

} // namespace Catch

TEST_CASE("hosts are named with slots or without")
{
    CHECK(parse_hosts("a") == Hosts{{"a", {}}});
    CHECK(parse_hosts("a:1,b:65536") == Hosts{{"a", 1}, {"b", 65536}});
    CHECK(parse_hosts("a,b:4,me@c.example.org") ==
          Hosts{{"a", {}}, {"b", 4}, {"me@c.example.org", {}}});
}

TEST_CASE("addresses may stand for names")
{
    CHECK(parse_hosts("10.0.0.1:2,fe80::1,[fe80::2]:3,[::1]") ==
          Hosts{{"10.0.0.1", 2}, {"fe80::1", {}}, {"fe80::2", 3}, {"::1", {}}});
}

TEST_CASE("a host named twice has the slots of both")
{
    CHECK(parse_hosts("a,b,a:3,a") == Hosts{{"a", 5}, {"b", {}}});
}

TEST_CASE("a host named twice without slots is known to have been")
{
    CHECK(parse_hosts("a,b,a") == Hosts{{"a", {}, 2}, {"b", {}}});
}

TEST_CASE("what is no list of hosts is refused with the piece that is wrong")
{
    CHECK_THROWS_WITH(parse_hosts(""), Contains("--hosts: '' is no host's name"));
    CHECK_THROWS_WITH(parse_hosts("a,,b"), Contains("'' is no host's name"));
    CHECK_THROWS_WITH(parse_hosts("a,"), Contains("'' is no host's name"));
    CHECK_THROWS_WITH(parse_hosts("-oProxyCommand=x"), Contains("'-oProxyCommand=x'"));
    CHECK_THROWS_WITH(parse_hosts("a b"), Contains("'a b' is no host's name"));
    CHECK_THROWS_WITH(parse_hosts("a:0"), Contains("from 1 to 65536, not '0'"));
    CHECK_THROWS_WITH(parse_hosts("a:65537"), Contains("from 1 to 65536, not '65537'"));
    CHECK_THROWS_WITH(parse_hosts("a:"), Contains("not ''"));
    CHECK_THROWS_WITH(parse_hosts("a:4x"), Contains("not '4x'"));
    CHECK_THROWS_WITH(parse_hosts("[::1"), Contains("'[::1'"));
    CHECK_THROWS_WITH(parse_hosts("[::1]x:2"), Contains("write [address]:slots"));
    CHECK_THROWS_WITH(parse_hosts("[]:2"), Contains("'' is no host's name"));
}

TEST_CASE("a host file has a host a line, in the ways that others write them")
{
    CHECK(parse_host_file("# our machines\n\na\nb:4 # the big one\n  c slots=2\r\na\n", "f") ==
          Hosts{{"a", {}, 2}, {"b", 4}, {"c", 2}});
}

TEST_CASE("a bad host file is refused with the line that is wrong")
{
    CHECK_THROWS_WITH(parse_host_file("a\nb cpus=2\n", "f"), Contains("f:2: 'cpus=2'"));
    CHECK_THROWS_WITH(parse_host_file("a slots=many\n", "f"),
                      Contains("f:1: ") && Contains("not 'many'"));
    CHECK_THROWS_WITH(parse_host_file("# none\n", "f"), Contains("--hostfile f names no host"));
    CHECK_THROWS_WITH(read_host_file("/no/such"),
                      Contains("--hostfile /no/such: No such file or directory"));
    CHECK_THROWS_WITH(read_host_file("/"), Contains("--hostfile /: Is a directory"));
    CHECK_THROWS_WITH(read_host_file("/dev/null"), Contains("--hostfile /dev/null names no host"));
}

TEST_CASE("this machine is known by its name and by loopback addresses")
{
    for (const char *name : {"localhost", "LocalHost", "127.0.0.1", "127.0.1.1", "::1", "box",
                             "box.example.org", "BOX"})
        CHECK(is_here(name, "box.example.org"));
    for (const char *name : {"boxer", "box.example", "box.else.org", "me@localhost", "me@box",
                             "10.0.0.1", "::2", "example.org"})
        CHECK_FALSE(is_here(name, "box.example.org"));
    CHECK_FALSE(is_here("box.example.org", "box")); // it may be another one
    CHECK_FALSE(is_here("box", ""));
}
