// SPDX-License-Identifier: BSD-3-Clause

#include "front/front_end.h"

#include "common/descendants.h"
#include "common/job_directory.h"
#include "front/network_choice.h"
#include "front/output_files.h"

#include <unistd.h>

namespace unetrun {

namespace {

using namespace std::chrono_literals;

constexpr auto failure_grace = 500ms;       // between SIGTERM and SIGKILL when a rank failed
constexpr auto interrupt_grace = 2000ms;    // the same when the user interrupted the job
constexpr auto backtrace_patience = 8000ms; // more than RankWatch looks for lines
constexpr auto abandon_after = 1000ms;      // for output that nobody takes, once all are killed

constexpr char daemon[] = "a daemon"; // as the sender, for messages

bool ends_job(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

} // namespace

FrontEnd::FrontEnd(const Options &options)
    : signals_(poller_,
               {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD},
               [this](int number) { on_signal(number); }),
      mailbox_(poller_), plan_(make_plan(options)), nodes_(plan_.tree), ranks_(plan_),
      outcome_(ranks_), branches_(poller_, signals_.mask_before(), *this),
      input_(poller_,
             [this](std::string_view bytes) {
                 branches_.send(plan_.job.node_of[0], Input{std::string(bytes)});
             }),
      terminal_(
          mailbox_, options.tag_output, options.only,
          [this](std::uint32_t node, std::uint32_t bytes) {
              branches_.send(node, OutputCredit{bytes});
          },
          [this](const std::string &file, int error) { on_output_broken(file, error); })
{
    if (options.timeout > 0ms)
        timeout_at_ = begin_ + options.timeout;
    adopt_orphans();
    branches_.grow(std::nullopt, plan_.tree);
    if (options.verbose && !options.allocation.empty())
        terminal_.say("the hosts are those of " + options.allocation + "'s allocation");
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
        fail(failure);
    }
    clean_up();
    if (plan_.options.verbose)
        terminal_.say("the job took " + in_milliseconds(Clock::now() - begin_) +
                      " and ends with code " + std::to_string(outcome_.exit_code()));
    const auto patience = Clock::now() + abandon_after;
    while (terminal_.pending() && Clock::now() < patience)
        poller_.run_once(patience);
    return outcome_.exit_code();
}

// ---- before the ranks -------------------------------------------------------------------

void FrontEnd::launch_if_ready()
{
    if (!launched() && !outcome_.ending() && nodes_.ready())
        launch();
}

void FrontEnd::choose_network()
{
    const NetworkChoice choice =
        unetrun::choose_network(plan_.tree.backends, nodes_.networks(), plan_.tree.hosts);
    plan_.job.network = choice.backend;
    if (plan_.options.verbose)
        terminal_.say("the network between the hosts is " + choice.why);
}

void FrontEnd::open_output_files()
{
    std::vector<std::string> files = output_files(plan_.options.output, plan_.job);
    output_fifos_ = create_output_files(files);
    terminal_.use_files(std::move(files));
}

// All daemons are there: places the ranks, and sends the job to the daemons.
void FrontEnd::launch()
{
    if (!plan_.tree.backends.empty())
        choose_network();
    place_ranks(plan_, nodes_.cores());
    if (!plan_.options.output.empty())
        open_output_files();
    judge_.emplace(plan_.job.hosts.size());
    exchange_.emplace(plan_.job, branches_);
    branches_.broadcast(plan_.job);
    input_.give_room(input_window);
    if (plan_.options.verbose)
        terminal_.say(std::to_string(nodes_.count()) +
                      (nodes_.count() == 1 ? " daemon" : " daemons") + " up in " +
                      in_milliseconds(Clock::now() - begin_));
}

// For who looks on; a file has no use for it.
void FrontEnd::tell_progress(std::size_t done, std::size_t all, const char *what)
{
    if (outcome_.ending() || !(plan_.options.verbose || isatty(STDERR_FILENO)))
        return;
    if (const auto line = start_progress_.line(done, all, what, Clock::now()))
        terminal_.say(*line);
}

// ---- from the daemons -------------------------------------------------------------------

void FrontEnd::on_branch_frame(std::uint32_t branch, const Frame &frame)
{
    const std::uint32_t node = frame.node;
    switch (frame.type) {
    case FrameType::hello:
        nodes_.on_hello(node, take<Hello>(frame, daemon));
        tell_progress(nodes_.started(), nodes_.count(), "daemons");
        return launch_if_ready();
    case FrameType::networks:
        nodes_.on_networks(node, take<Networks>(frame, daemon));
        return launch_if_ready();
    case FrameType::lost: {
        const Lost lost = take<Lost>(frame, daemon);
        return on_branch_lost(node, Failure(lost.code, lost.text));
    }
    case FrameType::started:
        ranks_.on_started(take_of_rank<Started>(frame));
        return tell_progress(ranks_.started(), ranks_.count(), "ranks");
    case FrameType::joined:
        return fail_if(outcome_.on_joined());
    case FrameType::exited:
        return fail_if(outcome_.on_exited(take_of_rank<Exited>(frame)));
    case FrameType::failed:
        return on_failed(node, take<Failed>(frame, daemon));
    case FrameType::aborted:
        return fail(outcome_.on_aborted(take_of_rank<Aborted>(frame)));
    case FrameType::note:
        return terminal_.say(take<Note>(frame, daemon).text);
    case FrameType::report: {
        const Report report = take_of_rank<Report>(frame);
        return terminal_.say(ranks_.name(report.rank) + " " + report.text);
    }
    case FrameType::stuck:
        return on_stuck(node, take<Stuck>(frame, daemon));
    case FrameType::output:
        return terminal_.put(node, take_of_rank<Output>(frame));
    case FrameType::input_credit:
        return input_.give_room(take<InputCredit>(frame, daemon).bytes);
    case FrameType::input_closed:
        return input_.close();
    case FrameType::fence:
        return exchange().on_fence(branch, take<Fence>(frame, daemon));
    case FrameType::modex:
        return exchange().on_modex(node, take<Modex>(frame, daemon));
    case FrameType::modex_done:
        return exchange().on_modex_done(take<ModexDone>(frame, daemon));
    case FrameType::done:
        return nodes_.on_done(node);
    default:
        throw Failure(exit_trouble, "an unexpected message arrived from a daemon");
    }
}

// A message about a rank, which has to be one of the sender's.
template <class OfRank> OfRank FrontEnd::take_of_rank(const Frame &frame) const
{
    OfRank message = take<OfRank>(frame, daemon);
    ranks_.check(frame.node, message.rank);
    return message;
}

Exchange &FrontEnd::exchange()
{
    if (!exchange_)
        throw Failure(exit_trouble, "a daemon speaks of ranks before there are any");
    return *exchange_;
}

void FrontEnd::on_branch_lost(std::uint32_t node, const Failure &why)
{
    if (nodes_.on_lost(node))
        fail({why.code, std::string(why.what()) + "; ending the job"});
}

void FrontEnd::on_failed(std::uint32_t node, const Failed &failed)
{
    if (plan_.tree.rsh.empty())
        return fail({failed.code, failed.text});
    const bool missing = launched() && failed.code == exit_not_found && !plan_.options.stage;
    fail({failed.code, plan_.tree.hosts[node] + ": " + failed.text +
                           (missing ? "; --stage sends the hosts a copy of it" : "")});
}

void FrontEnd::on_stuck(std::uint32_t node, const Stuck &stuck)
{
    if (!judge_ || outcome_.ending())
        return;
    switch (judge_->hear(node, stuck)) {
    case DeadlockJudge::Verdict::nothing:
        return;
    case DeadlockJudge::Verdict::ask:
        return branches_.broadcast(AskStuck{judge_->round()});
    case DeadlockJudge::Verdict::deadlock:
        branches_.broadcast(Inspect{false});
        return fail(
            {exit_trouble, "deadlock: every rank waits, and nothing is under way; ending the job"},
            true);
    }
}

// ---- from the user and the terminal -------------------------------------------------------

void FrontEnd::on_signal(int number)
{
    if (number == SIGCHLD) // it only ends the wait: run() looks after the daemons
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
    if (outcome_.interrupt(number))
        end_ranks(number, interrupt_grace);
    else
        end_ranks(SIGKILL, 0ms);
}

// The ranks stop first, then the front end does.  SIGCONT reaches it and is passed on.
void FrontEnd::suspend()
{
    branches_.broadcast(Signal{SIGTSTP});
    raise(SIGSTOP);
}

void FrontEnd::on_output_broken(const std::string &file, int error)
{
    if (error == EPIPE) // whoever reads it has seen enough: end as if by SIGPIPE, without a line
        return fail({exit_signal + SIGPIPE, ""});
    if (file.empty() && error == EBADF)
        return fail({exit_trouble, "cannot write the ranks' output: standard output is closed; "
                                   "ending the job (>/dev/null drops it)"});
    fail({exit_trouble, "cannot write the ranks' output" + (file.empty() ? "" : " to " + file) +
                            ": " + std::strerror(error) + "; ending the job"});
}

// ---- the end ----------------------------------------------------------------------------

// Ends the job with a code and a line for the user, unless it has failed before.
void FrontEnd::fail(const Failure &why, bool slow)
{
    if (!outcome_.fail(why.code))
        return;
    if (*why.what())
        terminal_.say(why.what());
    branches_.broadcast(End{SIGTERM, static_cast<std::uint32_t>(failure_grace.count()), slow});
}

void FrontEnd::fail_if(const std::optional<Failure> &why)
{
    if (why)
        fail(*why);
}

// Ends the ranks, and limits how long whoever reads the output may take.
void FrontEnd::end_ranks(int signal, std::chrono::milliseconds grace)
{
    branches_.broadcast(End{signal, static_cast<std::uint32_t>(grace.count()), false});
    const auto patience =
        plan_.options.backtrace ? abandon_after + backtrace_patience : abandon_after;
    abandon_at_ = earlier(abandon_at_, Clock::now() + grace + patience);
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
                      static_cast<double>(plan_.options.timeout.count()) / 1000);
        branches_.broadcast(Inspect{false});
        fail({exit_timeout,
              std::string("the job did not end within ") + seconds + " s (--timeout); ending it"},
             true);
        end_ranks(SIGTERM, failure_grace);
    }
}

Deadline FrontEnd::next_deadline() const
{
    return earlier(earlier(timeout_at_, abandon_at_),
                   earlier(input_.next_look(), branches_.next_deadline()));
}

bool FrontEnd::over() const
{
    if (abandon_at_ && Clock::now() >= *abandon_at_)
        return true;
    if (!launched() && outcome_.ending())
        return true;
    return !terminal_.pending() && nodes_.all_done();
}

// Leaves nothing behind: the daemons end when their links close, and what does not end is killed.
void FrontEnd::clean_up()
{
    input_.close();
    branches_.clean_up();
    for (std::uint32_t node = 0; node < nodes_.count(); node++)
        remove_job_directory(plan_.job.id, node);
}

} // namespace unetrun
