// SPDX-License-Identifier: BSD-3-Clause

#include "front/front_end.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/environment.h"
#include "common/job_directory.h"
#include "common/text.h"
#include "front/allocation.h"
#include "front/network_choice.h"
#include "front/settings.h"

namespace unetrun {

namespace {

using namespace std::chrono_literals;

constexpr auto failure_grace = 500ms;    // between SIGTERM and SIGKILL when a rank failed
constexpr auto interrupt_grace = 2000ms; // and when the user interrupted the job
constexpr auto abandon_after = 1000ms;   // for output that nobody takes, once all are killed

// ---- making a job of the options ------------------------------------------------

std::string random_hex(std::size_t bytes)
{
    std::string text;
    std::array<unsigned char, 16> random{};
    if (getrandom(random.data(), bytes, 0) != static_cast<ssize_t>(bytes))
        throw system_failure("cannot get random bytes for the job's key");
    for (std::size_t i = 0; i < bytes; i++)
        for (const int digit : {random[i] >> 4, random[i] & 15})
            text += "0123456789abcdef"[digit];
    return text;
}

// The program as --stage sends it to the hosts.
std::string program_bytes(const Options &options, const Job &job)
{
    const std::string &name = options.command.front();
    const bool has_place = name.find('/') != std::string::npos;
    const std::string file =
        find_program(has_place ? (std::filesystem::path(job.directory) / name).string() : name,
                     value_of(job.environment, "PATH"));
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream bytes;
    if (!stream || !(bytes << stream.rdbuf()))
        throw Failure(exit_cannot_run,
                      "cannot read " + file + " to send it to the hosts (--stage)");
    return bytes.str();
}

std::string own_path()
{
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error)
        throw Failure(exit_trouble, "/proc is missing; mount it: mount -t proc proc /proc");
    return path;
}

// The slots of the nodes; `cores` are theirs.
std::vector<std::uint32_t> slots_of(const Options &options, const std::vector<std::uint32_t> &cores)
{
    if (options.hosts.empty())
        return std::vector<std::uint32_t>(options.nodes, 1);
    return slots_of(options.hosts, options.ppn, options.map_by, cores);
}

// The hosts that will have a rank, as far as that is known before they tell their cores.
std::size_t hosts_needed(const Options &options)
{
    if (options.map_by == MapBy::core)
        return std::min<std::size_t>(options.hosts.size(),
                                     options.ranks.value_or(options.hosts.size()));
    const std::vector<std::uint32_t> slots = slots_of(options, {});
    const auto node_of = place(ranks_of(options, slots), slots, options.map_by);
    return *std::max_element(node_of.begin(), node_of.end()) + 1;
}

// The nodes that this machine pretends to be.
std::vector<std::string> local_nodes(std::uint32_t count)
{
    if (count == 1)
        return {host_name()};
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < count; i++)
        names.push_back(host_name() + "-" + std::to_string(i));
    return names;
}

// Has the daemons look for networks, unless the user says which.
void choose_later(Tree &tree, const std::vector<std::string> &environment)
{
    tree.backends = backends_to_try(environment);
    std::copy_if(environment.begin(), environment.end(), std::back_inserter(tree.places),
                 [](const std::string &variable) { return variable.starts_with("UNET_"); });
}

std::uint32_t place_of_this_machine(const std::vector<Host> &hosts)
{
    for (std::uint32_t i = 0; i < hosts.size(); i++)
        if (is_here(hosts[i].name, host_name()))
            return i;
    return every_node;
}

Tree tree_of(const Options &options)
{
    Tree tree;
    if (options.hosts.empty()) {
        tree.hosts = local_nodes(options.nodes);
        return tree;
    }
    for (const Host &host : options.hosts)
        tree.hosts.push_back(host.name);
    if (!options.rsh_everywhere)
        tree.here = place_of_this_machine(options.hosts);
    if (options.hosts.size() == 1 && tree.here == 0)
        return tree;
    tree.fanout = options.fanout;
    tree.rsh = options.rsh;
    tree.unetrun = own_path();
    if (options.hosts.size() > 1)
        choose_later(tree, with_variables(own_environment(), options.variables));
    return tree;
}

// What the ranks' places do not change.
Job job_of(const Options &options)
{
    Job job;
    job.id = make_job_id(getpid(), random_hex(8), random_hex(16));
    job.key = random_hex(16);
    job.directory = std::filesystem::absolute(options.directory.empty() ? "." : options.directory);
    job.arguments = options.command;
    job.environment = with_variables(own_environment(), options.variables);
    for (const std::string &variable : options.defaults)
        if (value_of(job.environment, name_of(variable)).empty())
            job.environment.push_back(variable);
    check_settings(job.environment);
    if (options.hosts.empty() && !options.network.empty())
        check_network_is_here(options.network);
    job.wrapper = options.wrapper;
    job.wrapped = options.wrapped;
    job.bind_to = options.bind_to;
    job.sharing = options.nodes;
    if (job.sharing > 1 && job.bind_to == BindTo::automatic)
        job.bind_to = BindTo::none; // one machine's cores are not several nodes'
    job.verbose = options.verbose;
    if (options.stage)
        job.program = program_bytes(options, job);
    return job;
}

// The hosts that are used, and nothing else changed.
Options trimmed(Options options)
{
    if (!options.hosts.empty())
        options.hosts.resize(hosts_needed(options));
    return options;
}

bool same_file(int a, int b)
{
    struct stat first, second;
    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

// ---- words ------------------------------------------------------------------------

std::string describe(const Exited &exited)
{
    if (WIFSIGNALED(exited.status)) {
        const int number = WTERMSIG(exited.status);
        return " was killed by signal " + std::to_string(number) + " (" + signal_text(number) +
               (WCOREDUMP(exited.status) ? ", core dumped)" : ")") +
               (exited.place.empty() ? "" : " at " + exited.place) +
               (exited.starved.empty() ? "" : "; " + exited.starved);
    }
    const std::string text = " exited with code " + std::to_string(WEXITSTATUS(exited.status)) +
                             (exited.place.empty() ? "" : " at " + exited.place);
    return exited.joined && !exited.left ? text + " without calling PMIx_Finalize" : text;
}

// A code that shows a failure, as users of MPI_Abort expect it.
int failure_code(int code)
{
    return (code & 0xff) != 0 ? code & 0xff : exit_trouble;
}

bool ends_job(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

constexpr char daemon[] = "a daemon"; // for messages

} // namespace

// ---- starting -----------------------------------------------------------------------

FrontEnd::FrontEnd(const Options &options)
    : mailbox_(poller_),
      signal_fd_(BlockedSignals::descriptor(
          {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD})),
      options_(trimmed(options)), tree_(tree_of(options_)), job_(job_of(options_)),
      nodes_(tree_.hosts.size()), branches_(poller_, signals_.before(), *this),
      input_(poller_,
             [this](std::string_view bytes) {
                 branches_.send(job_.node_of[0], Input{std::string(bytes)});
             }),
      one_file_(same_file(1, 2)), mergers_{LineMerger(options.tag_output),
                                           LineMerger(options.tag_output)}
{
    poller_.watch(signal_fd_.get(), POLLIN, [this] { on_signals(); });
    if (options_.timeout > 0ms)
        timeout_at_ = begin_ + options_.timeout;
    adopt_orphans();
    branches_.grow(std::nullopt, tree_);
    for (auto &sink : sinks_)
        sink = std::make_unique<Sink>(mailbox_, [this](const Written &w) { on_written(w); });
    if (const std::string untaken = untaken_allocation(options_, job_.environment);
        !untaken.empty())
        say(untaken);
}

FrontEnd::~FrontEnd()
{
    poller_.forget(signal_fd_.get());
}

void FrontEnd::on_hello(const Frame &frame)
{
    nodes_[frame.node].cores = std::max(1u, take<Hello>(frame, daemon).cores);
    launch_if_ready();
}

void FrontEnd::on_networks(const Frame &frame)
{
    nodes_[frame.node].networks = take<Networks>(frame, daemon);
    launch_if_ready();
}

void FrontEnd::launch_if_ready()
{
    const bool asked = !tree_.backends.empty();
    const auto ready = [=](const Node &node) {
        return node.cores > 0 && (node.networks || !asked);
    };
    if (!launched_ && !ending_ && !interrupted_ && std::all_of(nodes_.begin(), nodes_.end(), ready))
        launch();
}

void FrontEnd::choose_network()
{
    std::vector<Networks> networks;
    for (const Node &node : nodes_)
        networks.push_back(node.networks.value_or(Networks{}));
    const NetworkChoice choice = unetrun::choose_network(tree_.backends, networks, tree_.hosts);
    job_.network = choice.backend;
    if (options_.verbose)
        say("the network between the hosts is " + choice.why);
}

// All daemons are there: gives each rank its place, and them the job.
void FrontEnd::launch()
{
    if (!tree_.backends.empty())
        choose_network();
    std::vector<std::uint32_t> cores;
    for (const Node &node : nodes_)
        cores.push_back(node.cores);
    const std::vector<std::uint32_t> slots = slots_of(options_, cores);
    job_.node_of = place(ranks_of(options_, slots), slots, options_.map_by);
    job_.hosts = tree_.hosts;
    job_.hosts.resize(*std::max_element(job_.node_of.begin(), job_.node_of.end()) + 1);
    pids_.resize(job_.ranks());
    judge_.emplace(job_.hosts.size());
    fences_.emplace(job_.node_of, [this](std::uint32_t node) { return branches_.branch_to(node); });
    branches_.broadcast(job_);
    launched_ = true;
    input_.give_room(input_window);
    if (options_.verbose)
        say(std::to_string(nodes_.size()) + (nodes_.size() == 1 ? " daemon" : " daemons") +
            " up in " + in_milliseconds(Clock::now() - begin_));
}

// ---- the daemons' words ---------------------------------------------------------------

void FrontEnd::on_branch_frame(std::uint32_t branch, const Frame &frame)
{
    const std::uint32_t node = frame.node;
    switch (frame.type) {
    case FrameType::hello:
        return on_hello(frame);
    case FrameType::networks:
        return on_networks(frame);
    case FrameType::lost: {
        const Lost lost = take<Lost>(frame, daemon);
        return on_branch_lost(node, Failure(lost.code, lost.text));
    }
    case FrameType::started: {
        const Started started = take<Started>(frame, daemon);
        pids_[check_rank(node, started.rank)] = started.pid;
        return;
    }
    case FrameType::joined:
        return on_joined();
    case FrameType::exited: {
        const Exited exited = take<Exited>(frame, daemon);
        check_rank(node, exited.rank);
        return on_exited(exited);
    }
    case FrameType::failed: {
        const Failed failed = take<Failed>(frame, daemon);
        return on_failed(node, failed);
    }
    case FrameType::aborted: {
        const Aborted aborted = take<Aborted>(frame, daemon);
        check_rank(node, aborted.rank);
        return on_aborted(aborted);
    }
    case FrameType::note:
        return say(take<Note>(frame, daemon).text);
    case FrameType::report: {
        const Report report = take<Report>(frame, daemon);
        check_rank(node, report.rank);
        return on_report(report);
    }
    case FrameType::stuck:
        return on_stuck(node, take<Stuck>(frame, daemon));
    case FrameType::output:
        return on_output(node, take<Output>(frame, daemon));
    case FrameType::input_credit:
        return input_.give_room(take<InputCredit>(frame, daemon).bytes);
    case FrameType::input_closed:
        return input_.close();
    case FrameType::fence:
        return on_fence(branch, take<Fence>(frame, daemon));
    case FrameType::modex:
        return on_modex(node, take<Modex>(frame, daemon));
    case FrameType::modex_done: {
        const ModexDone done = take<ModexDone>(frame, daemon);
        return branches_.send(done.node, done);
    }
    case FrameType::done:
        nodes_[node].done = true;
        return;
    default:
        throw Failure(exit_trouble, "an unexpected message arrived from a daemon");
    }
}

std::uint32_t FrontEnd::check_rank(std::uint32_t node, std::uint32_t rank) const
{
    if (rank >= job_.ranks() || job_.node_of[rank] != node)
        throw Failure(exit_trouble, "a daemon speaks of a rank that is not its own");
    return rank;
}

// A rank in words: "rank 3 (pid 123 on host2)".
std::string FrontEnd::process(std::uint32_t rank) const
{
    return "rank " + std::to_string(rank) + " (pid " + std::to_string(pids_[rank]) +
           (tree_.rsh.empty() ? "" : " on " + tree_.hosts[job_.node_of[rank]]) + ")";
}

// The node, and all below it.
void FrontEnd::on_branch_lost(std::uint32_t top, const Failure &why)
{
    bool missed = false;
    for (std::uint32_t node = 0; node < nodes_.size(); node++)
        if (node == top || (!tree_.rsh.empty() && is_within(node, top, shape_of(tree_))))
            missed = !std::exchange(nodes_[node].done, true) || missed;
    if (missed)
        fail(why.code, std::string(why.what()) + "; ending the job");
}

void FrontEnd::on_failed(std::uint32_t node, const Failed &failed)
{
    if (tree_.rsh.empty())
        return fail(failed.code, failed.text);
    const bool missing = launched_ && failed.code == exit_not_found && !options_.stage;
    fail(failed.code, tree_.hosts[node] + ": " + failed.text +
                          (missing ? "; --stage sends the hosts a copy of it" : ""));
}

void FrontEnd::on_joined()
{
    any_joined_ = true;
    check_stragglers();
}

void FrontEnd::on_exited(const Exited &exited)
{
    exited_++;
    if (interrupted_ && !code_ && exited.status != 0) {
        const bool by_us = WIFSIGNALED(exited.status) && WTERMSIG(exited.status) == SIGKILL;
        code_ = by_us ? exit_signal + interrupted_ : exit_code_of(exited.status);
    }
    const bool bad = exited.status != 0 || (exited.joined && !exited.left);
    const std::string ending = exited_ < job_.ranks() ? "; ending the job" : "";
    if (bad && !ending_ && !interrupted_)
        return fail(std::max<int>(exit_code_of(exited.status), exit_trouble),
                    process(exited.rank) + describe(exited) + ending);
    if (!exited.joined && !outsider_)
        outsider_ = exited;
    check_stragglers();
}

// Ranks that have joined would wait for ever for one that never will.
void FrontEnd::check_stragglers()
{
    if (any_joined_ && outsider_ && !interrupted_)
        fail(exit_trouble, process(outsider_->rank) + describe(*outsider_) +
                               " before it joined the job (PMIx_Init), as "
                               "others did; ending the job");
}

void FrontEnd::on_aborted(const Aborted &aborted)
{
    const int code = failure_code(aborted.code);
    fail(code, process(aborted.rank) + " aborted the job with code " +
                   std::to_string(aborted.code) +
                   (aborted.text.empty() ? "" : ": " + aborted.text));
}

void FrontEnd::on_report(const Report &report)
{
    say(process(report.rank) + " " + report.text);
}

void FrontEnd::on_stuck(std::uint32_t node, const Stuck &stuck)
{
    if (!judge_ || ending_ || interrupted_)
        return;
    switch (judge_->hear(node, stuck)) {
    case DeadlockJudge::Verdict::nothing:
        return;
    case DeadlockJudge::Verdict::ask:
        return branches_.broadcast(AskStuck{judge_->round()});
    case DeadlockJudge::Verdict::deadlock:
        branches_.broadcast(Inspect{false});
        return fail(exit_trouble,
                    "deadlock: every rank waits, and nothing is under way; ending the job");
    }
}

void FrontEnd::on_output(std::uint32_t node, const Output &output)
{
    const auto size = static_cast<std::uint32_t>(output.bytes.size());
    const int fd = output.stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO;
    check_rank(node, output.rank);
    if (broken_[fd - 1])
        return branches_.send(node, OutputCredit{size});
    std::string text =
        merger(fd).merge(output.rank, static_cast<unsigned>(output.stream), output.bytes);
    sink(fd).put({fd, std::move(text), node, size});
}

void FrontEnd::on_fence(std::uint32_t branch, const Fence &fence)
{
    if (!fences_)
        throw Failure(exit_trouble, "a daemon speaks of ranks before there are any");
    for (const auto &[to, answer] : fences_->add(branch, fence).answers)
        branches_.tell(to, answer);
}

void FrontEnd::on_modex(std::uint32_t node, Modex modex)
{
    modex.node = node;
    if (modex.rank < job_.ranks())
        branches_.send(job_.node_of[modex.rank], modex);
    else
        branches_.send(node, ModexDone{modex.ticket, node, -1, {}});
}

// ---- the user's words -------------------------------------------------------------------

void FrontEnd::on_signals()
{
    signalfd_siginfo info;
    while (read(signal_fd_.get(), &info, sizeof info) == sizeof info)
        on_signal(static_cast<int>(info.ssi_signo));
}

void FrontEnd::on_signal(int number)
{
    if (number == SIGCHLD) // the loop looks after the daemons
        return;
    if (number == SIGTSTP)
        return suspend();
    if (number == SIGCONT)
        input_.look();
    if (number == SIGUSR1 || number == SIGQUIT)
        branches_.broadcast(Inspect{number == SIGUSR1});
    if (number == SIGUSR1)
        return;
    if (!ends_job(number))
        return branches_.broadcast(Signal{number});
    const bool again = interrupted_ || ending_;
    if (!interrupted_)
        interrupted_ = number;
    end_ranks(again ? SIGKILL : number, again ? 0ms : interrupt_grace);
}

// The ranks stop, then we do; SIGCONT reaches us and is passed on.
void FrontEnd::suspend()
{
    branches_.broadcast(Signal{SIGTSTP});
    raise(SIGSTOP);
}

// ---- words to the user --------------------------------------------------------------------

void FrontEnd::say(const std::string &text)
{
    if (!broken_[STDERR_FILENO - 1])
        sink(STDERR_FILENO)
            .put({STDERR_FILENO, merger(STDERR_FILENO).merge_own("unetrun: " + printable(text)), 0,
                  0});
}

void FrontEnd::on_written(const Written &written)
{
    if (written.credit > 0)
        branches_.send(written.node, OutputCredit{written.credit});
    bool &broken = broken_[written.fd - 1];
    if (written.error == 0 || broken)
        return;
    broken = true;
    if (written.fd != STDOUT_FILENO)
        return;
    if (written.error == EPIPE) // the reader has seen enough: end as if by SIGPIPE
        return fail(exit_signal + SIGPIPE, "");
    fail(exit_trouble, std::string("cannot write the ranks' output: ") +
                           std::strerror(written.error) + "; ending the job");
}

// ---- ending -------------------------------------------------------------------------------

// Ends the job with a code and a line, unless it is ending already.
void FrontEnd::fail(int code, const std::string &why)
{
    if (ending_)
        return;
    ending_ = true;
    if (!code_)
        code_ = code;
    if (!why.empty())
        say(why);
    branches_.broadcast(End{SIGTERM, static_cast<std::uint32_t>(failure_grace.count())});
}

// Ends the ranks, and our patience with whoever reads our output.
void FrontEnd::end_ranks(int signal, std::chrono::milliseconds grace)
{
    branches_.broadcast(End{signal, static_cast<std::uint32_t>(grace.count())});
    abandon_at_ = earlier(abandon_at_, Clock::now() + grace + abandon_after);
}

void FrontEnd::check_deadlines()
{
    const auto now = Clock::now();
    if (input_.next_look() && now >= *input_.next_look())
        input_.look();
    if (timeout_at_ && now >= *timeout_at_) {
        timeout_at_.reset();
        char seconds[32];
        std::snprintf(seconds, sizeof seconds, "%g",
                      static_cast<double>(options_.timeout.count()) / 1000);
        branches_.broadcast(Inspect{false});
        fail(exit_timeout,
             std::string("the job did not end within ") + seconds + " s (--timeout); ending it");
        end_ranks(SIGTERM, failure_grace);
    }
}

bool FrontEnd::output_pending() const
{
    return !sinks_[0]->idle() || !sinks_[1]->idle();
}

bool FrontEnd::over() const
{
    if (abandon_at_ && Clock::now() >= *abandon_at_)
        return true;
    if (!launched_ && (ending_ || interrupted_))
        return true;
    return !output_pending() &&
           std::all_of(nodes_.begin(), nodes_.end(), [](const Node &node) { return node.done; });
}

int FrontEnd::run()
{
    try {
        while (!over()) {
            poller_.run_once(next_deadline());
            branches_.tend();
            check_deadlines();
        }
    } catch (const Failure &failure) {
        fail(failure.code, failure.what());
    }
    clean_up();
    if (!code_ && interrupted_ && (!launched_ || exited_ < job_.ranks()))
        code_ = exit_signal + interrupted_;
    if (options_.verbose)
        say("the job took " + in_milliseconds(Clock::now() - begin_) + " and ends with code " +
            std::to_string(code_.value_or(0)));
    const auto patience = Clock::now() + abandon_after;
    while (output_pending() && Clock::now() < patience)
        poller_.run_once(patience);
    return code_.value_or(0);
}

Deadline FrontEnd::next_deadline() const
{
    return earlier(earlier(timeout_at_, abandon_at_),
                   earlier(input_.next_look(), branches_.next_deadline()));
}

// Leaves nothing behind: the daemons end when we hang up; whatever does not is killed.
void FrontEnd::clean_up()
{
    input_.close();
    branches_.clean_up();
    for (std::uint32_t node = 0; node < nodes_.size(); node++)
        remove_job_directory(job_.id, node);
}

} // namespace unetrun
