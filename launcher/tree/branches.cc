// SPDX-License-Identifier: BSD-3-Clause

#include "tree/branches.h"

#include <algorithm>
#include <array>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/environment.h"
#include "common/resources.h"
#include "common/text.h"

namespace unetrun {

namespace {

using namespace std::chrono_literals;

constexpr auto hello_patience = 30s; // for a relay or daemon to start
constexpr auto exit_patience = 1s;   // for what is lost to say how it ended
constexpr auto farewell = 2s;        // for daemons to end by themselves
constexpr auto remote_farewell = 6s; // the same with relays, which have daemons of their own
constexpr auto sweep_period = 10ms;  // between rounds of killing what is left then
constexpr int sweep_rounds = 100;
constexpr std::size_t words_max = 400; // of a remote shell, in one line

std::string search_path()
{
    const char *path = std::getenv("PATH");
    return path ? path : "/usr/bin:/bin";
}

std::string find_remote_shell(const std::string &name)
{
    try {
        return find_program(name, search_path());
    } catch (const Failure &failure) {
        throw Failure(failure.code,
                      "--rsh: " + std::string(failure.what()) +
                          "; install it (Debian: openssh-client) or name another one");
    }
}

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
        spawn(branch.remote ? relay_of(branch, theirs, errors.write_end) : daemon_of(theirs));
    if (branch.remote)
        branch.stderr_end = std::move(errors.read_end);
    watch(index, std::move(ours));
}

namespace {

// This program once more, to talk to us over a socket.
Spawn own_program(const char *name, const char *role, const Fd &socket, const sigset_t &signals)
{
    if (access("/proc/self/exe", X_OK) != 0)
        throw Failure(exit_trouble, "/proc is missing; mount it: mount -t proc proc /proc");
    Spawn what;
    what.file = "/proc/self/exe";
    what.arguments = {name, role};
    what.environment = own_environment();
    what.standard[0] = what.standard[1] = socket.get();
    what.signals = signals;
    what.session = true;
    return what;
}

} // namespace

Spawn Branches::daemon_of(const Fd &socket) const
{
    return own_program("unetd", "--daemon", socket, signals_);
}

// As a remote shell would have it started from one of the others.
Spawn Branches::relay_here(const Fd &socket, const Fd &errors) const
{
    const std::string &other = tree_.hosts[tree_.here == 0 ? 1 : 0];
    Spawn what = own_program("unetd-relay", "--relay", socket, signals_);
    what.standard[2] = errors.get();
    set_variable(what.environment, "SSH_CONNECTION=" + connection_from(other));
    return what;
}

Spawn Branches::remote_shell_of(const Branch &branch, const Fd &socket, const Fd &errors) const
{
    Spawn what;
    what.file = find_remote_shell(tree_.rsh.front());
    what.arguments = rsh_command(tree_.rsh, tree_.hosts[branch.node], tree_.unetrun);
    what.environment = own_environment();
    what.standard[0] = what.standard[1] = socket.get();
    what.standard[2] = errors.get();
    what.signals = signals_;
    what.session = true; // so that it asks nobody for a password
    what.dies_with_parent = true;
    return what;
}

Spawn Branches::relay_of(const Branch &branch, const Fd &socket, const Fd &errors) const
{
    return branch.node == tree_.here ? relay_here(socket, errors)
                                     : remote_shell_of(branch, socket, errors);
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

// ---- to and fro ---------------------------------------------------------------------

std::optional<std::uint32_t> Branches::branch_to(std::uint32_t node) const
{
    for (std::uint32_t i = 0; i < branches_.size(); i++)
        if (branches_[i].remote ? is_within(node, branches_[i].node, shape_of(tree_))
                                : branches_[i].node == node)
            return i;
    return std::nullopt;
}

pid_t Branches::pid_of(std::uint32_t node) const
{
    const auto branch = branch_to(node);
    return branch ? branches_[*branch].pid : 0;
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
    Branch &branch = branches_[index];
    if (!branch.greeted)
        return on_hello(branch, frame);
    if (frame.node >= tree_.hosts.size() || branch_to(frame.node) != index)
        throw Failure(exit_trouble, "the daemon of " + tree_.hosts[branch.node] +
                                        " speaks for a node that is not its own");
    host_.on_branch_frame(index, frame);
}

void Branches::on_hello(Branch &branch, const Frame &frame)
{
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
        host_.on_branch_frame(branch_to(branch.node).value(),
                              {frame.type, branch.node, frame.body});
}

// Takes lines of a remote shell's stderr; whether there was anything.
bool Branches::read_words(Branch &branch)
{
    std::array<char, 4096> buffer;
    const ssize_t n = read(branch.stderr_end.get(), buffer.data(), buffer.size());
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        poller_.forget(branch.stderr_end.get());
        branch.stderr_end.reset();
        return false;
    }
    branch.partial.append(buffer.data(), static_cast<std::size_t>(n));
    for (std::size_t end; (end = branch.partial.find('\n')) != std::string::npos;) {
        take_line(branch, branch.partial.substr(0, std::min(end, words_max)));
        branch.partial.erase(0, end + 1);
    }
    if (branch.partial.size() > words_max) // no line at all
        branch.partial.erase(0, branch.partial.size() - words_max);
    return true;
}

// Before the hello, the last line tells why there is none.
void Branches::take_line(Branch &branch, std::string line)
{
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
        line.pop_back();
    if (branch.greeted && !line.empty())
        host_.on_words(tree_.hosts[branch.node] + ": " + line);
    else if (!line.empty())
        branch.ending.words = printable(line);
}

// ---- losing --------------------------------------------------------------------------

void Branches::on_link_lost(std::uint32_t index, const std::string &nonsense)
{
    Branch &branch = branches_[index];
    branch.ending.nonsense = nonsense;
    branch.give_up = Clock::now() + exit_patience;
    if (!nonsense.empty())
        branch.give_up = Clock::now();
    check(branch);
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
    const std::string &host = tree_.hosts[branch.node];
    branch.link->close();
    while (branch.stderr_end && read_words(branch))
        continue;
    if (branch.remote && branch.runs())
        kill(branch.pid, SIGKILL);
    if (!branch.remote)
        return host_.on_branch_lost(
            branch.node,
            Failure(exit_trouble, "the daemon of " + host + " (pid " + std::to_string(branch.pid) +
                                      ") died: " + ending_text(branch.ending)));
    if (!branch.greeted)
        return host_.on_branch_lost(branch.node,
                                    start_failure(host, tree_.rsh, tree_.unetrun, branch.ending));
    if (silent)
        return host_.on_branch_lost(
            branch.node, Failure(exit_trouble, "no sign of life from " + host + " for " +
                                                   std::to_string(silence_max.count()) +
                                                   " s: it is down, or the network between is"));
    host_.on_branch_lost(branch.node, link_failure(host, branch.ending));
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
    for (const Branch &branch : branches_)
        if (!branch.told)
            next = earlier(next, earlier(branch.give_up, branch.remote && branch.greeted
                                                             ? Clock::now() + beat_period
                                                             : Deadline()));
    return next;
}

// ---- ending ---------------------------------------------------------------------------

bool Branches::reap()
{
    pid_t pid;
    int status;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        strangers_.erase(pid); // the next of that number is none
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
        if (branch.link)
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
