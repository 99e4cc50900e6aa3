// SPDX-License-Identifier: BSD-3-Clause
//
// How the processes of the tree of daemons are started: daemons and relays on this machine, and
// relays on other hosts by a remote shell.
#pragma once

#include "common/fd.h"
#include "common/process.h"
#include "common/protocol.h"

namespace unetrun {

// All of them talk over `socket`, which is their standard input and output, and have `signals` as
// their signal mask.  They throw Failure.

Spawn daemon_start(const Fd &socket, const sigset_t &signals);

// A relay for `node` of the tree, on this machine or on another one.  `errors` is its standard
// error, or the remote shell's.
Spawn relay_start(const Tree &tree, std::uint32_t node, const Fd &socket, const Fd &errors,
                  const sigset_t &signals);

} // namespace unetrun
