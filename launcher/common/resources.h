// SPDX-License-Identifier: BSD-3-Clause
//
// Whether limits leave enough descriptors, threads and memory.  This is tried beforehand, as
// libraries that do not get them give no useful message, crash, or end the process.
#pragma once

#include <cstddef>
#include <exception>
#include <string>

namespace unetrun {

struct Needs {
    std::size_t descriptors; // besides those that are open
    unsigned threads;
    std::size_t bytes; // besides the stacks of the threads
};

// Throws Failure unless this process can have all of that at once.  The failure names the limit,
// its value and what it has to be.  `purpose` is what needs it, as in "4 ranks".
void require(const Needs &needs, const std::string &purpose);

// Throws Failure if no TCP port is free, without which the PMIx server aborts.
void require_port(const std::string &purpose);

// Throws Failure if the stack is too small for the libraries.  Uses little of it.
void require_stack();

// Why no process or thread can be started, from an errno.
std::string start_trouble(int error);

// What to tell the user of an exception that is no Failure.
std::string words_of(const std::exception &error);

} // namespace unetrun
