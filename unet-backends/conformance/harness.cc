// SPDX-License-Identifier: BSD-3-Clause
#include "conformance/harness.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>
#include <unistd.h>
#include <utility>

bool eventually(const std::function<bool()> &condition)
{
    for (Deadline deadline; !deadline.passed();) {
        if (condition())
            return true;
        std::this_thread::yield();
    }
    return condition();
}

bool soon(const std::function<bool()> &condition)
{
    const Backend &b = backend_under_test;

    return b.beside || b.detour ? eventually(condition) : condition();
}

bool is_dead(unet_endpoint *ep, uint16_t channel)
{
    return soon([&] { return unet_channel_state(ep, channel) == UNET_DEAD; });
}

void settle_sends(unet_endpoint *ep)
{
    CHECK(
        (!backend_under_test.beside || eventually([&] { return unet_sent(ep, ep->tx.position); })));
}

static unsigned waiting_in(const unet_ring &ring)
{
    unsigned count = 0;

    while (count <= ring.mask &&
           __atomic_load_n(&ring.shared->slot[(ring.position + count) & ring.mask].turn,
                           __ATOMIC_ACQUIRE) == ring.position + count + 1)
        count++;
    return count;
}

void settle_arrivals(unet_endpoint *ep, unsigned messages)
{
    const auto waiting = [&] {
        unsigned count = 0;

        if (backend_under_test.detour)
            unet_progress(ep);
        for (uint32_t n = 1; n < ep->rx_rings; n++)
            count += waiting_in(ep->rx[n]);
        return count;
    };

    CHECK((!(backend_under_test.beside || backend_under_test.detour) ||
           eventually([&] { return waiting() == messages; })));
}

// By this thread.  A child must not touch those that its parent has opened.
static thread_local std::vector<std::pair<pid_t, unet_endpoint *>> opened;

static void drive()
{
    for (const auto &[process, ep] : opened)
        if (process == getpid())
            unet_progress(ep);
}

Endpoint::Endpoint(const unet_config &config)
{
    if (backend_under_test.before_open)
        backend_under_test.before_open();
    REQUIRE(unet_open(unet_backend(backend_under_test.name), &config, &ep) == 0);
    opened.emplace_back(getpid(), ep);
}

void Endpoint::close()
{
    opened.erase(std::remove(opened.begin(), opened.end(), std::pair(getpid(), ep)), opened.end());
    unet_close(ep);
    ep = nullptr;
}

struct unet_address Endpoint::address() const
{
    struct unet_address address;

    unet_address(ep, &address);
    return address;
}

static Message copy_out(unet_endpoint *ep, const unet_desc *desc)
{
    Message m;

    m.channel = desc->channel;
    m.kind = desc->kind;
    m.user = desc->user;
    m.length = desc->length;
    if (m.kind == UNET_INLINE)
        m.bytes.assign(desc->data, desc->data + m.length);
    else if (m.kind == UNET_ERROR)
        m.error = desc->error;
    else
        m.pieces.assign(desc->piece, desc->piece + desc->pieces);
    for (const unet_piece &p : m.pieces)
        m.bytes.insert(m.bytes.end(), ep->segment + p.offset, ep->segment + p.offset + p.length);
    return m;
}

Message take(unet_endpoint *ep, uint32_t buffer)
{
    const unet_desc *desc;
    Message m;

    unet_progress(ep);
    desc = unet_rx_peek(ep);
    if (!desc)
        return m;
    m = copy_out(ep, desc);
    unet_rx_release(ep);
    if (m.kind == UNET_PIECES && buffer > 0) {
        for (const unet_piece &p : m.pieces)
            REQUIRE(unet_free_put(ep, p.offset, buffer) == 0);
    }
    return m;
}

Message await(unet_endpoint *ep, uint32_t buffer)
{
    Message m;

    eventually([&] {
        if (backend_under_test.driven)
            drive();
        return (m = take(ep, buffer)).kind != UNET_EMPTY;
    });
    return m;
}

void join(unet_endpoint *a, unet_endpoint *b, uint64_t tag, uint16_t &ab, uint16_t &ba)
{
    struct unet_address to_a, to_b;

    unet_address(a, &to_a);
    unet_address(b, &to_b);
    REQUIRE(unet_connect(a, &to_b, tag, &ab) == 0);
    REQUIRE(unet_connect(b, &to_a, tag, &ba) == 0);
    // Both look each time: one may need the other's answer.
    REQUIRE(eventually([&] {
        const bool a_open = unet_channel_state(a, ab) == UNET_OPEN;
        const bool b_open = unet_channel_state(b, ba) == UNET_OPEN;

        return a_open && b_open;
    }));
}

Pair::Pair(const unet_config &config) : a(config), b(config)
{
    join(a, b, 0x1234, ab, ba);
}

void Pair::settle()
{
    // Twice, since what arrived before the first answer may itself have been answered.
    for (int round = 0; round < 2; round++) {
        REQUIRE(send_text(a, ab, "settle") == 0);
        REQUIRE(text(await(b)) == "settle");
        REQUIRE(send_text(b, ba, "settle") == 0);
        REQUIRE(text(await(a)) == "settle");
    }
}

Bytes pattern(uint32_t length, uint32_t seed)
{
    Bytes bytes(length);

    for (uint32_t i = 0; i < length; i++)
        bytes[i] = static_cast<uint8_t>((i * 2654435761u + seed * 40503u) >> 13);
    return bytes;
}

void fill(unet_endpoint *ep, uint32_t offset, const Bytes &bytes)
{
    std::copy(bytes.begin(), bytes.end(), ep->segment + offset);
}

Bytes segment_bytes(const unet_endpoint *ep, uint32_t offset, uint32_t length)
{
    return Bytes(ep->segment + offset, ep->segment + offset + length);
}

void give_buffers(unet_endpoint *ep, uint32_t count, uint32_t size, uint32_t offset)
{
    for (uint32_t i = 0; i < count; i++)
        REQUIRE(unet_free_put(ep, offset + i * size, size) == 0);
}

int send_text(unet_endpoint *ep, uint16_t channel, const std::string &text, uint32_t user)
{
    const auto length = static_cast<uint32_t>(text.size());
    int error = 0;

    soon([&] {
        error = unet_send_inline(ep, channel, user, text.data(), length);
        return error != -EAGAIN || ep->channel[channel].state != UNET_OPEN;
    });
    return error;
}

std::string text(const Message &m)
{
    return std::string(m.bytes.begin(), m.bytes.end());
}

size_t open_descriptors()
{
    std::filesystem::directory_iterator all("/proc/self/fd");

    return static_cast<size_t>(std::distance(begin(all), end(all)));
}
