// SPDX-License-Identifier: BSD-3-Clause

#include "node/rank_watch.h"

#include <algorithm>
#include <ctime>
#include <sys/wait.h>
#include <utility>

#include "common/descendants.h"

namespace unetrun {

namespace {

using namespace std::chrono_literals;

constexpr auto look_period = 500ms;
constexpr auto look_patience = 5s; // for lines of stacks

std::uint64_t monotonic_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

RankWatch::RankWatch(const NodeJob &job, const RankTable &ranks, const std::string &program,
                     Uplink &uplink)
    : job_(job), ranks_(ranks), program_(program), uplink_(uplink)
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

CodeAddress RankWatch::address_of(const splitc_status &status, const splitc_code &code) const
{
    if (code.object == 0)
        return {program_, code.at};
    return {object_name(status, code.object), code.at};
}

std::vector<std::string> RankWatch::places_of_waits(const std::vector<splitc_status> &all) const
{
    std::vector<CodeAddress> addresses;
    std::vector<std::string> lines;
    for (const splitc_status &status : all)
        addresses.push_back(is_waiting(status) ? address_of(status, status.wait) : CodeAddress{});
    for (const std::vector<CodePlace> &places : source_places(addresses))
        lines.push_back(line_of(places));
    return lines;
}

std::string RankWatch::place_of_fault(std::uint32_t rank)
{
    const auto page = static_cast<std::uint32_t>(job_.index_of(rank));
    const splitc_status status = board_ ? board_->read(page) : splitc_status{};
    if (status.fault.at == 0 || std::exchange(sought_place_, true))
        return {};
    return line_of(source_places({address_of(status, status.fault)}).front());
}

// ---- the stacks of the dead ---------------------------------------------------------------

namespace {

std::string why_no_stack(const splitc_status &page, int status)
{
    if (!has_joined(page))
        return "it had not joined as a Split-C program";
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return "nothing can be done on signal 9";
    if (WIFSIGNALED(status))
        return "the program handles the signal itself, or its stack cannot be followed";
    return "it ended by itself";
}

std::string frame_text(const CodeAddress &code, const CodePlace &place)
{
    char address[24];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(code.at));
    const std::string where = place.line.empty() ? "" : " at " + place.line;
    return (place.function.empty() ? "??" : place.function) + where +
           (place.line.empty() ? std::string(" (") + address + " of " +
                                     (code.file.empty() ? "unknown code" : code.file) + ")"
                               : "");
}

} // namespace

// The stacks of ranks have most calls in common.  Those of hundreds of ranks of a program with much
// to read must not keep the daemon from all else, so at last addresses have to do.
void RankWatch::look_up(const std::vector<CodeAddress> &addresses)
{
    std::vector<CodeAddress> unknown;
    const auto begin = Clock::now();
    for (const CodeAddress &code : addresses)
        if (looked_ < look_patience && known_.try_emplace(code).second)
            unknown.push_back(code);
    std::vector<std::vector<CodePlace>> places = source_places(unknown);
    for (std::size_t i = 0; i < unknown.size(); i++)
        known_[unknown[i]] = std::move(places[i]);
    looked_ += Clock::now() - begin;
}

void RankWatch::report_stack(std::uint32_t rank, int status)
{
    const auto page = static_cast<std::uint32_t>(job_.index_of(rank));
    const splitc_status shown = board_ ? board_->read(page) : splitc_status{};
    std::vector<CodeAddress> frames;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(shown.frames, SPLITC_FRAMES); i++)
        frames.push_back(address_of(shown, shown.frame[i]));
    if (frames.empty())
        return uplink_.send(Report{rank, "left no backtrace: " + why_no_stack(shown, status)});
    bool any_line = false;
    int number = 0;
    look_up(frames);
    for (const CodeAddress &frame : frames) {
        std::vector<CodePlace> places = known_[frame];
        if (places.empty())
            places.emplace_back();
        for (const CodePlace &place : places) {
            any_line = any_line || (frame.file == program_ && !place.line.empty());
            uplink_.send(
                Report{rank, "#" + std::to_string(number++) + " " + frame_text(frame, place)});
        }
    }
    if (!any_line)
        uplink_.send(
            Report{rank, "has no lines of the program: compile with -g, and do not strip"});
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
