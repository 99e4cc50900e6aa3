// SPDX-License-Identifier: BSD-3-Clause

#include "node/daemon.h"

#include <algorithm>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common/environment.h"
#include "common/networks.h"
#include "common/resources.h"
#include "node/binding.h"
#include "node/mpi.h"
#include "node/source_place.h"

namespace unetrun {

namespace {

using namespace std::chrono_literals;

constexpr int start_batch = 16;      // ranks started between two looks at the front end
constexpr auto orphan_grace = 500ms; // for ranks whose front end is gone
constexpr auto look_period = 500ms;  // between two looks at what the ranks wait for
constexpr auto sweep_period = 20ms;  // between rounds of killing what is left of a job

// The soft limit as it was; from now on the hard one holds, as each rank takes pipes.
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

// What tells a process of its place in a PMIx job; MCA parameters are the user's.
bool is_place_in_job(const std::string &variable)
{
    return variable.starts_with("PMIX_") && !variable.starts_with("PMIX_MCA_");
}

} // namespace

Daemon::Daemon(Fd in, Fd out)
    : signals_(poller_, {SIGCHLD}, [this](int) { reap(); }), mailbox_(poller_),
      link_(
          poller_, std::move(in), std::move(out), [this](const Frame &frame) { on_frame(frame); },
          [this](const std::string &) { on_lost(); })
{
    adopt_orphans();
    open_files_ = raise_open_files();
    link_.send(Hello{protocol_version(), topology_.cores()});
}

void Daemon::run()
{
    while (link_.open() || !childless_) {
        const bool starting = job_ && !all_started();
        poller_.run_once(starting ? Clock::now() : next_deadline());
        for (int i = 0; i < start_batch && job_ && !all_started(); i++)
            start_next();
        watch_for_deadlock();
        advance_end();
        watch_output();
    }
}

// ---- the front end's words ----------------------------------------------------

void Daemon::on_frame(const Frame &frame)
{
    static constexpr char front_end[] = "the front end";
    switch (frame.type) {
    case FrameType::tree:
        return on_tree(take<Tree>(frame, front_end));
    case FrameType::job:
        return on_job(take<Job>(frame, front_end));
    case FrameType::output_credit:
        room_ += take<OutputCredit>(frame, front_end).bytes;
        return;
    case FrameType::input:
        if (input_)
            input_->put(take<Input>(frame, front_end).bytes);
        return;
    case FrameType::signal:
        return on_signal(take<Signal>(frame, front_end).number);
    case FrameType::end: {
        const End end = take<End>(frame, front_end);
        return on_end(end.signal, std::chrono::milliseconds(end.grace_ms));
    }
    case FrameType::ask_stuck: // the next look will tell
        stuck_round_ = take<AskStuck>(frame, front_end).round;
        return;
    case FrameType::inspect:
        return inspect(take<Inspect>(frame, front_end).asked);
    case FrameType::fence_done:
        return server().finish_fence(take<FenceDone>(frame, front_end));
    case FrameType::modex:
        return server().look_up(take<Modex>(frame, front_end));
    case FrameType::modex_done:
        return server().finish_modex(take<ModexDone>(frame, front_end));
    default:
        throw Failure(exit_trouble, "an unexpected message arrived from the front end");
    }
}

PmixServer &Daemon::server()
{
    if (!server_)
        throw Failure(exit_trouble, "the front end speaks of ranks before there are any");
    return *server_;
}

void Daemon::on_tree(const Tree &tree)
{
    if (tree_ || !tree.valid())
        throw Failure(exit_trouble, "the front end's tree makes no sense");
    tree_ = tree;
    if (!tree.backends.empty())
        look_for_networks();
}

// Where this node's ranks will look.
void Daemon::look_for_networks()
{
    for (const std::string &place : places_of(tree_->places))
        setenv(name_of(place).c_str(), value_of({place}, name_of(place)).c_str(), true);
    send(unetrun::look_for_networks(tree_->backends));
}

void Daemon::on_job(Job job)
{
    if (job_ || !tree_ || !job.valid() || job.hosts.size() > tree_->hosts.size())
        throw Failure(exit_trouble, "the front end's job makes no sense");
    job_ = std::move(job);
    numbers_ = job_->ranks_of(tree_->node);
    if (numbers_.empty())
        return; // all ranks have found a place elsewhere
    try {
        prepare();
    } catch (const Failure &failure) {
        fail(failure);
    }
}

void Daemon::on_signal(int number)
{
    for (const auto &[pid, rank] : running_)
        kill(-pid, number);
}

void Daemon::on_end(int signal, std::chrono::milliseconds grace)
{
    next_ = ranks_.size(); // starts no more
    on_signal(signal);
    on_signal(SIGCONT); // or the stopped would not notice
    kill_at_ = earlier(kill_at_, Clock::now() + (job_ ? grace : 0ms));
}

void Daemon::on_lost()
{
    on_end(SIGTERM, orphan_grace);
}

// ---- starting -------------------------------------------------------------------

void Daemon::prepare()
{
    const auto begin = Clock::now();
    require_resources();
    if (chdir(job_->directory.c_str()) != 0)
        throw system_failure("cannot change to the directory " + job_->directory + " (--wdir)");
    remove_stale_job_directories();
    directory_ = std::make_unique<JobDirectory>(job_->id, tree_->node);
    find_program_file();
    find_wrapper();
    server_ = std::make_unique<PmixServer>(*job_, tree_->node, directory_->path(), topology_.get(),
                                           mailbox_, *this);
    bind_ranks();
    if (numbers_.front() == 0) {
        warn_of_mpi();
        make_input();
    }
    ranks_.resize(numbers_.size());
    make_board();
    if (job_->verbose)
        tell_prepared(Clock::now() - begin);
}

// Each rank has two pipes and a connection to the PMIx server, which has two threads and a port.
void Daemon::require_resources() const
{
    const std::size_t ranks = numbers_.size();
    const std::string purpose = std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
    require({.descriptors = 24 + 3 * ranks, .threads = 2, .bytes = 8 << 20}, purpose);
    require_port(purpose);
}

// The job's ranks on this machine, of whichever node.
std::uint32_t Daemon::ranks_here() const
{
    return job_->sharing > 1 ? job_->ranks() : static_cast<std::uint32_t>(numbers_.size());
}

void Daemon::bind_ranks()
{
    const std::uint32_t ranks = ranks_here(), cores = topology_.cores();
    const std::vector<cpu_set_t> sets = bind(ranks, topology_.get(), job_->bind_to);
    for (std::size_t i = 0; i < numbers_.size() && !sets.empty(); i++)
        processors_.push_back(sets[job_->sharing > 1 ? numbers_[i] : i]);
    const bool speaks = job_->sharing == 1 || numbers_.front() == 0;
    if (job_->bind_to == BindTo::core && ranks > cores && speaks)
        send(Note{"--bind-to core: " + std::to_string(ranks) + " ranks share the " +
                  (cores == 1 ? "only core" : std::to_string(cores) + " cores") +
                  " that unetrun may use on " + job_->hosts[tree_->node] +
                  "; start fewer, or allow it more (taskset, the batch system)"});
}

// The user's program, or the copy of it that came with the job.
void Daemon::find_program_file()
{
    const std::string &name = job_->arguments.front();
    if (job_->program.empty()) {
        program_ = find_program(name, value_of(job_->environment, "PATH"));
        return;
    }
    program_ = directory_->put("program", job_->program);
    job_->program.clear();
    job_->program.shrink_to_fit();
}

void Daemon::tell_prepared(Clock::duration took)
{
    std::string list;
    for (const std::uint32_t number : numbers_)
        list += (list.empty() ? "" : ",") + std::to_string(number);
    send(Note{job_->hosts[tree_->node] + ": ranks " + list + " of " + program_ + ", " +
              binding_text(ranks_here(), topology_.get(), job_->bind_to) + "; PMIx server up in " +
              in_milliseconds(took)});
}

std::size_t Daemon::index_of(std::uint32_t rank) const
{
    const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), rank);
    return static_cast<std::size_t>(found - numbers_.begin());
}

void Daemon::start_next()
{
    Rank &rank = ranks_[next_];
    rank.number = numbers_[next_];
    try {
        start(rank);
        next_++;
    } catch (const Failure &failure) {
        const std::string where =
            "rank " + std::to_string(rank.number) + " of " + std::to_string(job_->ranks()) + ": ";
        fail({failure.code, (failure.code == exit_trouble ? where : "") + failure.what()});
    }
}

void Daemon::fail(const Failure &failure)
{
    next_ = ranks_.size();
    send(Failed{failure.code, failure.what()});
}

void Daemon::start(Rank &rank)
{
    Pipe output[2] = {make_pipe(), make_pipe()};
    Fd input = rank.number == 0 ? std::move(input_end_) : open_null();
    Spawn what = spawn_of(rank.number);
    what.standard[0] = input.get();
    what.standard[1] = output[0].write_end.get();
    what.standard[2] = output[1].write_end.get();
    rank.pid = spawn(what);
    running_.emplace(rank.pid, &rank);
    send(Started{rank.number, rank.pid});

    for (const Stream stream : {Stream::out, Stream::err}) {
        const auto i = static_cast<std::size_t>(stream);
        rank.output[i] = std::make_unique<OutputPipe>(
            poller_, std::move(output[i].read_end), job_->ranks() > 1,
            [this, number = rank.number, stream](std::string_view bytes) {
                emit(number, stream, bytes);
            });
        if (output_watched_)
            rank.output[i]->resume();
    }
}

void Daemon::find_wrapper()
{
    if (job_->wrapper.empty())
        return;
    const std::string &name = job_->wrapper.front();
    try {
        wrapper_ = find_program(name, value_of(job_->environment, "PATH"));
    } catch (const Failure &failure) {
        throw Failure(failure.code, std::string(failure.what()) + "; install " + name +
                                        ", or leave the option out that asks for it");
    }
}

// Without it the ranks run as well.
void Daemon::make_board()
{
    try {
        board_ = std::make_unique<StatusBoard>(static_cast<std::uint32_t>(numbers_.size()));
    } catch (const Failure &failure) {
        send(Note{std::string("cannot watch the ranks: ") + failure.what()});
    }
}

bool Daemon::is_real_node() const
{
    return job_->sharing == 1;
}

void Daemon::warn_of_mpi()
{
    if (job_->ranks() == 1)
        return;
    const std::string warning = mpi_warning(program_, is_real_node(), job_->environment);
    if (!warning.empty())
        send(Note{warning});
}

// Rank 0's stdin exists before it does, as the input may come before it.
void Daemon::make_input()
{
    Pipe pipe = make_pipe();
    input_end_ = std::move(pipe.read_end);
    input_ = std::make_unique<InputPipe>(
        poller_, std::move(pipe.write_end), [this](std::size_t written) {
            if (written > 0)
                send(InputCredit{static_cast<std::uint32_t>(written)});
            else
                send(InputClosed{});
        });
}

bool Daemon::is_wrapped(std::uint32_t rank) const
{
    const auto &ranks = job_->wrapped;
    return !job_->wrapper.empty() &&
           (ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end());
}

Spawn Daemon::spawn_of(std::uint32_t rank)
{
    Spawn what;
    what.file = program_;
    what.arguments = job_->arguments;
    if (is_wrapped(rank)) {
        what.file = wrapper_;
        what.arguments.front() = program_; // which the wrapper has to find
        what.arguments.insert(what.arguments.begin(), job_->wrapper.begin(), job_->wrapper.end());
    }
    what.environment = environment_of(rank);
    what.signals = signals_.mask_before();
    if (!processors_.empty())
        what.processors = processors_[index_of(rank)];
    what.group = true;
    what.dies_with_parent = true;
    what.open_files = open_files_;
    return what;
}

// Of the variables that say where endpoints are, those that are not there.
void Daemon::add_places(std::vector<std::string> &environment) const
{
    const std::vector<std::string> places =
        tree_->rsh.empty() ? std::vector<std::string>{"UNET_UDP_ADDRESS=127.0.0.1"}
                           : places_of(environment);
    for (const std::string &place : places)
        if (value_of(environment, name_of(place)).empty())
            environment.push_back(place);
}

// The user's environment, except for what says where in which job the process is.
std::vector<std::string> Daemon::environment_of(std::uint32_t rank)
{
    std::vector<std::string> place = server_->environment_of(rank);
    place.push_back("SPLITC_JOB_KEY=" + job_->key);
    const auto here = static_cast<std::uint32_t>(numbers_.size()) * job_->sharing;
    place.push_back("SPLITC_RANKS_PER_CORE=" +
                    std::to_string(ranks_per_core(here, topology_.cores())));
    if (board_)
        place.push_back("SPLITC_STATUS=" +
                        board_->place_of(static_cast<std::uint32_t>(index_of(rank))));
    if (job_->verbose)
        place.push_back("SPLITC_VERBOSE=1");
    if (is_real_node())
        place.emplace_back(open_mpi_variable);
    if (!job_->network.empty())
        place.push_back("SPLITC_NETWORK=" + job_->network);
    std::vector<std::string> environment;
    for (const std::string &variable : job_->environment) {
        const bool replaced = std::any_of(place.begin(), place.end(), [&](const std::string &p) {
            return name_of(p) == name_of(variable);
        });
        if (!replaced && !is_place_in_job(variable))
            environment.push_back(variable);
    }
    environment.insert(environment.end(), place.begin(), place.end());
    add_places(environment);
    return environment;
}

// ---- their output ---------------------------------------------------------------

void Daemon::emit(std::uint32_t rank, Stream stream, std::string_view bytes)
{
    send(Output{rank, stream, std::string(bytes)});
    room_ -= static_cast<std::int64_t>(bytes.size());
    if (room_ <= 0)
        watch_output();
}

// Reads from the ranks as long as the front end can take it; without a front end
// nobody can, and nothing is worth waiting for.
void Daemon::watch_output()
{
    const bool wanted = room_ > 0 || !link_.open();
    if (wanted == output_watched_)
        return;
    output_watched_ = wanted;
    for (const Rank &rank : ranks_)
        for (const auto &output : rank.output)
            if (output)
                wanted ? output->resume() : output->pause();
}

// What is in the ranks' pipes already, as far as there is room.
void Daemon::pass_on_output()
{
    for (const Rank &rank : ranks_)
        for (const auto &output : rank.output)
            while (output && output->open() && room_ > 0 && output->read_some())
                continue;
}

// ---- what the ranks do ------------------------------------------------------------

void Daemon::rank_joined(std::uint32_t rank)
{
    ranks_.at(index_of(rank)).joined = true;
    if (!look_at_)
        look_at_ = Clock::now() + look_period;
    send(Joined{rank});
}

void Daemon::rank_left(std::uint32_t rank)
{
    ranks_.at(index_of(rank)).left = true;
}

// ---- what they are at -------------------------------------------------------------

namespace {

std::uint64_t monotonic_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

void Daemon::inspect(bool asked)
{
    const std::vector<splitc_status> all =
        board_ ? board_->read_all() : std::vector<splitc_status>();
    if (!asked && std::none_of(all.begin(), all.end(), has_joined))
        return;
    const std::vector<std::string> places = places_of_waits(all);
    for (std::size_t i = 0; i < all.size(); i++)
        if (const Rank &rank = ranks_[i]; running_.count(rank.pid) != 0)
            send(Report{rank.number,
                        describe(all[i], monotonic_ns(), process_state(rank.pid), places[i])});
}

std::vector<std::string> Daemon::places_of_waits(const std::vector<splitc_status> &all) const
{
    std::vector<std::uint64_t> pcs;
    for (const splitc_status &status : all)
        pcs.push_back(is_waiting(status) ? status.wait_pc : 0);
    return source_places(program_, pcs, job_->environment);
}

void Daemon::watch_for_deadlock()
{
    if (!board_ || !look_at_ || Clock::now() < *look_at_)
        return;
    look_at_ = Clock::now() + look_period;
    const bool all_run = running_.size() == ranks_.size();
    Stuck found = deadlock_watch_.look(all_run ? board_->read_all() : std::vector<splitc_status>());
    found.round = std::exchange(stuck_round_, 0);
    if (found.stuck != stuck_ || found.round != 0)
        send(found);
    stuck_ = found.stuck;
}

// ---- ending -----------------------------------------------------------------------

// Collects every child that has exited.  Of several deaths the violent ones are told
// first: an exit code may be the echo of another rank's death.
void Daemon::reap()
{
    std::vector<std::pair<Rank *, int>> gone;
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (const auto found = running_.find(pid); found != running_.end())
            gone.emplace_back(found->second, status); // else it is an orphan
    mailbox_.run(); // what they told the PMIx server before they exited
    std::stable_partition(gone.begin(), gone.end(),
                          [](const auto &death) { return WIFSIGNALED(death.second); });
    if (std::any_of(gone.begin(), gone.end(), [](const auto &death) { return death.second; }))
        pass_on_output(); // last words, which another rank may have said, come before the news
    for (const auto &[rank, death] : gone)
        report(*rank, death);
}

void Daemon::report(Rank &rank, int status)
{
    running_.erase(rank.pid);
    send(Exited{rank.number, status, rank.joined, rank.left,
                status == SIGKILL ? memory_watch_.news() : "",
                status != 0 ? place_of_fault(rank) : ""});
    if (rank.number == 0)
        input_.reset();
}

// Of the first rank only: the front end tells of no other, and a look-up may take seconds.
std::string Daemon::place_of_fault(const Rank &rank)
{
    const auto index = static_cast<std::uint32_t>(index_of(rank.number));
    const std::uint64_t pc = board_ ? board_->read(index).fault_pc : 0;
    if (pc == 0 || std::exchange(sought_place_, true))
        return {};
    return source_places(program_, {pc}, job_->environment).front();
}

// Brings the end nearer by whatever can be done now: a rank's own children die with the
// last rank, all of them when their time is up; then the pipes run dry.
void Daemon::advance_end()
{
    const bool overdue = kill_at_ && Clock::now() >= *kill_at_;
    if (!childless_ && (overdue || (job_ && all_started() && running_.empty()))) {
        reap();
        childless_ = waitid(P_ALL, 0, nullptr, WEXITED | WNOHANG | WNOWAIT) != 0;
        if (!childless_)
            kill_descendants();
        kill_at_ = Clock::now() + sweep_period;
    }
    if (childless_ && !done_ && drain()) {
        done_ = true;
        send(Done{});
    }
}

// Reads what the dead have left in their pipes, as far as there is room; whether that
// was all.
bool Daemon::drain()
{
    bool dry = true;
    for (const Rank &rank : ranks_)
        for (const auto &output : rank.output) {
            if (!output)
                continue;
            output->expect_end();
            while (output->open() && (room_ > 0 || !link_.open()))
                output->read_some();
            dry = dry && !output->open();
        }
    return dry;
}

Deadline Daemon::next_deadline() const
{
    return childless_ ? Deadline() : earlier(kill_at_, look_at_);
}

// ---- the program ------------------------------------------------------------------

int daemon_main()
{
    // Whatever a library prints must not get between the frames.
    Fd in = duplicate(0), out = duplicate(1);
    const Fd null = open_null();
    dup2(null.get(), 0);
    dup2(2, 1);
    prctl(PR_SET_NAME, "unetd");

    auto *daemon = new Daemon(std::move(in), std::move(out)); // for good: see PmixServer
    int code = 0;
    try {
        daemon->run();
    } catch (const std::exception &error) {
        dprintf(2, "unetrun: the daemon of process %d: %s\n", getppid(), words_of(error).c_str());
        code = exit_trouble;
    }
    daemon->remove_directory();
    _exit(code);
}

} // namespace unetrun
