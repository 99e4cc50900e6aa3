// SPDX-License-Identifier: BSD-3-Clause

#include "tree/relay.h"

#include <signal.h>
#include <sys/prctl.h>

#include "common/descendants.h"
#include "common/job_directory.h"
#include "common/resources.h"

namespace unetrun {

Relay::Relay(Fd in, Fd out)
    : signals_(poller_, {SIGCHLD}, [](int) {}), // ends the wait of run(), which reaps
      link_(
          poller_, std::move(in), std::move(out), [this](const Frame &frame) { on_frame(frame); },
          [](const std::string &) {}),
      branches_(poller_, signals_.mask_before(), *this)
{
    adopt_orphans();
    link_.send(Hello{protocol_version(), 0});
}

void Relay::run()
{
    try {
        while (link_.open()) {
            poller_.run_once(earlier(branches_.next_deadline(), Clock::now() + beat_period));
            branches_.tend();
            check_link();
        }
    } catch (const Failure &failure) {
        dprintf(2, "the relay ends: %s\n", failure.what());
        link_.close();
    }
    branches_.clean_up();
    remove_stale_job_directories();
}

void Relay::check_link()
{
    link_.beat();
    if (link_.silent() && !suspended_)
        link_.close();
}

// ---- from above ------------------------------------------------------------------------

void Relay::on_frame(const Frame &frame)
{
    if (frame.type == FrameType::tree)
        return on_tree(frame);
    if (!tree_)
        throw Failure(exit_trouble, "the front end speaks of nodes before there are any");
    if (frame.type == FrameType::fence_done)
        return fences_ ? answer(fences_->finish(take<FenceDone>(frame, "above"))) : void();
    if (frame.type == FrameType::job)
        on_job(frame);
    suspended_ = frame.type == FrameType::signal && take<Signal>(frame, "above").number == SIGTSTP;
    branches_.forward(frame);
}

void Relay::on_tree(const Frame &frame)
{
    Tree tree = take<Tree>(frame, "above");
    if (tree_ || !tree.valid() || tree.rsh.empty())
        throw Failure(exit_trouble, "the front end's tree makes no sense");
    tree_ = std::move(tree);
    try {
        branches_.grow(tree_->node, *tree_);
    } catch (const Failure &failure) {
        link_.send(Failed{failure.code, failure.what()}, tree_->node);
    }
}

void Relay::on_job(const Frame &frame)
{
    const Job job = take<Job>(frame, "above");
    if (fences_ || !job.valid() || job.hosts.size() > tree_->hosts.size())
        throw Failure(exit_trouble, "the front end's job makes no sense");
    fences_.emplace(job.node_of, [this](std::uint32_t node) { return branches_.branch_to(node); });
}

// ---- from below ------------------------------------------------------------------------

void Relay::on_branch_frame(std::uint32_t branch, const Frame &frame)
{
    if (frame.type == FrameType::fence)
        return on_fence(branch, frame);
    link_.send(frame);
}

void Relay::on_fence(std::uint32_t branch, const Frame &frame)
{
    if (!fences_)
        throw Failure(exit_trouble, "a daemon speaks of ranks before there are any");
    const FenceGatherer::Step step = fences_->add(branch, take<Fence>(frame, "below"));
    answer(step.answers);
    if (step.up)
        link_.send(*step.up, tree_->node);
}

void Relay::answer(const FenceGatherer::Answers &answers)
{
    for (const auto &[branch, done] : answers)
        branches_.tell(branch, done);
}

void Relay::on_branch_lost(std::uint32_t node, const Failure &why)
{
    link_.send(Lost{why.code, why.what()}, node);
}

void Relay::on_words(const std::string &line)
{
    link_.send(Note{line}, tree_->node);
}

// ---- the program -------------------------------------------------------------------------

int relay_main()
{
    Fd in = duplicate(0), out = duplicate(1);
    dup2(2, 1); // whatever a library prints must not get between the frames
    prctl(PR_SET_NAME, "unetd-relay");
    try {
        Relay relay(std::move(in), std::move(out));
        relay.run();
    } catch (const std::exception &error) {
        dprintf(2, "unetrun: the relay: %s\n", words_of(error).c_str());
        return exit_trouble;
    }
    return 0;
}

} // namespace unetrun
