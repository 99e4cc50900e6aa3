// SPDX-License-Identifier: BSD-3-Clause

#include "node/supervisor.h"

#include <algorithm>
#include <sys/resource.h>
#include <sys/wait.h>

#include "common/descendants.h"
#include "common/resources.h"
#include "node/mpi.h"

namespace unetrun {

namespace {

using namespace std::chrono_literals;

constexpr int start_batch = 16;      // ranks started between two turns of the event loop
constexpr auto orphan_grace = 500ms; // for ranks whose front end is gone
constexpr auto sweep_period = 20ms;  // between rounds of killing what is left of a job

// Raises the limit of open files as far as it goes, as each rank takes pipes.  Returns the limit
// from before, which the ranks get.
rlim_t raise_open_files()
{
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return before;
}

Fd open_null()
{
    Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null)
        throw system_failure("cannot open /dev/null");
    return null;
}

} // namespace

Supervisor::Supervisor(const Shared &daemon, Job job, const Tree &tree)
    : daemon_(daemon), job_(std::move(job), tree), ranks_(job_),
      output_(daemon.poller, daemon.uplink, job_.job.ranks() > 1)
{
    if (job_.ranks.empty())
        return; // all ranks have found a place elsewhere
    try {
        prepare();
    } catch (const Failure &failure) {
        fail(failure);
    }
}

void Supervisor::advance()
{
    start_some();
    if (watch_)
        watch_->look();
    advance_end();
}

Deadline Supervisor::next_deadline() const
{
    if (childless_)
        return std::nullopt;
    if (!ranks_.all_started())
        return Clock::now();
    return earlier(kill_at_, watch_ ? watch_->next_look() : std::nullopt);
}

// ---- starting -----------------------------------------------------------------------------

void Supervisor::prepare()
{
    const auto begin = Clock::now();
    const Job &job = job_.job;
    const rlim_t open_files = raise_open_files();
    require_resources();
    if (chdir(job.directory.c_str()) != 0)
        throw system_failure("cannot change to the directory " + job.directory + " (--wdir)");
    remove_stale_job_directories();
    directory_ = std::make_unique<JobDirectory>(job.id, job_.node());
    starter_ = std::make_unique<RankStarter>(job_, *directory_, daemon_.topology, daemon_.signals,
                                             open_files);
    server_ = std::make_unique<PmixServer>(job, job_.node(), directory_->path(),
                                           daemon_.topology.get(), daemon_.mailbox, *this);
    note(starter_->binding_note());
    for (const std::uint32_t rank : job.report_bindings ? job_.ranks : std::vector<std::uint32_t>())
        note(starter_->binding_of(rank));
    if (job_.ranks.front() == 0) {
        warn_of_mpi();
        make_input();
    }
    watch_ = std::make_unique<RankWatch>(job_, ranks_, starter_->program(), daemon_.uplink);
    if (job.verbose)
        tell_prepared(Clock::now() - begin);
}

// Each rank has two pipes and a connection to the PMIx server, which has two threads and a port.
void Supervisor::require_resources() const
{
    const std::size_t ranks = job_.ranks.size();
    const std::string purpose = std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
    require({.descriptors = 24 + 3 * ranks, .threads = 2, .bytes = 8 << 20}, purpose);
    require_port(purpose);
}

// Input may arrive before rank 0 is started, so its pipe is there first.
void Supervisor::make_input()
{
    Pipe pipe = make_pipe();
    input_end_ = std::move(pipe.read_end);
    input_ = std::make_unique<InputPipe>(
        daemon_.poller, std::move(pipe.write_end), [this](std::size_t written) {
            if (written > 0)
                daemon_.uplink.send(InputCredit{static_cast<std::uint32_t>(written)});
            else
                daemon_.uplink.send(InputClosed{});
        });
}

void Supervisor::warn_of_mpi()
{
    if (job_.job.ranks() > 1)
        note(mpi_warning(starter_->program(), job_.is_whole_machine(), job_.job.environment));
}

void Supervisor::tell_prepared(Clock::duration took)
{
    std::string list;
    for (const std::uint32_t rank : job_.ranks)
        list += (list.empty() ? "" : ",") + std::to_string(rank);
    note(job_.host() + ": ranks " + list + " of " + starter_->program() + ", " +
         starter_->binding() + "; PMIx server up in " + in_milliseconds(took));
}

void Supervisor::start_some()
{
    for (int i = 0; i < start_batch && !ranks_.all_started(); i++)
        try {
            start_next();
        } catch (const Failure &failure) {
            const std::string where = "rank " + std::to_string(ranks_.next()) + " of " +
                                      std::to_string(job_.job.ranks()) + ": ";
            fail({failure.code, (failure.code == exit_trouble ? where : "") + failure.what()});
        }
}

void Supervisor::start_next()
{
    const std::uint32_t rank = ranks_.next();
    Pipe out = make_pipe(), err = make_pipe();
    const Fd in = rank == 0 ? std::move(input_end_) : open_null();
    std::vector<std::string> own = server_->environment_of(rank);
    if (const std::string status = watch_->variable_of(rank); !status.empty())
        own.push_back(status);
    const pid_t pid =
        starter_->start(rank, own, in.get(), out.write_end.get(), err.write_end.get());
    ranks_.on_started(pid);
    daemon_.uplink.send(Started{rank, pid});
    output_.add(rank, Stream::out, std::move(out.read_end));
    output_.add(rank, Stream::err, std::move(err.read_end));
}

void Supervisor::note(const std::string &text)
{
    if (!text.empty())
        daemon_.uplink.send(Note{text});
}

void Supervisor::fail(const Failure &failure)
{
    ranks_.start_no_more();
    daemon_.uplink.send(Failed{failure.code, failure.what()});
}

// ---- from the front end -----------------------------------------------------------------

PmixServer &Supervisor::server()
{
    if (!server_)
        throw Failure(exit_trouble, "the front end speaks of ranks before there are any");
    return *server_;
}

void Supervisor::on_input(const std::string &bytes)
{
    if (input_)
        input_->put(bytes);
}

void Supervisor::on_inspect(bool asked)
{
    if (watch_)
        watch_->inspect(asked);
}

void Supervisor::on_ask_stuck(std::uint32_t round)
{
    if (watch_)
        watch_->ask(round);
}

void Supervisor::on_end(int signal, std::chrono::milliseconds grace, bool slow)
{
    slow_ = slow_ || (slow && !kill_at_);
    ranks_.start_no_more();
    ranks_.signal_all(signal);
    ranks_.signal_all(SIGCONT); // a stopped rank does not notice a signal before
    kill_at_ = earlier(kill_at_, Clock::now() + grace);
}

void Supervisor::on_front_end_lost()
{
    output_.on_front_end_lost();
    on_end(SIGTERM, orphan_grace, false);
}

// ---- from the ranks -----------------------------------------------------------------------

void Supervisor::rank_joined(std::uint32_t rank)
{
    ranks_.of(rank).joined = true;
    watch_->begin();
    daemon_.uplink.send(Joined{rank});
}

// ---- ending -----------------------------------------------------------------------------

// Collects every child that has exited.  If several ranks have, those that a signal killed are
// reported first: an exit code may only be the consequence of another rank's death.
void Supervisor::reap()
{
    std::vector<std::pair<RankProcess *, int>> gone;
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (RankProcess *rank = ranks_.running(pid)) // else it is an orphan
            gone.emplace_back(rank, status);
    daemon_.mailbox.run(); // what they told the PMIx server before they exited
    std::stable_partition(gone.begin(), gone.end(),
                          [](const auto &death) { return WIFSIGNALED(death.second); });
    if (std::any_of(gone.begin(), gone.end(), [](const auto &death) { return death.second; }))
        output_.flush(); // the user sees the last words of all ranks before the news
    for (const auto &[rank, death] : gone)
        report(*rank, death);
}

// When a rank has died, others end as well: of them nobody wants to know where they were.
bool Supervisor::tells_stack(int status)
{
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const bool crashed = number != 0 && number != SIGTERM && number != SIGKILL;
    const bool first = status != 0 && !kill_at_ && !std::exchange(any_died_, true);
    return crashed || first || (slow_ && status != 0);
}

void Supervisor::report(const RankProcess &rank, int status)
{
    ranks_.on_exited(rank.pid);
    if (job_.job.backtrace && tells_stack(status))
        watch_->report_stack(rank.number, status);
    daemon_.uplink.send(Exited{rank.number, status, rank.joined, rank.left,
                               status == SIGKILL ? memory_watch_.news() : "",
                               status != 0 ? watch_->place_of_fault(rank.number) : ""});
    if (rank.number == 0)
        input_.reset();
}

// The end has three stages.  The ranks exit; what they have started is killed, at the latest when
// the time for the end is up; what they have written is sent.
void Supervisor::advance_end()
{
    const bool overdue = kill_at_ && Clock::now() >= *kill_at_;
    if (!childless_ && (overdue || (ranks_.all_started() && !ranks_.any_runs()))) {
        childless_ = !has_children();
        if (!childless_)
            kill_descendants();
        kill_at_ = Clock::now() + sweep_period;
    }
    if (childless_ && !done_ && output_.drain()) {
        done_ = true;
        daemon_.uplink.send(Done{});
    }
}

} // namespace unetrun
