// SPDX-License-Identifier: BSD-3-Clause
//
// What the system lets this process have.  Libraries that do not get a thread, a
// descriptor or memory say little, crash, or end the process, so whether there is enough
// of each is tried beforehand.
#pragma once

#include <cstddef>
#include <exception>
#include <string>

namespace unetrun {

struct Needs {
    std::size_t descriptors; // beyond those that are open
    unsigned threads;
    std::size_t bytes; // beside the threads' stacks
};

// Throws Failure, unless this process may have all of that at once.  The failure names
// the limit, its value and the remedy.  `purpose` is what takes it, as in "4 ranks".
void require(const Needs &needs, const std::string &purpose);

// Throws Failure if there is no TCP port to be had, without which PMIx's server aborts.
void require_port(const std::string &purpose);

// Throws Failure if the stack is too small for what we call.  Takes little of it.
void require_stack();

// Why no process or thread can be started, from an errno.
std::string start_trouble(int error);

// What is to be told of an exception that nobody expected.
std::string words_of(const std::exception &error);

} // namespace unetrun
