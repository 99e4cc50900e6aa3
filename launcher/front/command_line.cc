// SPDX-License-Identifier: BSD-3-Clause

#include "front/command_line.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <optional>

#include "common/environment.h"
#include "front/allocation.h"
#include "front/option_table.h"
#include "front/other_launchers.h"

namespace unetrun {

namespace {

struct Match {
    const Option *option;
    std::optional<std::string> value; // of --name=value and -n4
};

// The option of that name, or null.
const Option *named(const std::string &word)
{
    const std::string synonym = our_option_for(word), name = synonym.empty() ? word : synonym;
    for (const Option &option : option_table())
        if (name == option.name || (option.alias && name == option.alias))
            return &option;
    return nullptr;
}

[[noreturn]] void refuse_option(const std::string &argument)
{
    const std::string answer = our_word_for(argument.substr(0, argument.find('=')));
    refuse_usage("unknown option " + argument + (answer.empty() ? "" : ": " + answer));
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
    refuse_usage("no program to run" + why + ": unetrun -n 4 ./program");
}

// Other launchers let ":" separate programs, each with ranks of its own.
void check_colon(const std::vector<std::string> &command)
{
    if (std::find(command.begin(), command.end(), ":") != command.end())
        refuse_usage(
            "':' would begin another program, and a job has one: start two jobs, or a program "
            "that branches on MYPROC; if it is an argument, write -- before the program");
}

// The options that say where ranks run have to fit together.
void check_places(const Options &options)
{
    if (options.nodes > options.ranks.value_or(1))
        refuse_usage("--nodes " + std::to_string(options.nodes) + " are more than the ranks (-n " +
                     std::to_string(options.ranks.value_or(1)) + ")");
    if (!options.hosts.empty() && options.nodes > 1)
        refuse_usage("--nodes pretends that this machine were several; leave it out with --hosts");
    if (options.hosts.empty() && options.ppn)
        refuse_usage("--ppn wants hosts to put ranks on: --hosts or --hostfile");
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
        refuse_usage("there is no rank " + std::to_string(rank) + " " + what_for + ": -n " +
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
                refuse_usage(argument + " wants a value: " + argument + " " + match.option->value);
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
        refuse_usage("the hosts have room for " + std::to_string(room) + " ranks, and " +
                     std::to_string(ranks_max) + " are possible; say how many with -n");
    if (options.ppn && ranks > room)
        refuse_usage("-n " + std::to_string(ranks) + " ranks do not fit on " +
                     std::to_string(options.hosts.size()) + " hosts with " +
                     std::to_string(*options.ppn) + " each (--ppn)");
    for (const std::uint32_t rank : options.wrapped)
        check_rank(rank, ranks, "to run in " + options.wrapper.front());
    for (const std::uint32_t rank : options.only)
        check_rank(rank, ranks, "to show (--only)");
    return static_cast<std::uint32_t>(ranks);
}

std::vector<std::string> with_variables(std::vector<std::string> inherited,
                                        const std::vector<std::string> &variables)
{
    for (const std::string &variable : variables)
        if (variable.find('=') != std::string::npos)
            set_variable(inherited, variable);
        else if (!has_variable(inherited, variable))
            refuse_usage("-x " + variable + ": it is not set; write -x " + variable + "=VALUE");
    return inherited;
}

} // namespace unetrun
