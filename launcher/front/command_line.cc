// SPDX-License-Identifier: BSD-3-Clause

#include "front/command_line.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <optional>

#include "common/environment.h"
#include "common/failure.h"
#include "front/allocation.h"
#include "front/config_file.h"
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

[[noreturn]] void refuse_emptiness(const std::string &taker, const std::string &last)
{
    const std::string why = taker.empty() ? "" : ", as '" + last + "' is the value of " + taker;
    refuse_usage("no program to run" + why + ": unetrun -n 4 ./program");
}

// The words of a command line, or of a line of a file of programs.
class Words {
public:
    explicit Words(const std::vector<std::string> &list) : list_(list) {}

    bool left() const { return at_ < list_.size(); }

    // Has the options in front of a program take effect.  `of_program`: they are for it alone.
    void read_options(Options &options, bool of_program);

    // Reads the program and its arguments, up to ':', or to the end if "--" came before.
    std::vector<std::string> read_program();

private:
    void read_option(Options &options, const std::string &argument, bool of_program);

    const std::vector<std::string> &list_;
    std::size_t at_ = 0;
    bool dashes_ = false;
    std::string taker_; // the option whose value was the last word
};

void Words::read_option(Options &options, const std::string &argument, bool of_program)
{
    Match match = find_option(argument);
    if (of_program && !match.option->of_program)
        refuse_usage(argument + " is for the whole job; write it in front of the first program");
    if (match.option->value && !match.value) {
        if (!left())
            refuse_usage(argument + " wants a value: " + argument + " " + match.option->value);
        match.value = list_[at_++];
        taker_ = argument;
    }
    match.option->apply(options, match.value.value_or(""));
}

void Words::read_options(Options &options, bool of_program)
{
    while (left() && is_option(list_[at_]) && options.action == Options::Action::run) {
        taker_.clear();
        const std::string &argument = list_[at_++];
        if ((dashes_ = argument == "--"))
            return;
        read_option(options, argument, of_program);
    }
}

std::vector<std::string> Words::read_program()
{
    const auto begin = list_.begin() + static_cast<std::ptrdiff_t>(at_);
    const auto end = dashes_ ? list_.end() : std::find(begin, list_.end(), ":");
    if (begin == end)
        refuse_emptiness(taker_, at_ > 0 ? list_[at_ - 1] : "");
    at_ += static_cast<std::size_t>(end - begin);
    if (end != list_.end() && ++at_ == list_.size())
        refuse_usage("no program behind the last ':'; if it is an argument, write -- before the "
                     "program");
    return {begin, end};
}

// What all ranks have to have the same.
void check_variables_of_program(const std::vector<std::string> &variables)
{
    for (const std::string &variable : variables)
        if (variable.starts_with("SPLITC_") || variable.starts_with("UNET_"))
            refuse_usage("-x " + variable + ": " + name_of(variable) +
                         " has to be the same for all ranks; write it in front of the first "
                         "program");
}

ProgramOptions read_program_with_options(Words &words)
{
    Options own;
    words.read_options(own, true);
    check_variables_of_program(own.variables);
    return {own.ranks, own.variables, words.read_program()};
}

void read_config_file(Options &options)
{
    for (const ConfigLine &line : config_lines(options.config_file))
        try {
            Words words(line.words);
            while (words.left())
                options.programs.push_back(read_program_with_options(words));
        } catch (const Failure &failure) {
            throw Failure(failure.code, line.where + ": " + failure.what());
        }
    if (options.programs.empty())
        refuse_usage("--configfile " + options.config_file + " names no program");
}

void read_programs(Options &options, Words &words)
{
    if (options.config_file.empty()) {
        options.programs.push_back({options.ranks, {}, words.read_program()});
        while (words.left())
            options.programs.push_back(read_program_with_options(words));
    } else if (words.left() || options.ranks) {
        refuse_usage("--configfile: its lines say what to run, and -n how many ranks of it; leave "
                     "both out here");
    } else {
        read_config_file(options);
    }
}

// The ranks of all programs.
void count_ranks(Options &options)
{
    std::uint64_t ranks = 0;
    for (const ProgramOptions &program : options.programs) {
        if (!program.ranks && options.programs.size() > 1)
            refuse_usage("of several programs each has to have its number of ranks: -n N in front "
                         "of " +
                         program.command.front());
        ranks += program.ranks.value_or(0);
    }
    if (ranks > ranks_max)
        refuse_usage("the programs have " + std::to_string(ranks) + " ranks; a job has up to " +
                     std::to_string(ranks_max));
    if (ranks > 0)
        options.ranks = static_cast<std::uint32_t>(ranks);
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
    Words words(arguments);
    words.read_options(options, false);
    if (options.action != Options::Action::run)
        return options;
    read_programs(options, words);
    count_ranks(options);
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
