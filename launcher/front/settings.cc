// SPDX-License-Identifier: BSD-3-Clause

#include "front/settings.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <filesystem>
#include <net/if.h>
#include <split-c/settings.h>
#include <unet/unet_chaos.h>

#include "common/failure.h"
#include "common/networks.h"

namespace unetrun {

namespace {

struct Setting {
    const char *variable;
    bool (*good)(const char *value);
    const char *wants;
};

const Setting settings[] = {
    {"SPLITC_HEAP", [](const char *value) { return splitc_told_bytes(value) != 0; },
     "bytes, with K, M, G or T behind the number, up to 16T"},
    {"SPLITC_BACKEND",
     [](const char *value) {
         splitc_backends told;
         return splitc_told_backends(value, &told) == 0;
     },
     "shm, udp, eth, fe, ni, ofi or atm; or two, for the ranks of a node and between nodes, as in "
     "shm,udp; or auto"},
    {"SPLITC_CHAOS",
     [](const char *value) {
         unet_chaos told;
         return unet_chaos_parse(value, &told) == 0;
     },
     "loss=P,dup=P,reorder=P,truncate=P,flip=P,seed=N, or some of it, with probabilities P from 0 "
     "to 1"},
    {"SPLITC_PEER_TIMEOUT", [](const char *value) { return splitc_told_ms(value) != 0; },
     "seconds, from 0.1 to 86400"},
    {"SPLITC_AUTH", [](const char *value) { return splitc_told_auth(value) >= 0; },
     "full, header or off"},
    {"SPLITC_STREAMS",
     [](const char *value) { return strcmp(value, "0") == 0 || splitc_told_bytes(value) != 0; },
     "bytes, with K, M, G or T behind the number, or 0"},
};

[[noreturn]] void refuse(const std::string &told_by, const std::string &wants,
                         const std::string &value)
{
    throw Failure(exit_usage,
                  told_by + " wants " + wants + ", not '" + value + "'; see unetrun --help");
}

bool is_address(const std::string &text, int family)
{
    in6_addr address;
    return inet_pton(family, text.c_str(), &address) == 1;
}

// "10.1.0.0/16", "fd00::/8"; or an address itself.
bool is_network(const std::string &text)
{
    const std::size_t slash = text.find('/');
    const std::string address = text.substr(0, slash);
    const bool ip4 = is_address(address, AF_INET);
    if (!ip4 && !is_address(address.substr(0, address.find('%')), AF_INET6))
        return false;
    if (slash == std::string::npos)
        return true;
    unsigned bits = 0;
    const char *begin = text.data() + slash + 1, *end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(begin, end, bits);
    return error == std::errc() && stopped == end && bits <= (ip4 ? 32u : 128u);
}

bool is_interface_name(const std::string &text)
{
    const auto strange = [](unsigned char c) { return c <= ' ' || c == 127 || c == '/'; };
    return !text.empty() && text.size() < IF_NAMESIZE &&
           std::none_of(text.begin(), text.end(), strange);
}

} // namespace

void check_setting(const std::string &told_by, const std::string &variable,
                   const std::string &value)
{
    for (const Setting &setting : settings)
        if (variable == setting.variable && !setting.good(value.c_str()))
            refuse(told_by, setting.wants, value);
}

void check_settings(const std::vector<std::string> &environment)
{
    for (const std::string &entry : environment) {
        const std::size_t equals = entry.find('=');
        const std::string variable = entry.substr(0, equals);
        if (equals != std::string::npos)
            check_setting(variable, variable, entry.substr(equals + 1));
    }
}

std::string absolute_path(const std::string &path)
{
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    if (error)
        throw Failure(exit_trouble, "cannot tell which directory this is, for " + path + ": " +
                                        error.message() + "; change to one that is there (cd)");
    return absolute.string();
}

void check_network(const std::string &network)
{
    if (!is_network(network))
        refuse("--net",
               "a network, as in 10.1.0.0/16, or an address (--iface takes an interface's name)",
               network);
}

void check_interface(const std::string &interface)
{
    if (is_network(interface) || !is_interface_name(interface))
        refuse("--iface", "the name of an interface, as in eth0 (--net takes a network)",
               interface);
}

void check_network_is_here(const std::string &place)
{
    if (is_interface_name(place) && !is_network(place)) {
        if (if_nametoindex(place.c_str()) == 0)
            throw Failure(exit_usage, "--iface " + place +
                                          ": this machine has no such interface; ip -br link "
                                          "lists those it has");
        return;
    }
    setenv("UNET_INTERFACE", place.c_str(), true); // as the ranks will have it
    const std::string obstacle = look_for_networks({"udp"}).found.front().obstacle;
    if (!obstacle.empty())
        throw Failure(exit_usage, "--net " + place + ": this machine cannot be reached there: " +
                                      obstacle + "; ip -br address lists where it can");
}

} // namespace unetrun
