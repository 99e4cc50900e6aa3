// SPDX-License-Identifier: BSD-3-Clause
//
// c_header.h - the ring's header, which is C11's, for tests in C++: of its atomic words C++ sees
// plain ones of the same layout, which suffice for a test of one thread.
#ifndef SOCKETS_C_HEADER_H
#define SOCKETS_C_HEADER_H

#include <atomic> // before _Atomic means nothing
#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <sys/uio.h>

#define __CLANG_STDATOMIC_H // clang's <stdatomic.h> is for C alone, and nothing of it is used here
#define _Alignas alignas
#define _Atomic
extern "C" {
#include "ring/ring.h"
}
#undef _Atomic
#undef _Alignas

#endif
