// SPDX-License-Identifier: BSD-3-Clause

#include "front/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>
#include <sstream>

#include "common/environment.h"
#include "common/failure.h"
#include "front/allocation.h"
#include "front/other_launchers.h"
#include "front/output_files.h"
#include "front/settings.h"
#include "tree/rsh.h"

namespace unetrun {

namespace {

[[noreturn]] void usage(const std::string &text)
{
    throw Failure(exit_usage, text + "; see unetrun --help");
}

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
        usage(option + " wants a number from 1 to " + std::to_string(ranks_max) + ", not '" + text +
              "'");
    return *count;
}

std::chrono::milliseconds parse_seconds(const std::string &option, const std::string &text)
{
    const auto seconds = parse_number<double>(text);
    if (!seconds || !(*seconds >= 0.001 && *seconds <= 1e9))
        usage(option + " wants a number of seconds above 0, not '" + text + "'");
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
    usage("--bind-to wants core, core:K, l3, numa, socket or none, not '" + text + "'");
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
        usage("--map-by wants slot, core or node, not '" + text + "'");
    return MapBy::node;
}

void name_hosts(Options &options, std::vector<Host> hosts)
{
    if (!options.hosts.empty())
        usage("the hosts are named twice; give one of --hosts and --hostfile");
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
            usage(option + " wants ranks, as in 0,4-6, or all, not '" + text + "'");
        for (std::uint32_t rank = *first; rank <= *last; rank++)
            ranks.push_back(rank);
    }
    if (ranks.empty() && text != "all")
        usage(option + " wants ranks, as in 0,4-6, or all, not '" + text + "'");
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
        usage("-x wants a variable, as in -x NAME or -x NAME=VALUE, and '" + variable +
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
        usage(option + ": the ranks run in " + options.wrapper.front() +
              " already; give one of --gdb and --valgrind");
    options.wrapped = parse_ranks(option, ranks);
    options.wrapper = std::move(wrapper);
    options.tag_output = true;
}

struct Option {
    const char *name, *alias; // alias may be null
    const char *value;        // the name of its value in the help; null: it has none
    const char *help;
    void (*apply)(Options &options, const std::string &value);
};

const Option option_table[] = {
    {"-n", "-np", "N", "start N ranks, 1 to 65536 (default 1)",
     [](Options &o, const std::string &value) { o.ranks = parse_count("-n", value); }},
    {"-x", nullptr, "VAR[=VALUE]", "set a variable for the ranks, or make sure that it is set",
     [](Options &o, const std::string &value) { pass_variable(o, value); }},
    {"--heap", nullptr, "SIZE", "bytes of each of a rank's heaps: 512M, 4G (SPLITC_HEAP)",
     [](Options &o, const std::string &value) { set(o, "--heap", "SPLITC_HEAP", value); }},
    {"--backend", nullptr, "NAME",
     "how ranks reach each other: shm, udp, eth, fe, ofi, atm, or two: shm,udp; or auto (default)",
     [](Options &o, const std::string &value) { set(o, "--backend", "SPLITC_BACKEND", value); }},
    {"--chaos", nullptr, "RATES",
     "have the network lose, repeat, reorder and alter: see unetrun.md",
     [](Options &o, const std::string &value) { set(o, "--chaos", "SPLITC_CHAOS", value); }},
    {"--peer-timeout", nullptr, "S",
     "a rank not heard of over the network for S seconds is dead (10)",
     [](Options &o, const std::string &value) {
         set(o, "--peer-timeout", "SPLITC_PEER_TIMEOUT", value);
     }},
    {"--auth", nullptr, "full|header|off",
     "what of network packets is authenticated (default full)",
     [](Options &o, const std::string &value) { set(o, "--auth", "SPLITC_AUTH", value); }},
    {"--wdir", nullptr, "DIR", "run the ranks in DIR",
     [](Options &o, const std::string &value) { o.directory = value; }},
    {"--tag-output", nullptr, nullptr, "put the rank in front of each line: [1] text",
     [](Options &o, const std::string &) { o.tag_output = true; }},
    {"--output", nullptr, "FILE",
     "write the ranks' output to files: out.%r; %r the rank, %h its host",
     [](Options &o, const std::string &value) {
         check_output_pattern(value);
         o.output = value;
     }},
    {"--only", nullptr, "RANKS", "show the output of these ranks (0,4-6) alone",
     [](Options &o, const std::string &value) { o.only = parse_ranks("--only", value); }},
    {"--timeout", nullptr, "S", "end the job after S seconds, with exit code 124",
     [](Options &o, const std::string &value) { o.timeout = parse_seconds("--timeout", value); }},
    {"--hosts", nullptr, "A,B:4", "run on these hosts; B has room for 4 ranks",
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
    {"--iface", nullptr, "NAME", "the same by the name of an interface",
     [](Options &o, const std::string &value) {
         check_interface(value);
         use_network(o, value);
     }},
    {"--fanout", nullptr, "K", "reach K hosts directly, others by way of them (default 32)",
     [](Options &o, const std::string &value) { o.fanout = parse_count("--fanout", value); }},
    {"--stage", nullptr, nullptr, "send the hosts a copy of the program's file, and run that",
     [](Options &o, const std::string &) { o.stage = true; }},
    {"--bind-to", nullptr, "UNIT",
     "core, core:K, l3, numa, socket or none (default: a core if there are enough)",
     [](Options &o, const std::string &value) { bind_ranks(o, value); }},
    {"--report-bindings", nullptr, nullptr, "tell which processors each rank has",
     [](Options &o, const std::string &) { o.report_bindings = true; }},
    {"--trace", nullptr, "FILE", "write what the ranks did, and when, for ui.perfetto.dev",
     [](Options &o, const std::string &value) {
         o.variables.push_back("SPLITC_TRACE=" + std::filesystem::absolute(value).string());
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
    {"--verbose", "-v", nullptr, "tell what is done",
     [](Options &o, const std::string &) { o.verbose = true; }},
    {"--version", nullptr, nullptr, "print the version and exit",
     [](Options &o, const std::string &) { o.action = Options::Action::version; }},
    {"--help", "-h", nullptr, "print this text and exit",
     [](Options &o, const std::string &) { o.action = Options::Action::help; }},
};

struct Match {
    const Option *option;
    std::optional<std::string> value; // of --name=value and -n4
};

// The option of that name, or null.
const Option *named(const std::string &word)
{
    const std::string synonym = our_option_for(word), name = synonym.empty() ? word : synonym;
    for (const Option &option : option_table)
        if (name == option.name || (option.alias && name == option.alias))
            return &option;
    return nullptr;
}

[[noreturn]] void refuse_option(const std::string &argument)
{
    const std::string answer = our_word_for(argument.substr(0, argument.find('=')));
    usage("unknown option " + argument + (answer.empty() ? "" : ": " + answer));
}

Match find_option(const std::string &argument)
{
    if (const Option *option = named(argument))
        return {option, std::nullopt};
    const std::size_t equals = argument.find('=');
    if (argument.starts_with("--") && equals != std::string::npos) {
        const Option *option = named(argument.substr(0, equals));
        if (option && option->value)
            return {option, argument.substr(equals + 1)};
    }
    for (const std::string name : {"-np", "-n"})
        if (argument.starts_with(name) && std::isdigit(argument.c_str()[name.size()]))
            return {named(name), argument.substr(name.size())};
    if (argument.starts_with("-x"))
        return {named("-x"), argument.substr(2)};
    refuse_option(argument);
}

bool is_option(const std::string &argument)
{
    return argument.size() > 1 && argument.front() == '-';
}

[[noreturn]] void refuse_emptiness(const std::string &taker,
                                   const std::vector<std::string> &arguments)
{
    const std::string why =
        taker.empty() ? "" : ", as '" + arguments.back() + "' is the value of " + taker;
    usage("no program to run" + why + ": unetrun -n 4 ./program");
}

// Other launchers let ":" separate programs, each with ranks of its own.
void check_colon(const std::vector<std::string> &command)
{
    if (std::find(command.begin(), command.end(), ":") != command.end())
        usage("':' would begin another program, and a job has one: start two jobs, or a program "
              "that branches on MYPROC; if it is an argument, write -- before the program");
}

// The options that say where ranks run have to fit together.
void check_places(const Options &options)
{
    if (options.nodes > options.ranks.value_or(1))
        usage("--nodes " + std::to_string(options.nodes) + " are more than the ranks (-n " +
              std::to_string(options.ranks.value_or(1)) + ")");
    if (!options.hosts.empty() && options.nodes > 1)
        usage("--nodes pretends that this machine were several; leave it out with --hosts");
    if (options.hosts.empty() && options.ppn)
        usage("--ppn wants hosts to put ranks on: --hosts or --hostfile");
    if (options.map_by != MapBy::core)
        ranks_of(options, slots_of(options.hosts, options.ppn, options.map_by, {}));
}

void take_allocation(Options &options, const std::vector<std::string> &environment)
{
    Allocation allocation = allocation_of(environment);
    options.allocation = std::move(allocation.system);
    options.hosts = std::move(allocation.hosts);
}

void check_rank(std::uint32_t rank, std::uint64_t ranks, const std::string &what_for)
{
    if (rank >= ranks)
        usage("there is no rank " + std::to_string(rank) + " " + what_for + ": -n " +
              std::to_string(ranks) + " starts ranks 0 to " + std::to_string(ranks - 1));
}

} // namespace

Options parse_options(const std::vector<std::string> &arguments,
                      const std::vector<std::string> &environment)
{
    Options options;
    std::string taker; // the option whose value was the last argument
    bool dashes = false;
    std::size_t i = 0;
    while (!dashes && i < arguments.size() && is_option(arguments[i])) {
        const std::string &argument = arguments[i++];
        taker.clear();
        if ((dashes = argument == "--"))
            continue;
        Match match = find_option(argument);
        if (match.option->value && !match.value) {
            if (i == arguments.size())
                usage(argument + " wants a value: " + argument + " " + match.option->value);
            match.value = arguments[i++];
            taker = argument;
        }
        match.option->apply(options, match.value.value_or(""));
        if (options.action != Options::Action::run)
            return options;
    }
    options.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
    if (options.command.empty())
        refuse_emptiness(taker, arguments);
    if (!dashes)
        check_colon(options.command);
    if (options.hosts.empty() && options.nodes == 1)
        take_allocation(options, environment);
    if (!options.rsh_everywhere)
        options.hosts = with_one_here(options.hosts, host_name());
    check_places(options);
    return options;
}

std::uint32_t ranks_of(const Options &options, const std::vector<std::uint32_t> &slots)
{
    const std::uint64_t room = std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
    const std::uint64_t ranks = options.ranks.value_or(options.hosts.empty() ? 1 : room);
    if (ranks > ranks_max)
        usage("the hosts have room for " + std::to_string(room) + " ranks, and " +
              std::to_string(ranks_max) + " are possible; say how many with -n");
    if (options.ppn && ranks > room)
        usage("-n " + std::to_string(ranks) + " ranks do not fit on " +
              std::to_string(options.hosts.size()) + " hosts with " + std::to_string(*options.ppn) +
              " each (--ppn)");
    for (const std::uint32_t rank : options.wrapped)
        check_rank(rank, ranks, "to run in " + options.wrapper.front());
    for (const std::uint32_t rank : options.only)
        check_rank(rank, ranks, "to show (--only)");
    return static_cast<std::uint32_t>(ranks);
}

namespace {

// A line for each option that has synonyms.
std::string list_synonyms()
{
    std::string text;
    for (const Option &option : option_table) {
        const std::string names = synonyms_of(option.name);
        if (!names.empty())
            text += "  " + names + ": " + option.name + "\n";
    }
    return text;
}

} // namespace

std::string help_text()
{
    std::string text = "usage: unetrun [options] program [arguments]\n\n"
                       "Starts a program as several ranks and takes care of them.\n\n";
    for (const Option &option : option_table) {
        std::string left = std::string("  ") + option.name;
        if (option.alias)
            left += std::string(", ") + option.alias;
        if (option.value)
            left += std::string(" ") + option.value;
        left.resize(std::max<std::size_t>(left.size() + 1, 27), ' ');
        text += left + option.help + "\n";
    }
    return text + "\nWords of other launchers that are understood:\n" + list_synonyms() +
           "\nThe exit code is that of the first rank to fail, 128 + N if signal N killed it, or\n"
           "0; 124 after a time-out, 126 and 127 if the program cannot be run or found, 2 if the\n"
           "command line makes no sense, and 1 for any other trouble.\n";
}

std::vector<std::string> with_variables(std::vector<std::string> inherited,
                                        const std::vector<std::string> &variables)
{
    for (const std::string &variable : variables)
        if (variable.find('=') != std::string::npos)
            set_variable(inherited, variable);
        else if (!has_variable(inherited, variable))
            usage("-x " + variable + ": it is not set; write -x " + variable + "=VALUE");
    return inherited;
}

} // namespace unetrun
