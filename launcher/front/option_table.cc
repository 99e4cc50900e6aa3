// SPDX-License-Identifier: BSD-3-Clause

#include "front/option_table.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include "common/environment.h"
#include "common/failure.h"
#include "front/output_files.h"
#include "front/settings.h"
#include "tree/rsh.h"

namespace unetrun {

void refuse_usage(const std::string &text)
{
    throw Failure(exit_usage, text + "; see unetrun --help");
}

namespace {

template <class Number> std::optional<Number> parse_number(const std::string &text)
{
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::uint32_t parse_count(const std::string &option, const std::string &text)
{
    const auto count = parse_number<std::uint32_t>(text);
    if (!count || *count < 1 || *count > ranks_max)
        refuse_usage(option + " wants a number from 1 to " + std::to_string(ranks_max) + ", not '" +
                     text + "'");
    return *count;
}

std::chrono::milliseconds parse_seconds(const std::string &option, const std::string &text)
{
    const auto seconds = parse_number<double>(text);
    if (!seconds || !(*seconds >= 0.001 && *seconds <= 1e9))
        refuse_usage(option + " wants a number of seconds above 0, not '" + text + "'");
    return std::chrono::milliseconds(std::llround(*seconds * 1000));
}

BindTo parse_bind_to(const std::string &text)
{
    const struct {
        const char *name;
        BindTo bind_to;
    } units[] = {{"core", BindTo::core},     {"l3", BindTo::l3},          {"numa", BindTo::numa},
                 {"socket", BindTo::socket}, {"package", BindTo::socket}, {"none", BindTo::none}};
    for (const auto &unit : units)
        if (text == unit.name)
            return unit.bind_to;
    refuse_usage("--bind-to wants core, core:K, l3, numa, socket or none, not '" + text + "'");
}

// "core:4" is four cores for each rank.
void bind_ranks(Options &options, const std::string &text)
{
    const bool counted = text.starts_with("core:");
    options.cores_per_rank = counted ? parse_count("--bind-to core:K", text.substr(5)) : 1;
    options.bind_to = parse_bind_to(counted ? "core" : text);
}

MapBy parse_map_by(const std::string &text)
{
    if (text == "slot")
        return MapBy::slot;
    if (text == "core")
        return MapBy::core;
    if (text != "node")
        refuse_usage("--map-by wants slot, core or node, not '" + text + "'");
    return MapBy::node;
}

void name_hosts(Options &options, std::vector<Host> hosts)
{
    if (!options.hosts.empty())
        refuse_usage("the hosts are named twice; give one of --hosts and --hostfile");
    options.hosts = std::move(hosts);
}

// "0,4-6" or "all"; the result of the latter is empty.
std::vector<std::uint32_t> parse_ranks(const std::string &option, const std::string &text)
{
    std::vector<std::uint32_t> ranks;
    std::istringstream ranges(text == "all" ? "" : text);
    for (std::string range; std::getline(ranges, range, ',');) {
        const std::size_t dash = range.find('-');
        const auto first = parse_number<std::uint32_t>(range.substr(0, dash));
        const auto last =
            dash == std::string::npos ? first : parse_number<std::uint32_t>(range.substr(dash + 1));
        if (!first || !last || *first > *last || *last >= ranks_max)
            refuse_usage(option + " wants ranks, as in 0,4-6, or all, not '" + text + "'");
        for (std::uint32_t rank = *first; rank <= *last; rank++)
            ranks.push_back(rank);
    }
    if (ranks.empty() && text != "all")
        refuse_usage(option + " wants ranks, as in 0,4-6, or all, not '" + text + "'");
    return ranks;
}

// Passes the value of an option on to the ranks as a variable.
void set(Options &options, const std::string &option, const std::string &variable,
         const std::string &value)
{
    check_setting(option, variable, value);
    options.variables.push_back(variable + "=" + value);
}

bool is_identifier(const std::string &name)
{
    const auto good = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
    return !name.empty() && !std::isdigit(static_cast<unsigned char>(name.front())) &&
           std::all_of(name.begin(), name.end(), good);
}

void pass_variable(Options &options, const std::string &variable)
{
    if (!is_identifier(name_of(variable)))
        refuse_usage("-x wants a variable, as in -x NAME or -x NAME=VALUE, and '" + variable +
                     "' is none");
    options.variables.push_back(variable);
}

void use_network(Options &options, const std::string &network)
{
    options.network = network;
    options.variables.push_back("UNET_INTERFACE=" + network);
}

void wrap(Options &options, const std::string &option, const std::string &ranks,
          std::vector<std::string> wrapper)
{
    if (!options.wrapper.empty())
        refuse_usage(option + ": the ranks run in " + options.wrapper.front() +
                     " already; give one of --gdb and --valgrind");
    options.wrapped = parse_ranks(option, ranks);
    options.wrapper = std::move(wrapper);
    options.tag_output = true;
}

constexpr Option table[] = {
    {"-n", "-np", "N",
     "start N ranks, 1 to 65536 (default 1)\n"
     "On hosts that are named, or allotted by a batch system, there are by default as many as they "
     "have room for.",
     [](Options &o, const std::string &value) { o.ranks = parse_count("-n", value); }, true},
    {"-x", nullptr, "VAR[=VALUE]", "set a variable for the ranks, or make sure that it is set",
     [](Options &o, const std::string &value) { pass_variable(o, value); }, true},
    {"--configfile", nullptr, "FILE",
     "run the programs of FILE: a line as `-n 2 ./program` for each\n"
     "A line may go on behind a backslash at its end, may have words in quotes, and is a comment "
     "if it begins with #.",
     [](Options &o, const std::string &value) { o.config_file = value; }},
    {"--heap", nullptr, "SIZE", "bytes of each of a rank's heaps: 512M, 4G (SPLITC_HEAP)",
     [](Options &o, const std::string &value) { set(o, "--heap", "SPLITC_HEAP", value); }},
    {"--backend", nullptr, "shm|udp|eth|fe|ni|ofi|atm|auto",
     "how ranks reach each other, or do on one host and between hosts: shm,udp (default auto)",
     [](Options &o, const std::string &value) { set(o, "--backend", "SPLITC_BACKEND", value); }},
    {"--chaos", nullptr, "RATES",
     "have the network lose, repeat, reorder and alter: loss=0.05,dup=0.02\n"
     "The others are `reorder`, `truncate`, `flip` and `seed`.",
     [](Options &o, const std::string &value) { set(o, "--chaos", "SPLITC_CHAOS", value); }},
    {"--peer-timeout", nullptr, "S",
     "a rank not heard of over the network for S seconds is dead (10)",
     [](Options &o, const std::string &value) {
         set(o, "--peer-timeout", "SPLITC_PEER_TIMEOUT", value);
     }},
    {"--auth", nullptr, "full|header|off",
     "what of network packets is authenticated (default full)\n"
     "`header` is a packet's header and the first 128 bytes behind that.",
     [](Options &o, const std::string &value) { set(o, "--auth", "SPLITC_AUTH", value); }},
    {"--wdir", nullptr, "DIR",
     "run the ranks in DIR\nA program named by a relative path is looked for there.",
     [](Options &o, const std::string &value) { o.directory = value; }},
    {"--tag-output", nullptr, nullptr, "put the rank in front of each line: [1] text",
     [](Options &o, const std::string &) { o.tag_output = true; }},
    {"--output", nullptr, "FILE",
     "write the ranks' output to files: out.%r; %r the rank, %h its host\n"
     "They are files on this machine, and begin empty.",
     [](Options &o, const std::string &value) {
         check_output_pattern(value);
         o.output = value;
     }},
    {"--only", nullptr, "RANKS", "show the output of these ranks (0,4-6) alone",
     [](Options &o, const std::string &value) { o.only = parse_ranks("--only", value); }},
    {"--timeout", nullptr, "S", "end the job after S seconds, with exit code 124",
     [](Options &o, const std::string &value) { o.timeout = parse_seconds("--timeout", value); }},
    {"--hosts", nullptr, "HOSTS",
     "run on these hosts: a,b:4; b has room for 4 ranks\n"
     "`n[01-12]:4` stands for twelve of them.  This machine among them needs no sshd.",
     [](Options &o, const std::string &value) { name_hosts(o, parse_hosts(value)); }},
    {"--hostfile", nullptr, "FILE", "the same from a file, a host a line",
     [](Options &o, const std::string &value) { name_hosts(o, read_host_file(value)); }},
    {"--ppn", nullptr, "K", "start K ranks on each host",
     [](Options &o, const std::string &value) { o.ppn = parse_count("--ppn", value); }},
    {"--map-by", nullptr, "slot|core|node", "fill hosts by their slots or cores, or take turns",
     [](Options &o, const std::string &value) { o.map_by = parse_map_by(value); }},
    {"--rsh", nullptr, "CMD", "reach the hosts by CMD (default: ssh)",
     [](Options &o, const std::string &value) {
         o.rsh = split_words(value);
         o.rsh_everywhere = true;
     }},
    {"--net", nullptr, "CIDR", "ranks talk over this network: 10.1.0.0/16 (UNET_INTERFACE)",
     [](Options &o, const std::string &value) {
         check_network(value);
         use_network(o, value);
     }},
    {"--iface", nullptr, "IFACE", "the same by the name of an interface",
     [](Options &o, const std::string &value) {
         check_interface(value);
         use_network(o, value);
     }},
    {"--fanout", nullptr, "K", "reach K hosts directly, others by way of them (default 32)",
     [](Options &o, const std::string &value) { o.fanout = parse_count("--fanout", value); }},
    {"--stage", nullptr, nullptr,
     "send the hosts a copy of the program's file, and run that\n"
     "Libraries and input files have to be there.",
     [](Options &o, const std::string &) { o.stage = true; }},
    {"--bind-to", nullptr, "core|core:K|l3|numa|socket|none",
     "bind each rank to one, or to K cores (default: a core if there are enough)",
     [](Options &o, const std::string &value) { bind_ranks(o, value); }},
    {"--report-bindings", nullptr, nullptr, "tell which processors each rank has",
     [](Options &o, const std::string &) { o.report_bindings = true; }},
    {"--trace", nullptr, "FILE", "write what the ranks did, and when, for ui.perfetto.dev",
     [](Options &o, const std::string &value) {
         o.variables.push_back("SPLITC_TRACE=" + absolute_path(value));
     }},
    {"--profile", nullptr, nullptr,
     "tell which lines made remote accesses and waited (splitcc -fprofile-lines)",
     [](Options &o, const std::string &) { o.variables.push_back("SPLITC_PROFILE=1"); }},
    {"--gdb", nullptr, "RANKS", "run ranks (0,4-6 or all) in gdbserver, which gdb connects to",
     [](Options &o, const std::string &value) {
         wrap(o, "--gdb", value, {"gdbserver", "--once", "127.0.0.1:0"});
     }},
    {"--valgrind", nullptr, "RANKS", "run ranks (0,4-6 or all) in valgrind",
     [](Options &o, const std::string &value) {
         wrap(o, "--valgrind", value,
              {"valgrind", "-q", "--child-silent-after-fork=yes",
               "--soname-synonyms=somalloc=*mimalloc*"});
         o.defaults.push_back("SPLITC_HEAP=256M"); // valgrind keeps a record of all reserved memory
     }},
    {"--nodes", nullptr, "K", "act as if this machine were K nodes, to try programs out",
     [](Options &o, const std::string &value) { o.nodes = parse_count("--nodes", value); }},
    {"--backtrace", nullptr, nullptr,
     "tell the stack of each rank that dies, or is ended by a time limit\n"
     "with lines of the source, and of all ranks if a deadlock ends the job.",
     [](Options &o, const std::string &) { o.backtrace = true; }},
    {"--verbose", "-v", nullptr, "tell what is done, and how long it took",
     [](Options &o, const std::string &) { o.verbose = true; }},
    {"--version", nullptr, nullptr, "print the version and exit",
     [](Options &o, const std::string &) { o.action = Options::Action::version; }},
    {"--print-options", nullptr, nullptr, "print a table of the options and exit",
     [](Options &o, const std::string &) { o.action = Options::Action::print_options; }},
    {"--help", "-h", nullptr, "print this text and exit",
     [](Options &o, const std::string &) { o.action = Options::Action::help; }},
};

} // namespace

std::span<const Option> option_table()
{
    return table;
}

} // namespace unetrun
