// SPDX-License-Identifier: BSD-3-Clause

#include "front/hosts.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <strings.h>
#include <unistd.h>

#include "common/failure.h"
#include "front/host_ranges.h"

namespace unetrun {

namespace {

constexpr std::uint32_t slots_max = 65536;

std::uint32_t parse_slots(const std::string &text, const std::string &where)
{
    std::uint32_t slots = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
    if (error != std::errc() || end != text.data() + text.size() || slots < 1 || slots > slots_max)
        throw Failure(exit_usage, where + ": the slots of a host are a number from 1 to " +
                                      std::to_string(slots_max) + ", not '" + text + "'");
    return slots;
}

// A name becomes an argument of the remote shell, so it must not look like an option or like
// several words.
void check_name(const std::string &name, const std::string &where)
{
    const auto strange = [](unsigned char c) {
        return c <= ' ' || c == 127 || c == ',' || c == '[' || c == ']';
    };
    if (name.empty() || name.front() == '-' || std::any_of(name.begin(), name.end(), strange))
        throw Failure(exit_usage,
                      where + ": '" + name + "' is no host's name; write them as in a,b:4,c");
}

// "name", "name:slots", "[address]:slots"; more than one colon without brackets is an
// IPv6 address.
Host parse_host(const std::string &text, const std::string &where)
{
    std::string name = text, slots;
    const std::size_t bracket = text.front() == '[' ? text.find(']') : std::string::npos;
    const std::size_t colon = text.find(':', bracket == std::string::npos ? 0 : bracket);
    const bool address = bracket == std::string::npos && text.find(':') != text.rfind(':');
    if (colon != std::string::npos && !address) {
        name = text.substr(0, colon);
        slots = text.substr(colon + 1);
    }
    if (bracket != std::string::npos) {
        if (name.size() != bracket + 1)
            throw Failure(exit_usage, where + ": '" + text + "' is no host; write [address]:slots");
        name = name.substr(1, bracket - 1);
    }
    check_name(name, where);
    if (colon == std::string::npos || address)
        return {name, std::nullopt};
    return {name, parse_slots(slots, where)};
}

void add_hosts(const std::string &text, const std::string &where, std::vector<Host> &hosts)
{
    for (const std::string &name : expand_host_ranges(text, where))
        hosts.push_back(name.empty() ? Host{} : parse_host(name, where));
}

void add_line(const std::string &line, const std::string &where, std::vector<Host> &hosts)
{
    const std::size_t before = hosts.size();
    std::istringstream words(line);
    std::string name, word;
    words >> name;
    add_hosts(name, where, hosts);
    while (words >> word) {
        if (!word.starts_with("slots="))
            throw Failure(exit_usage, where + ": '" + word +
                                          "' is not understood; write a line as "
                                          "in 'host slots=4'");
        for (std::size_t i = before; i < hosts.size(); i++)
            hosts[i].slots = parse_slots(word.substr(6), where);
    }
}

} // namespace

std::vector<Host> parse_hosts(const std::string &list, const std::string &where)
{
    std::vector<Host> hosts;
    for (const std::string &text : split_host_list(list))
        add_hosts(text, where, hosts);
    for (const Host &host : hosts)
        check_name(host.name, where);
    return merged(hosts);
}

std::vector<Host> parse_host_file(const std::string &text, const std::string &file,
                                  const std::string &where)
{
    std::vector<Host> hosts;
    std::istringstream lines(text);
    unsigned number = 0;
    for (std::string line; std::getline(lines, line);) {
        number++;
        line = line.substr(0, line.find('#'));
        if (line.find_first_not_of(" \t\r") != std::string::npos)
            add_line(line, file + ":" + std::to_string(number), hosts);
    }
    if (hosts.empty())
        throw Failure(exit_usage, where + " " + file + " names no host; write one a line");
    return merged(hosts);
}

std::vector<Host> read_host_file(const std::string &file, const std::string &where)
{
    std::ifstream stream(file);
    std::ostringstream text;
    const bool empty = stream.peek() == std::ifstream::traits_type::eof() && !stream.bad();
    if (!stream.is_open() || (!empty && !(text << stream.rdbuf())))
        throw Failure(exit_usage, where + " " + file + ": " + std::strerror(errno) +
                                      "; name a file with a host a line");
    return parse_host_file(text.str(), file, where);
}

std::vector<Host> merged(const std::vector<Host> &hosts)
{
    std::vector<Host> all;
    for (const Host &host : hosts) {
        const auto same = std::find_if(all.begin(), all.end(),
                                       [&](const Host &other) { return other.name == host.name; });
        if (same == all.end())
            all.push_back(host);
        else if (same->slots || host.slots)
            same->slots = same->slots.value_or(same->times) + host.slots.value_or(host.times);
        else
            same->times += host.times;
    }
    return all;
}

std::string host_name()
{
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

bool is_here(const std::string &name, const std::string &own)
{
    in_addr ip4;
    in6_addr ip6;
    if (inet_pton(AF_INET, name.c_str(), &ip4) == 1)
        return ntohl(ip4.s_addr) >> 24 == IN_LOOPBACKNET;
    if (inet_pton(AF_INET6, name.c_str(), &ip6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&ip6);
    const auto same = [&](const std::string &other) {
        return !other.empty() && strcasecmp(name.c_str(), other.c_str()) == 0;
    };
    return same("localhost") || same(own) || same(own.substr(0, own.find('.')));
}

std::vector<Host> with_one_here(std::vector<Host> hosts, const std::string &own)
{
    const auto here = [&](const Host &host) { return is_here(host.name, own); };
    const auto first = std::find_if(hosts.begin(), hosts.end(), here);
    for (Host &host : hosts)
        if (here(host))
            host.name = first->name;
    return merged(hosts);
}

} // namespace unetrun
