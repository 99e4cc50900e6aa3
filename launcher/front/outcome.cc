// SPDX-License-Identifier: BSD-3-Clause

#include "front/outcome.h"

#include <algorithm>
#include <signal.h>
#include <sys/wait.h>

#include "common/process.h"

namespace unetrun {

namespace {

std::string describe(const Exited &exited)
{
    const std::string place = exited.place.empty() ? "" : " at " + exited.place;
    if (WIFSIGNALED(exited.status)) {
        const int number = WTERMSIG(exited.status);
        return " was killed by signal " + std::to_string(number) + " (" + signal_text(number) +
               (WCOREDUMP(exited.status) ? ", core dumped)" : ")") + place +
               (exited.starved.empty() ? "" : "; " + exited.starved);
    }
    const bool unfinished = exited.status == 0 && exited.joined && !exited.left;
    return " exited with code " + std::to_string(WEXITSTATUS(exited.status)) + place +
           (unfinished ? " without calling PMIx_Finalize" : "");
}

} // namespace

std::optional<Failure> Outcome::on_joined()
{
    any_joined_ = true;
    return check_outsider();
}

std::optional<Failure> Outcome::on_exited(const Exited &exited)
{
    exited_++;
    if (interrupted_ && !code_ && exited.status != 0) {
        const bool by_us = WIFSIGNALED(exited.status) && WTERMSIG(exited.status) == SIGKILL;
        code_ = by_us ? exit_signal + interrupted_ : exit_code_of(exited.status);
    }
    const bool bad = exited.status != 0 || (exited.joined && !exited.left);
    if (bad && !ending())
        return Failure(std::max<int>(exit_code_of(exited.status), exit_trouble),
                       ranks_.name(exited.rank) + describe(exited) +
                           (exited_ < ranks_.count() ? "; ending the job" : ""));
    if (!exited.joined && !outsider_)
        outsider_ = exited;
    return check_outsider();
}

// Ranks that have joined would wait for ever for one that never will.
std::optional<Failure> Outcome::check_outsider() const
{
    if (!any_joined_ || !outsider_ || interrupted_)
        return std::nullopt;
    return Failure(exit_trouble, ranks_.name(outsider_->rank) + describe(*outsider_) +
                                     " before it joined the job (PMIx_Init), as others did; "
                                     "ending the job");
}

// The low eight bits of the code that the rank gave, unless they would look like success.
Failure Outcome::on_aborted(const Aborted &aborted) const
{
    const int code = aborted.code & 0xff;
    return Failure(code != 0 ? code : exit_trouble,
                   ranks_.name(aborted.rank) + " aborted the job with code " +
                       std::to_string(aborted.code) +
                       (aborted.text.empty() ? "" : ": " + aborted.text));
}

bool Outcome::fail(int code)
{
    if (failed_)
        return false;
    failed_ = true;
    code_ = code_.value_or(code);
    return true;
}

bool Outcome::interrupt(int signal)
{
    const bool first = !ending();
    if (!interrupted_)
        interrupted_ = signal;
    return first;
}

int Outcome::exit_code() const
{
    if (code_)
        return *code_;
    const bool complete = exited_ > 0 && exited_ >= ranks_.count();
    return interrupted_ && !complete ? exit_signal + interrupted_ : 0;
}

} // namespace unetrun
