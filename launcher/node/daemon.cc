// SPDX-License-Identifier: BSD-3-Clause

#include "node/daemon.h"

#include <cstdlib>
#include <sys/prctl.h>

#include "common/descendants.h"
#include "common/environment.h"
#include "common/networks.h"
#include "common/resources.h"

namespace unetrun {

namespace {

constexpr char front_end[] = "the front end"; // as the sender, for messages

} // namespace

Daemon::Daemon(Fd in, Fd out)
    : signals_(poller_, {SIGCHLD},
               [this](int) {
                   if (supervisor_)
                       supervisor_->reap();
               }),
      mailbox_(poller_),
      uplink_(
          poller_, std::move(in), std::move(out), [this](const Frame &frame) { on_frame(frame); },
          [this] {
              if (supervisor_)
                  supervisor_->on_front_end_lost();
          })
{
    adopt_orphans();
    uplink_.send(Hello{protocol_version(), topology_.cores()});
}

void Daemon::run()
{
    while (uplink_.open() || (supervisor_ && !supervisor_->childless())) {
        poller_.run_once(supervisor_ ? supervisor_->next_deadline() : Deadline());
        if (supervisor_)
            supervisor_->advance();
    }
}

void Daemon::remove_directory()
{
    if (supervisor_)
        supervisor_->remove_directory();
}

// ---- from the front end -----------------------------------------------------------------

void Daemon::on_frame(const Frame &frame)
{
    if (frame.type == FrameType::tree)
        return on_tree(take<Tree>(frame, front_end));
    if (frame.type == FrameType::job)
        return on_job(take<Job>(frame, front_end));
    return supervisor_ ? on_job_frame(frame) : on_frame_without_job(frame);
}

// What goes to all daemons may arrive while the front end still waits for one of them.
void Daemon::on_frame_without_job(const Frame &frame)
{
    if (frame.type == FrameType::end)
        uplink_.send(Done{});
    else if (frame.type != FrameType::signal && frame.type != FrameType::inspect)
        throw Failure(exit_trouble, "the front end speaks of ranks before there are any");
}

void Daemon::on_tree(const Tree &tree)
{
    if (tree_ || !tree.valid())
        throw Failure(exit_trouble, "the front end's tree makes no sense");
    tree_ = tree;
    uplink_.set_node(tree.node);
    if (tree.backends.empty())
        return;
    // Endpoints of this process will be where those of the ranks are.
    setenv("UNET_INTERFACE", interface_of(tree.places).c_str(), true);
    uplink_.send(look_for_networks(tree.backends));
}

void Daemon::on_job(Job job)
{
    if (supervisor_ || !tree_ || !job.valid() || job.hosts.size() > tree_->hosts.size())
        throw Failure(exit_trouble, "the front end's job makes no sense");
    supervisor_ = std::make_unique<Supervisor>(
        Supervisor::Shared{poller_, mailbox_, uplink_, topology_, signals_.mask_before()},
        std::move(job), *tree_);
}

void Daemon::on_job_frame(const Frame &frame)
{
    Supervisor &supervisor = *supervisor_;
    switch (frame.type) {
    case FrameType::output_credit:
        return supervisor.on_credit(take<OutputCredit>(frame, front_end).bytes);
    case FrameType::input:
        return supervisor.on_input(take<Input>(frame, front_end).bytes);
    case FrameType::signal:
        return supervisor.on_signal(take<Signal>(frame, front_end).number);
    case FrameType::end: {
        const End end = take<End>(frame, front_end);
        return supervisor.on_end(end.signal, std::chrono::milliseconds(end.grace_ms), end.slow);
    }
    case FrameType::inspect:
        return supervisor.on_inspect(take<Inspect>(frame, front_end).asked);
    case FrameType::ask_stuck:
        return supervisor.on_ask_stuck(take<AskStuck>(frame, front_end).round);
    case FrameType::fence_done:
        return supervisor.server().finish_fence(take<FenceDone>(frame, front_end));
    case FrameType::modex:
        return supervisor.server().look_up(take<Modex>(frame, front_end));
    case FrameType::modex_done:
        return supervisor.server().finish_modex(take<ModexDone>(frame, front_end));
    default:
        throw Failure(exit_trouble, "an unexpected message arrived from the front end");
    }
}

// ---- the program ------------------------------------------------------------------------

int daemon_main()
{
    // Whatever a library prints must not get between the frames.
    Fd in = duplicate(0), out = duplicate(1);
    const Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    dup2(null.get(), 0);
    dup2(2, 1);
    prctl(PR_SET_NAME, "unetd");

    auto *daemon = new Daemon(std::move(in), std::move(out)); // is never deleted: see PmixServer
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
