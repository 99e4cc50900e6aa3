// SPDX-License-Identifier: BSD-3-Clause
//
// harness.h - what the conformance suite is written with.
//
// A backend joins by linking the suite with a file that defines
// `backend_under_test` (see shared_memory/loopback/loopback_test.cc).
#ifndef UNET_CONFORMANCE_HARNESS_H
#define UNET_CONFORMANCE_HARNESS_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>
#include <unet/unet.h>
#include <vector>

struct Backend {
    const char *name;
    void (*before_open)() = nullptr; // of each endpoint that the suite opens
    // What an endpoint has sent moves on only while its owner makes progress: who waits at one has
    // the others of its thread do so.
    bool driven = false;
    // The NI runs beside the application: what is sent is taken, and what happens is seen, soon
    // rather than at once.
    bool beside = false;
    // What is sent passes through another process: it is under way for a while.
    bool detour = false;
};
extern const Backend backend_under_test;

using Bytes = std::vector<uint8_t>;

// Every wait of the suite ends after that.
constexpr std::chrono::seconds patience{20};

// A deadline to poll against.
class Deadline {
public:
    explicit Deadline(std::chrono::milliseconds ms = patience)
        : end(std::chrono::steady_clock::now() + ms)
    {
    }
    bool passed() const { return std::chrono::steady_clock::now() >= end; }

private:
    std::chrono::steady_clock::time_point end;
};

// Whether the channel's peer is gone, as the endpoint knows at once, or behind a detour soon.
bool is_dead(unet_endpoint *ep, uint16_t channel);

// Polls until the condition holds; false when patience ran out.
bool eventually(const std::function<bool()> &condition);

// The condition; if the NI runs beside, once it holds, or false when patience ran out.
bool soon(const std::function<bool()> &condition);

// If the NI runs beside: waits until it has taken what was sent; until so many messages wait.
void settle_sends(unet_endpoint *ep);
void settle_arrivals(unet_endpoint *ep, unsigned messages);

class Endpoint {
public:
    explicit Endpoint(const unet_config &config = {});
    ~Endpoint() { close(); }
    Endpoint(const Endpoint &) = delete;
    Endpoint &operator=(const Endpoint &) = delete;

    operator unet_endpoint *() const { return ep; }
    unet_endpoint *operator->() const { return ep; }
    struct unet_address address() const;
    void close();

private:
    unet_endpoint *ep = nullptr;
};

// A message, taken out of its endpoint.
struct Message {
    uint16_t channel = 0;
    uint8_t kind = UNET_EMPTY;
    uint32_t user = 0;
    uint32_t error = 0;
    uint32_t length = 0;
    Bytes bytes;
    std::vector<unet_piece> pieces;
};

// The next message, removed from the endpoint; kind UNET_EMPTY when there is none.  Buffers are
// given back to the free queue at their full size if `buffer` says what that is.
Message take(unet_endpoint *ep, uint32_t buffer = 0);

// The same, waiting for it.
Message await(unet_endpoint *ep, uint32_t buffer = 0);

// Two endpoints and the open channel between them.
struct Pair {
    explicit Pair(const unet_config &config = {});

    // What each has said to the other so far has arrived, also what was said in opening the
    // channel.
    void settle();

    Endpoint a, b;
    uint16_t ab = 0; // a's number of the channel
    uint16_t ba = 0; // b's
};

// Opens a channel between two endpoints of this process; REQUIREs success.
void join(unet_endpoint *a, unet_endpoint *b, uint64_t tag, uint16_t &ab, uint16_t &ba);

// `length` bytes that depend on the seed.
Bytes pattern(uint32_t length, uint32_t seed);
void fill(unet_endpoint *ep, uint32_t offset, const Bytes &bytes);
Bytes segment_bytes(const unet_endpoint *ep, uint32_t offset, uint32_t length);

// Gives `count` buffers of `size` bytes, one behind the other from `offset` on.
void give_buffers(unet_endpoint *ep, uint32_t count, uint32_t size, uint32_t offset = 0);

// If the NI runs beside, an open channel's send waits for room in the queue.
int send_text(unet_endpoint *ep, uint16_t channel, const std::string &text, uint32_t user = 0);
std::string text(const Message &m);

// Open file descriptors of this process.
size_t open_descriptors();

#endif
