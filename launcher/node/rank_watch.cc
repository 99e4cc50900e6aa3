// SPDX-License-Identifier: BSD-3-Clause

#include "node/rank_watch.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "common/descendants.h"
#include "node/source_place.h"

namespace unetrun {

namespace {

using namespace std::chrono_literals;

constexpr auto look_period = 500ms;

std::uint64_t monotonic_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

RankWatch::RankWatch(const NodeJob &job, const RankTable &ranks, const RankStarter &starter,
                     Uplink &uplink)
    : job_(job), ranks_(ranks), starter_(starter), uplink_(uplink)
{
    try {
        board_ = std::make_unique<StatusBoard>(static_cast<std::uint32_t>(job.ranks.size()));
    } catch (const Failure &failure) {
        uplink_.send(Note{std::string("cannot watch the ranks: ") + failure.what()});
    }
}

std::string RankWatch::variable_of(std::uint32_t rank) const
{
    const auto page = static_cast<std::uint32_t>(job_.index_of(rank));
    return board_ ? "SPLITC_STATUS=" + board_->place_of(page) : "";
}

// ---- for the user -----------------------------------------------------------------------

std::vector<splitc_status> RankWatch::read_all() const
{
    return board_ ? board_->read_all() : std::vector<splitc_status>();
}

void RankWatch::inspect(bool asked) const
{
    const std::vector<splitc_status> all = read_all();
    if (!asked && std::none_of(all.begin(), all.end(), has_joined))
        return;
    const std::vector<std::string> places = places_of_waits(all);
    for (std::size_t i = 0; i < all.size(); i++)
        if (const RankProcess &rank = ranks_.all()[i]; ranks_.runs(rank))
            uplink_.send(Report{
                rank.number, describe(all[i], monotonic_ns(), process_state(rank.pid), places[i])});
}

std::vector<std::string> RankWatch::places_of_waits(const std::vector<splitc_status> &all) const
{
    std::vector<std::uint64_t> pcs;
    std::uint32_t waits = job_.ranks.front(); // the last of them; of Split-C all run one program
    for (const splitc_status &status : all) {
        if (is_waiting(status))
            waits = job_.ranks[pcs.size()];
        pcs.push_back(is_waiting(status) ? status.wait_pc : 0);
    }
    return source_places(starter_.program_of(waits), pcs, job_.job.environment);
}

std::string RankWatch::place_of_fault(std::uint32_t rank)
{
    const auto page = static_cast<std::uint32_t>(job_.index_of(rank));
    const std::uint64_t pc = board_ ? board_->read(page).fault_pc : 0;
    if (pc == 0 || std::exchange(sought_place_, true))
        return {};
    return source_places(starter_.program_of(rank), {pc}, job_.job.environment).front();
}

// ---- for the front end's judge ------------------------------------------------------------

void RankWatch::begin()
{
    if (board_ && !look_at_)
        look_at_ = Clock::now() + look_period;
}

void RankWatch::look()
{
    if (!look_at_ || Clock::now() < *look_at_)
        return;
    look_at_ = Clock::now() + look_period;
    Stuck found =
        deadlock_watch_.look(ranks_.all_run() ? read_all() : std::vector<splitc_status>());
    found.round = std::exchange(round_, 0);
    if (std::exchange(stuck_, found.stuck) != found.stuck || found.round != 0)
        uplink_.send(found);
}

} // namespace unetrun
