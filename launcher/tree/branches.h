// SPDX-License-Identifier: BSD-3-Clause
//
// What is right below the front end, or a relay, in the tree of daemons: a daemon on the
// same machine, relays (of other hosts by a remote shell), and the links to them.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "common/fd.h"
#include "common/link.h"
#include "common/process.h"
#include "tree/rsh.h"
#include "tree/shape.h"

namespace unetrun {

// Who has branches.
class BranchHost {
public:
    // A frame that the branch itself sent, or one that comes from below it; it may be from
    // no other node.
    virtual void on_branch_frame(std::uint32_t branch, const Frame &frame) = 0;
    // The node that leads the branch is gone, and those below; why is a whole sentence.
    virtual void on_branch_lost(std::uint32_t node, const Failure &why) = 0;
    // A line that a remote shell printed after its start.
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

    // Starts all that is below `place` of the tree.  Throws Failure, and has those branches
    // then that had been started before.
    void grow(Place place, const Tree &tree);

    // The branch that leads to a node.
    std::optional<std::uint32_t> branch_to(std::uint32_t node) const;

    // To a node, wherever below; to every node; to the head of a branch, for itself.
    template <class Message> void send(std::uint32_t node, const Message &message)
    {
        if (const auto branch = branch_to(node))
            branches_[*branch].link->send(message, node);
    }
    template <class Message> void broadcast(const Message &message)
    {
        for (Branch &branch : branches_)
            if (branch.greeted)
                branch.link->send(message, every_node);
    }
    template <class Message> void tell(std::uint32_t branch, const Message &message)
    {
        branches_[branch].link->send(message);
    }
    void forward(const Frame &frame); // to its node, or every one

    pid_t pid_of(std::uint32_t node) const; // of what leads to it

    // To be called when children have exited, and when next_deadline() has come.
    void tend();
    Deadline next_deadline() const;

    // Hangs up, waits until all have ended, kills what has not, and every descendant that
    // was not there before us.
    void clean_up();

private:
    struct Branch {
        std::uint32_t node = 0; // that leads it
        bool remote = false;    // a relay
        std::unique_ptr<Link> link;
        pid_t pid = 0; // of the daemon, the relay or the remote shell
        Fd stderr_end; // of the latter two
        RshEnding ending;
        std::string partial;  // line of its stderr
        bool greeted = false; // has said hello
        bool told = false;    // its loss
        Deadline give_up;     // waiting for hello, or, once it is lost, for its exit

        bool runs() const { return pid != 0 && !ending.status; }
    };

    void require_resources();
    void start(std::uint32_t index);
    Spawn daemon_of(const Fd &socket) const;
    Spawn relay_here(const Fd &socket, const Fd &errors) const;
    Spawn remote_shell_of(const Branch &branch, const Fd &socket, const Fd &errors) const;
    Spawn relay_of(const Branch &branch, const Fd &socket, const Fd &errors) const;
    void watch(std::uint32_t index, Fd socket);

    void on_frame(std::uint32_t index, const Frame &frame);
    void on_hello(Branch &branch, const Frame &frame);
    void on_link_lost(std::uint32_t index, const std::string &nonsense);
    bool read_words(Branch &branch);
    void take_line(Branch &branch, std::string line);
    void check(Branch &branch);
    void tell_loss(Branch &branch);
    bool reap(); // whether children are left
    bool any_runs() const;

    Poller &poller_;
    const sigset_t &signals_;
    BranchHost &host_;
    Tree tree_;
    std::vector<Branch> branches_;
    // Children that the process has from before it executed unetrun: a shell's last command
    // has its background jobs, and who reads its output.
    std::set<pid_t> strangers_ = children();
};

} // namespace unetrun
