// SPDX-License-Identifier: BSD-3-Clause
//
// How the job ends: decides which events end it, and unetrun's exit code.  Only says so, and leaves
// it to the front end to tell daemons and user; it calls Ranks for their names.
#pragma once

#include <optional>
#include <string>

#include "common/failure.h"
#include "front/ranks.h"

namespace unetrun {

class Outcome {
public:
    // `ranks` has to outlive it.
    explicit Outcome(const Ranks &ranks) : ranks_(ranks) {}

    // What a rank did.  The failure that ends the job because of it, if there is one: an exit code
    // and a line for the user.
    std::optional<Failure> on_joined();
    std::optional<Failure> on_exited(const Exited &exited);
    Failure on_aborted(const Aborted &aborted) const;

    // The job fails with an exit code.  False if it had failed before; the first failure counts.
    bool fail(int code);
    // The user ends the job by a signal.  False if it was ending already.
    bool interrupt(int signal);
    bool ending() const { return failed_ || interrupted_ != 0; }
    bool failed() const { return failed_; }

    int exit_code() const;

private:
    std::optional<Failure> check_outsider() const;

    const Ranks &ranks_;
    std::uint32_t exited_ = 0;       // how many ranks have
    bool any_joined_ = false;        // a rank has called PMIx_Init
    std::optional<Exited> outsider_; // a rank that exited without a failure and never joined
    std::optional<int> code_;        // that of the first rank to fail, once there is one
    bool failed_ = false;
    int interrupted_ = 0; // the signal by which the user ended the job
};

} // namespace unetrun
