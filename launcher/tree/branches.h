// SPDX-License-Identifier: BSD-3-Clause
//
// What is right below the front end, or below a relay, in the tree of daemons: starts it, has a
// link to each part, and notices when one is lost.  A branch is a daemon on the same machine, or a
// relay with all nodes that are reached by way of it.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "common/descendants.h"
#include "common/fd.h"
#include "common/link.h"
#include "common/process.h"
#include "tree/rsh.h"
#include "tree/shape.h"
#include "tree/shell_words.h"

namespace unetrun {

// The owner of the branches.
class BranchHost {
public:
    // A frame arrived from a branch.  Its node is one of that branch.
    virtual void on_branch_frame(std::uint32_t branch, const Frame &frame) = 0;
    // The node that leads a branch is lost, and with it those below; `why` is a whole sentence.
    virtual void on_branch_lost(std::uint32_t node, const Failure &why) = 0;
    // A remote shell has printed a line after its start.
    virtual void on_words(const std::string &line) = 0;

protected:
    ~BranchHost() = default;
};

class Branches {
public:
    // `signals` is the mask of what is started.
    Branches(Poller &poller, const sigset_t &signals, BranchHost &host);
    ~Branches() = default;
    Branches(const Branches &) = delete;
    Branches &operator=(const Branches &) = delete;

    // Starts all that is right below `place` of the tree.  If that throws Failure, those branches
    // are there that had been started before.
    void grow(Place place, const Tree &tree);

    // The branch that leads to a node; none if the node is elsewhere.
    std::optional<std::uint32_t> branch_to(std::uint32_t node) const;

    // Sends a message to one node, wherever below.
    template <class Message> void send(std::uint32_t node, const Message &message)
    {
        if (const auto branch = branch_to(node))
            branches_[*branch].link->send(message, node);
    }
    // Sends a message to every node whose branch has said hello.
    template <class Message> void broadcast(const Message &message)
    {
        for (Branch &branch : branches_)
            if (branch.greeted)
                branch.link->send(message, every_node);
    }
    // Sends a message to the daemon or relay that leads a branch.
    template <class Message> void tell(std::uint32_t branch, const Message &message)
    {
        branches_[branch].link->send(message);
    }
    // Passes a frame on to its node, or to every node.
    void forward(const Frame &frame);

    // To be called when children have exited, and when next_deadline() has come.
    void tend();
    Deadline next_deadline() const;

    // Closes the links, waits until all branches have ended, kills what has not, and every
    // descendant that was not there before the branches.
    void clean_up();

private:
    struct Branch {
        std::uint32_t node = 0; // that leads it
        bool remote = false;    // a relay leads it
        std::unique_ptr<Link> link;
        pid_t pid = 0;    // of the daemon, the relay or the remote shell
        Fd stderr_end;    // of the latter two
        ShellWords words; // from there
        RshEnding ending;
        bool greeted = false; // it has said hello
        bool told = false;    // the host knows that it is lost, or it does not matter any more
        Deadline give_up;     // waiting for hello or, once the link is lost, for its exit

        bool runs() const { return pid != 0 && !ending.status; }
    };

    void require_resources();
    void start(std::uint32_t index);
    void watch(std::uint32_t index, Fd socket);

    void on_frame(std::uint32_t index, const Frame &frame);
    void on_hello(std::uint32_t index, const Frame &frame);
    void on_link_lost(std::uint32_t index, const std::string &nonsense);
    bool read_words(Branch &branch);
    void on_line(Branch &branch, const std::string &line);
    void check(Branch &branch);
    void tell_loss(Branch &branch);
    Failure loss_of(const Branch &branch, bool silent) const;
    bool reap();
    bool any_runs() const;

    Poller &poller_;
    const sigset_t &signals_;
    BranchHost &host_;
    Tree tree_;
    std::vector<Branch> branches_;
    // The children that the process had before it executed unetrun.  If unetrun is the last
    // command of a shell, they are the shell's background jobs, and the readers of its output.
    std::set<pid_t> strangers_ = children();
};

} // namespace unetrun
