// SPDX-License-Identifier: BSD-3-Clause
//
// process.h - tests that need several processes.
#ifndef UNET_CONFORMANCE_PROCESS_H
#define UNET_CONFORMANCE_PROCESS_H

#include "conformance/harness.h"

#include <atomic>

// A page that a test and its children share.
class Board {
public:
    Board();
    ~Board();
    Board(const Board &) = delete;
    Board &operator=(const Board &) = delete;

    struct Contents {
        struct unet_address address[8];
        std::atomic<uint32_t> ready[8];
        std::atomic<uint64_t> number[8];
    };
    Contents *operator->() const { return contents; }

    // Publishes an endpoint's address, and waits for that of another.
    void show(unsigned i, unet_endpoint *ep) const;
    struct unet_address see(unsigned i) const;
    void raise(unsigned i) const { contents->ready[i] = 1; }
    bool raised(unsigned i) const { return contents->ready[i] != 0; }

private:
    Contents *contents;
};

// A child process.  It is killed and reaped when it goes out of scope.
class Child {
public:
    // Runs the function in the child, which exits with 0 if it returns true.
    explicit Child(const std::function<bool()> &body);
    ~Child();
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    pid_t pid() const { return id; }
    void kill();
    // True when it has ended, asked without waiting.
    bool ended();
    // Waits for its end: exit code, 128 + signal, or -1 when it did not end.
    int wait();

private:
    pid_t id;
    int status = -1;
};

// Puts the process into a network of its own, with a loopback interface alone, where it is root:
// who is not becomes it in a user namespace.  False where that is not allowed, or there is no `ip`.
bool enter_network();

// In a child: open a channel to the endpoint shown at `there`; 0 when it does not open.
uint16_t meet(unet_endpoint *ep, const Board &board, unsigned there, uint64_t tag);

#endif
