// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <malloc.h>
#include <sys/socket.h>

#include "link.h"

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

} // namespace

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
