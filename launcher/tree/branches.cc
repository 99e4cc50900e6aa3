// SPDX-License-Identifier: BSD-3-Clause

#include "tree/branches.h"

#include <algorithm>
#include <array>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/resources.h"
#include "common/text.h"
#include "tree/start.h"

namespace unetrun {

namespace {

using namespace std::chrono_literals;

constexpr auto hello_patience = 30s; // for a relay or daemon to start
constexpr auto exit_patience = 1s;   // for the exit of a process whose link is lost
constexpr auto farewell = 2s;        // for daemons to end by themselves
constexpr auto remote_farewell = 6s; // the same with relays, which have daemons of their own
constexpr auto sweep_period = 10ms;  // between rounds of killing what is left then
constexpr int sweep_rounds = 100;

} // namespace

Branches::Branches(Poller &poller, const sigset_t &signals, BranchHost &host)
    : poller_(poller), signals_(signals), host_(host)
{
}

// ---- starting -----------------------------------------------------------------------

void Branches::grow(Place place, const Tree &tree)
{
    tree_ = tree;
    if (place)
        branches_.emplace_back().node = *place;
    for (const std::uint32_t node : nodes_below(place, shape_of(tree))) {
        branches_.emplace_back().node = node;
        branches_.back().remote = !tree.rsh.empty();
    }
    require_resources();
    for (std::uint32_t i = 0; i < branches_.size(); i++)
        try {
            start(i);
        } catch (const Failure &) {
            branches_.erase(branches_.begin() + i, branches_.end()); // they have no link
            throw;
        }
}

// Each branch has two descriptors of a socket, and a pipe for the words of a remote shell.
void Branches::require_resources()
{
    const std::size_t count = branches_.size();
    try {
        require({.descriptors = 8 + 3 * count, .threads = 0, .bytes = 1 << 20},
                std::to_string(count) + (count == 1 ? " daemon" : " daemons"));
    } catch (const Failure &) {
        branches_.clear(); // they have no link
        throw;
    }
}

void Branches::start(std::uint32_t index)
{
    Branch &branch = branches_[index];
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw system_failure("cannot make a socket for a daemon");
    Fd ours(ends[0]), theirs(ends[1]);
    Pipe errors = make_pipe();
    branch.give_up = Clock::now() + hello_patience;
    branch.pid =
        spawn(branch.remote ? relay_start(tree_, branch.node, theirs, errors.write_end, signals_)
                            : daemon_start(theirs, signals_));
    if (branch.remote)
        branch.stderr_end = std::move(errors.read_end);
    watch(index, std::move(ours));
}

void Branches::watch(std::uint32_t index, Fd socket)
{
    Branch &branch = branches_[index];
    Fd copy = duplicate(socket.get());
    branch.link = std::make_unique<Link>(
        poller_, std::move(socket), std::move(copy),
        [this, index](const Frame &frame) { on_frame(index, frame); },
        [this, index](const std::string &nonsense) { on_link_lost(index, nonsense); });
    if (!branch.stderr_end)
        return;
    set_nonblocking(branch.stderr_end.get());
    poller_.watch(branch.stderr_end.get(), POLLIN, [this, index] { read_words(branches_[index]); });
}

// ---- frames ---------------------------------------------------------------------------

std::optional<std::uint32_t> Branches::branch_to(std::uint32_t node) const
{
    for (std::uint32_t i = 0; i < branches_.size(); i++)
        if (branches_[i].remote ? is_within(node, branches_[i].node, shape_of(tree_))
                                : branches_[i].node == node)
            return i;
    return std::nullopt;
}

void Branches::forward(const Frame &frame)
{
    if (frame.node != every_node) {
        if (const auto branch = branch_to(frame.node))
            branches_[*branch].link->send(frame);
        return;
    }
    for (Branch &branch : branches_)
        if (branch.greeted)
            branch.link->send(frame);
}

void Branches::on_frame(std::uint32_t index, const Frame &frame)
{
    const Branch &branch = branches_[index];
    if (!branch.greeted)
        return on_hello(index, frame);
    if (frame.node >= tree_.hosts.size() || branch_to(frame.node) != index)
        throw Failure(exit_trouble, "the daemon of " + tree_.hosts[branch.node] +
                                        " speaks for a node that is not its own");
    host_.on_branch_frame(index, frame);
}

// The version is read alone: what follows it may differ in another version.
void Branches::on_hello(std::uint32_t index, const Frame &frame)
{
    Branch &branch = branches_[index];
    std::string version;
    Decoder(frame.body)(version);
    const std::string &host = tree_.hosts[branch.node];
    if (frame.type != FrameType::hello || version != protocol_version()) {
        branch.link->close();
        branch.told = true;
        return host_.on_branch_lost(
            branch.node,
            Failure(exit_trouble, host + " has another version of unetrun (" + printable(version) +
                                      ", this is " + protocol_version() +
                                      "); install the same one there"));
    }
    branch.greeted = true;
    branch.give_up.reset();
    branch.ending.words.clear();
    Tree tree = tree_;
    tree.node = branch.node;
    branch.link->send(tree);
    if (!branch.remote)
        host_.on_branch_frame(index, {frame.type, branch.node, frame.body});
}

// Reads what a remote shell has printed.  False if there was nothing.
bool Branches::read_words(Branch &branch)
{
    std::array<char, 4096> buffer;
    const ssize_t n = read(branch.stderr_end.get(), buffer.data(), buffer.size());
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    const auto take_line = [&](const std::string &line) { on_line(branch, line); };
    if (n <= 0) {
        poller_.forget(branch.stderr_end.get());
        branch.stderr_end.reset();
        branch.words.feed("\n", take_line); // its last line may have no end
        return false;
    }
    branch.words.feed({buffer.data(), static_cast<std::size_t>(n)}, take_line);
    return true;
}

// The last line before the hello explains why none comes.
void Branches::on_line(Branch &branch, const std::string &line)
{
    if (branch.greeted)
        host_.on_words(tree_.hosts[branch.node] + ": " + line);
    else
        branch.ending.words = printable(line);
}

// ---- losing a branch --------------------------------------------------------------------

void Branches::on_link_lost(std::uint32_t index, const std::string &nonsense)
{
    Branch &branch = branches_[index];
    branch.ending.nonsense = nonsense;
    branch.give_up = Clock::now() + exit_patience;
    if (!nonsense.empty())
        branch.give_up = Clock::now();
}

void Branches::check(Branch &branch)
{
    const auto now = Clock::now();
    if (branch.told)
        return;
    const bool late = branch.give_up && now >= *branch.give_up;
    const bool silent = branch.greeted && branch.remote && branch.link->silent();
    if (late || silent || (!branch.link->open() && !branch.runs()))
        return tell_loss(branch);
    if (branch.remote && branch.link->open() && branch.greeted)
        branch.link->beat();
}

void Branches::tell_loss(Branch &branch)
{
    branch.told = true;
    const bool silent = branch.link->open();
    branch.link->close();
    while (branch.stderr_end && read_words(branch))
        continue;
    if (branch.remote && branch.runs())
        kill(branch.pid, SIGKILL);
    host_.on_branch_lost(branch.node, loss_of(branch, silent));
}

// In words.  `silent`: the link is there, but nothing arrives.
Failure Branches::loss_of(const Branch &branch, bool silent) const
{
    const std::string &host = tree_.hosts[branch.node];
    if (!branch.remote)
        return Failure(exit_trouble, "the daemon of " + host + " (pid " +
                                         std::to_string(branch.pid) +
                                         ") died: " + ending_text(branch.ending));
    if (!branch.greeted)
        return start_failure(host, tree_.rsh, tree_.unetrun, branch.ending);
    if (silent)
        return Failure(exit_trouble, "no sign of life from " + host + " for " +
                                         std::to_string(silence_max.count()) +
                                         " s: it is down, or the network between is");
    return link_failure(host, branch.ending);
}

void Branches::tend()
{
    reap();
    for (Branch &branch : branches_)
        check(branch);
}

Deadline Branches::next_deadline() const
{
    Deadline next;
    for (const Branch &branch : branches_) {
        if (branch.told)
            continue;
        next = earlier(next, branch.give_up);
        if (branch.remote && branch.greeted)
            next = earlier(next, Clock::now() + beat_period);
    }
    return next;
}

// ---- ending ---------------------------------------------------------------------------

// Collects the children that have exited.  Whether there are others.
bool Branches::reap()
{
    pid_t pid;
    int status;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        strangers_.erase(pid); // another process may get the same number
        for (Branch &branch : branches_)
            if (branch.pid == pid)
                branch.ending.status = status;
    }
    return pid == 0;
}

bool Branches::any_runs() const
{
    return std::any_of(branches_.begin(), branches_.end(),
                       [](const Branch &branch) { return branch.runs(); });
}

void Branches::clean_up()
{
    bool remote = false;
    for (Branch &branch : branches_) {
        branch.told = true;
        branch.link->close();
        if (branch.remote && !branch.greeted && branch.runs())
            kill(branch.pid, SIGKILL);
        remote = remote || branch.remote;
    }
    const auto give_up = Clock::now() + (remote ? remote_farewell : farewell);
    while (reap() && any_runs() && Clock::now() < give_up)
        poller_.run_once(give_up);
    for (int round = 0; reap() && kill_descendants(strangers_) && round < sweep_rounds; round++)
        poller_.run_once(Clock::now() + sweep_period);
}

} // namespace unetrun
