// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <malloc.h>
#include <memory>
#include <sys/socket.h>
#include <unistd.h>

#include "common/link.h"

using namespace unetrun;
using namespace std::chrono_literals;

namespace {

// Has a link send so much to `reader`; whether it did.
bool pass(Poller &poller, const Fd &reader, std::size_t size)
{
    std::string bytes(size, '\0');
    const auto end = Clock::now() + 20s;
    while (size > 0 && Clock::now() < end) {
        poller.run_once(Clock::now());
        const ssize_t n = recv(reader.get(), bytes.data(), size, MSG_DONTWAIT);
        size -= n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    return size == 0;
}

std::size_t memory_in_use()
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// A link and its other side.
struct Conversation {
    Conversation()
    {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
        other = Fd(ends[1]);
        link = std::make_unique<Link>(
            poller, Fd(ends[0]), duplicate(ends[0]), [](const Frame &) {},
            [](const std::string &) {});
    }

    Poller poller;
    Fd other;
    std::unique_ptr<Link> link;
};

} // namespace

TEST_CASE("a side that says nothing for too long is silent, one that we did not listen to is not")
{
    Conversation conversation;
    Link &link = *conversation.link;
    const auto begin = Clock::now();
    auto now = begin;

    for (; now <= begin + silence_max - beat_period; now += beat_period)
        REQUIRE_FALSE(link.silent(now));
    now += 2 * beat_period;
    CHECK(link.silent(now));
    now += 1h; // of which we were stopped
    CHECK_FALSE(link.silent(now));
    for (int beat = 0; beat < 19; beat++)
        CHECK_FALSE(link.silent(now += beat_period));
    CHECK(link.silent(now += 2 * beat_period));
}

TEST_CASE("a sign of life breaks the silence")
{
    Conversation conversation;
    Link &link = *conversation.link;
    const std::string beat = encode(Beat{});
    const auto begin = Clock::now();

    for (auto now = begin; now <= begin + 30s; now += beat_period)
        link.silent(now);
    REQUIRE(link.silent(begin + 31s));
    REQUIRE(write(conversation.other.get(), beat.data(), beat.size()) ==
            static_cast<ssize_t>(beat.size()));
    conversation.poller.run_once(Clock::now() + 20s);
    CHECK_FALSE(link.silent());
}

TEST_CASE("a link holds what is unsent, however much has passed while something always was")
{
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    Poller poller;
    Link link(
        poller, Fd(ends[0]), duplicate(ends[0]), [](const Frame &) {}, [](const std::string &) {});
    const Fd reader(ends[1]);
    const Frame frame{FrameType::note, 0, std::string(256 << 10, 'x')};
    const std::size_t size = encode(frame).size();

    const std::size_t before = memory_in_use();
    for (int i = 0; i < 8; i++) // more than the socket takes
        link.send(frame);
    for (int i = 0; i < 256; i++) {
        link.send(frame);
        REQUIRE(pass(poller, reader, size));
    }
    const std::size_t held = memory_in_use() - before, unsent = 8 * size;
    INFO("of " << 264 * size << " bytes " << unsent << " are to come");
    CHECK(held < 8 * unsent); // with the room that strings keep
}
