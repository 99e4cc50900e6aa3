// SPDX-License-Identifier: BSD-3-Clause

#include "front_end.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "job_directory.h"
#include "placement.h"

namespace unetrun {

namespace {

using namespace std::chrono_literals;

constexpr auto failure_grace = 500ms;    // between SIGTERM and SIGKILL when a rank failed
constexpr auto interrupt_grace = 2000ms; // and when the user interrupted the job
constexpr auto abandon_after = 1000ms;   // for output that nobody takes, once all are killed
constexpr auto farewell = 2000ms;        // for the daemons to end by themselves
constexpr auto sweep_period = 10ms;      // between rounds of killing what is left then
constexpr int sweep_rounds = 100;

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

std::string host_name()
{
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

std::vector<std::string> inherited_environment()
{
    std::vector<std::string> variables;
    for (char **variable = environ; *variable; variable++)
        variables.emplace_back(*variable);
    return variables;
}

std::vector<std::string> hosts_of(std::uint32_t nodes)
{
    if (nodes == 1)
        return {host_name()};
    std::vector<std::string> hosts;
    for (std::uint32_t i = 0; i < nodes; i++)
        hosts.push_back(host_name() + "-" + std::to_string(i));
    return hosts;
}

Job job_of(const Options &options)
{
    Job job;
    job.id = make_job_id(getpid(), random_hex(8));
    job.key = random_hex(16);
    job.hosts = hosts_of(options.nodes);
    job.first_rank = place(options.ranks, std::vector<std::uint32_t>(options.nodes, 1));
    job.directory = std::filesystem::absolute(options.directory.empty() ? "." : options.directory);
    job.arguments = options.command;
    job.environment = with_variables(inherited_environment(), options.variables);
    job.wrapper = options.wrapper;
    job.wrapped = options.wrapped;
    job.bind_to = options.bind_to;
    job.sharing = options.nodes;
    if (job.sharing > 1 && job.bind_to == BindTo::automatic)
        job.bind_to = BindTo::none; // all would take the same cores
    job.verbose = options.verbose;
    return job;
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
    std::string text =
        "rank " + std::to_string(exited.rank) + " (pid " + std::to_string(exited.pid);
    if (WIFSIGNALED(exited.status)) {
        const int number = WTERMSIG(exited.status);
        return text + ") was killed by signal " + std::to_string(number) + " (" +
               signal_text(number) + (WCOREDUMP(exited.status) ? ", core dumped)" : ")") +
               (exited.place.empty() ? "" : " at " + exited.place);
    }
    text += ") exited with code " + std::to_string(WEXITSTATUS(exited.status));
    return exited.joined && !exited.left ? text + " without calling PMIx_Finalize" : text;
}

// One line, whatever a rank or a file's name would make of it: no line ends, no escape
// sequences.
std::string printable(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
    return text;
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

template <class Message> Message take(const Frame &frame)
{
    std::optional<Message> message = decode<Message>(frame);
    if (!message)
        throw Failure(exit_trouble, "a malformed message arrived from a daemon");
    return *std::move(message);
}

} // namespace

// ---- starting -----------------------------------------------------------------------

FrontEnd::FrontEnd(const Options &options)
    : mailbox_(poller_),
      signal_fd_(BlockedSignals::descriptor(
          {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD})),
      job_(job_of(options)), verbose_(options.verbose), timeout_(options.timeout),
      nodes_(options.nodes), pids_(options.ranks), fences_(job_.first_rank),
      input_(poller_,
             [this](std::string_view bytes) { nodes_[0].link->send(Input{std::string(bytes)}); }),
      one_file_(same_file(1, 2)), mergers_{LineMerger(options.tag_output),
                                           LineMerger(options.tag_output)}
{
    poller_.watch(signal_fd_.get(), POLLIN, [this] { on_signals(); });
    if (timeout_ > 0ms)
        timeout_at_ = begin_ + timeout_;
    adopt_orphans();
    for (std::uint32_t node = 0; node < nodes_.size(); node++)
        start_node(node);
    for (auto &sink : sinks_)
        sink = std::make_unique<Sink>(mailbox_, [this](const Written &w) { on_written(w); });
}

FrontEnd::~FrontEnd()
{
    poller_.forget(signal_fd_.get());
}

void FrontEnd::start_node(std::uint32_t node)
{
    int ends[2];
    if (access("/proc/self/exe", X_OK) != 0)
        throw Failure(exit_trouble, "/proc is missing; mount it: mount -t proc proc /proc");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw system_failure("cannot make a socket for the daemon");
    Fd ours(ends[0]), theirs(ends[1]);
    Spawn what;
    what.file = "/proc/self/exe";
    what.arguments = {"unetd", "--daemon"};
    what.environment = inherited_environment();
    what.standard[0] = what.standard[1] = theirs.get();
    what.signals = signals_.before();
    what.session = true;
    nodes_[node].pid = spawn(what);
    Fd copy = duplicate(ours.get());
    nodes_[node].link = std::make_unique<Link>(
        poller_, std::move(ours), std::move(copy),
        [this, node](const Frame &frame) { on_frame(node, frame); },
        [this, node] { on_lost(node); });
    job_.node = node;
    nodes_[node].link->send(job_);
}

// ---- the daemons' words ---------------------------------------------------------------

void FrontEnd::on_frame(std::uint32_t node, const Frame &frame)
{
    switch (frame.type) {
    case FrameType::started: {
        const Started started = take<Started>(frame);
        pids_[check_rank(node, started.rank)] = started.pid;
        return;
    }
    case FrameType::joined:
        return on_joined();
    case FrameType::exited: {
        const Exited exited = take<Exited>(frame);
        check_rank(node, exited.rank);
        return on_exited(exited);
    }
    case FrameType::failed: {
        const Failed failed = take<Failed>(frame);
        return fail(failed.code, failed.text);
    }
    case FrameType::aborted: {
        const Aborted aborted = take<Aborted>(frame);
        check_rank(node, aborted.rank);
        return on_aborted(aborted);
    }
    case FrameType::note:
        return say(take<Note>(frame).text);
    case FrameType::report: {
        const Report report = take<Report>(frame);
        check_rank(node, report.rank);
        return on_report(report);
    }
    case FrameType::stuck:
        return on_stuck(node, take<Stuck>(frame).stuck);
    case FrameType::output:
        return on_output(node, take<Output>(frame));
    case FrameType::input_credit:
        return input_.give_room(take<InputCredit>(frame).bytes);
    case FrameType::input_closed:
        return input_.close();
    case FrameType::fence:
        return on_fence(node, take<Fence>(frame));
    case FrameType::modex: {
        Modex modex = take<Modex>(frame);
        modex.node = node;
        if (modex.rank >= job_.ranks())
            return nodes_[node].link->send(ModexDone{modex.ticket, node, -1, {}});
        return nodes_[node_of(job_.first_rank, modex.rank)].link->send(modex);
    }
    case FrameType::modex_done: {
        const ModexDone done = take<ModexDone>(frame);
        if (done.node < nodes_.size())
            nodes_[done.node].link->send(done);
        return;
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
    if (rank < job_.first_rank[node] || rank >= job_.first_rank[node + 1])
        throw Failure(exit_trouble, "a daemon speaks of a rank that is not its own");
    return rank;
}

void FrontEnd::on_lost(std::uint32_t node)
{
    Node &lost = nodes_[node];
    if (lost.done)
        return;
    lost.done = true;
    fail(exit_trouble, "the daemon of " + job_.hosts[node] + " (pid " + std::to_string(lost.pid) +
                           ") died; ending the job");
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
                    describe(exited) + ending);
    if (!exited.joined && !outsider_)
        outsider_ = exited;
    check_stragglers();
}

// Ranks that have joined would wait for ever for one that never will.
void FrontEnd::check_stragglers()
{
    if (any_joined_ && outsider_ && !interrupted_)
        fail(exit_trouble, describe(*outsider_) + " before it joined the job (PMIx_Init), as "
                                                  "others did; ending the job");
}

void FrontEnd::on_aborted(const Aborted &aborted)
{
    const int code = failure_code(aborted.code);
    fail(code, "rank " + std::to_string(aborted.rank) + " (pid " +
                   std::to_string(pids_[aborted.rank]) + ") aborted the job with code " +
                   std::to_string(aborted.code) +
                   (aborted.text.empty() ? "" : ": " + aborted.text));
}

void FrontEnd::on_report(const Report &report)
{
    say("rank " + std::to_string(report.rank) + " (pid " + std::to_string(report.pid) + ") " +
        report.text);
}

void FrontEnd::on_stuck(std::uint32_t node, bool stuck)
{
    nodes_[node].stuck = stuck;
    if (ending_ || interrupted_ ||
        !std::all_of(nodes_.begin(), nodes_.end(), [](const Node &n) { return n.stuck; }))
        return;
    broadcast(Inspect{false});
    fail(exit_trouble, "deadlock: every rank waits, and nothing is under way; ending the job");
}

void FrontEnd::on_output(std::uint32_t node, const Output &output)
{
    const auto size = static_cast<std::uint32_t>(output.bytes.size());
    const int fd = output.stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO;
    check_rank(node, output.rank);
    if (broken_[fd - 1])
        return nodes_[node].link->send(OutputCredit{size});
    std::string text =
        merger(fd).merge(output.rank, static_cast<unsigned>(output.stream), output.bytes);
    sink(fd).put({fd, std::move(text), node, size});
}

void FrontEnd::on_fence(std::uint32_t node, const Fence &fence)
{
    for (const auto &[to, answer] : fences_.add(node, fence))
        nodes_[to].link->send(answer);
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
    if (number == SIGCHLD) // a daemon's death shows on its link
        return;
    if (number == SIGTSTP)
        return suspend();
    if (number == SIGCONT)
        input_.look();
    if (number == SIGUSR1 || number == SIGQUIT)
        broadcast(Inspect{number == SIGUSR1});
    if (number == SIGUSR1)
        return;
    if (!ends_job(number))
        return broadcast(Signal{number});
    const bool again = interrupted_ || ending_;
    if (!interrupted_)
        interrupted_ = number;
    end_ranks(again ? SIGKILL : number, again ? 0ms : interrupt_grace);
}

// The ranks stop, then we do; SIGCONT reaches us and is passed on.
void FrontEnd::suspend()
{
    broadcast(Signal{SIGTSTP});
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
        nodes_[written.node].link->send(OutputCredit{written.credit});
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

template <class Message> void FrontEnd::broadcast(const Message &message)
{
    for (Node &node : nodes_)
        node.link->send(message);
}

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
    broadcast(End{SIGTERM, static_cast<std::uint32_t>(failure_grace.count())});
}

// Ends the ranks, and our patience with whoever reads our output.
void FrontEnd::end_ranks(int signal, std::chrono::milliseconds grace)
{
    broadcast(End{signal, static_cast<std::uint32_t>(grace.count())});
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
        std::snprintf(seconds, sizeof seconds, "%g", static_cast<double>(timeout_.count()) / 1000);
        broadcast(Inspect{false});
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
    return !output_pending() &&
           std::all_of(nodes_.begin(), nodes_.end(), [](const Node &node) { return node.done; });
}

int FrontEnd::run()
{
    try {
        while (!over()) {
            poller_.run_once(earlier(earlier(timeout_at_, abandon_at_), input_.next_look()));
            check_deadlines();
        }
    } catch (const Failure &failure) {
        fail(failure.code, failure.what());
    }
    clean_up();
    if (!code_ && interrupted_ && exited_ < job_.ranks())
        code_ = exit_signal + interrupted_;
    if (verbose_)
        say("the job took " + in_milliseconds(Clock::now() - begin_) + " and ends with code " +
            std::to_string(code_.value_or(0)));
    const auto patience = Clock::now() + abandon_after;
    while (output_pending() && Clock::now() < patience)
        poller_.run_once(patience);
    return code_.value_or(0);
}

// Collects children that have exited; whether others are left.
bool FrontEnd::reap()
{
    pid_t pid;
    while ((pid = waitpid(-1, nullptr, WNOHANG)) > 0)
        for (Node &node : nodes_)
            if (node.pid == pid)
                node.pid = 0;
    return pid == 0;
}

bool FrontEnd::daemons_run() const
{
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [](const Node &node) { return node.pid != 0; });
}

// Leaves nothing behind: the daemons end when we hang up; whatever does not is killed.
void FrontEnd::clean_up()
{
    input_.close();
    for (Node &node : nodes_)
        node.link->close();
    const auto give_up = Clock::now() + farewell;
    while (reap() && daemons_run() && Clock::now() < give_up)
        poller_.run_once(give_up);
    for (int round = 0; reap() && round < sweep_rounds; round++) {
        kill_descendants();
        poller_.run_once(Clock::now() + sweep_period);
    }
    for (std::uint32_t node = 0; node < nodes_.size(); node++)
        remove_job_directory(job_.id, node);
}

} // namespace unetrun
