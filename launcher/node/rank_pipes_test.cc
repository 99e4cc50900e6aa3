// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <fcntl.h>

#include "common/process.h"
#include "node/rank_pipes.h"

using namespace unetrun;

namespace {

// Whether a handler of the poller would be called now.
bool anything_to_do(Poller &poller)
{
    bool called = false;
    const Pipe pipe = make_pipe();
    poller.watch(pipe.write_end.get(), POLLOUT, [&] { called = true; });
    poller.run_once(Clock::now());
    poller.forget(pipe.write_end.get());
    return called;
}

std::string take(int fd, std::size_t most)
{
    std::string bytes(most, ' ');
    const ssize_t n = read(fd, bytes.data(), most);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    return bytes;
}

} // namespace

TEST_CASE("rank pipes: input that finds no room waits, and is told as it is written")
{
    Poller poller;
    Pipe pipe = make_pipe();
    const int reader = pipe.read_end.get();
    const auto room = static_cast<std::size_t>(fcntl(pipe.write_end.get(), F_GETPIPE_SZ));
    std::vector<std::size_t> written;
    InputPipe input(poller, std::move(pipe.write_end),
                    [&](std::size_t n) { written.push_back(n); });

    input.put(std::string(room, 'a') + "rest");
    CHECK(written == std::vector<std::size_t>{room});
    CHECK(take(reader, room) == std::string(room, 'a'));
    poller.run_once(Clock::now() + std::chrono::seconds(10));
    CHECK(written == std::vector<std::size_t>{room, 4});
    CHECK(take(reader, 100) == "rest");
    input.put("more");
    input.put("");
    input.put("after the end");
    CHECK(written == std::vector<std::size_t>{room, 4, 4});
    CHECK(take(reader, 100) == "more");
    CHECK(take(reader, 100).empty()); // the end
}

TEST_CASE("rank pipes: when all input is written, nothing is left to be done")
{
    Poller poller;
    Pipe pipe = make_pipe();
    unsigned woken = 0;
    const int reader = pipe.read_end.get();
    const auto room = static_cast<std::size_t>(fcntl(pipe.write_end.get(), F_GETPIPE_SZ));
    InputPipe input(poller, std::move(pipe.write_end), [&](std::size_t) { woken++; });

    input.put(std::string(room + 1, 'a'));
    take(reader, room);
    poller.run_once(Clock::now() + std::chrono::seconds(10));
    REQUIRE(woken == 2);
    // It would be woken for ever by room that it has no use for.
    const auto begin = Clock::now();
    poller.run_once(begin + std::chrono::milliseconds(20));
    CHECK(Clock::now() - begin >= std::chrono::milliseconds(20));
}

TEST_CASE("rank pipes: who reads no more is told once, and gets no more")
{
    Poller poller;
    Pipe pipe = make_pipe();
    std::vector<std::size_t> written;
    InputPipe input(poller, std::move(pipe.write_end),
                    [&](std::size_t n) { written.push_back(n); });

    signal(SIGPIPE, SIG_IGN);
    SECTION("when the next piece comes")
    {
        pipe.read_end.reset();
        input.put("nobody reads this");
        CHECK(written == std::vector<std::size_t>{0});
    }
    SECTION("while some waits for room")
    {
        const auto room = static_cast<std::size_t>(fcntl(pipe.read_end.get(), F_GETPIPE_SZ));
        input.put(std::string(room + 1, 'a'));
        pipe.read_end.reset();
        poller.run_once(Clock::now() + std::chrono::seconds(10));
        CHECK(written == std::vector<std::size_t>{room, 0});
    }
    const auto before = written;
    input.put("nor this");
    poller.run_once(Clock::now());
    CHECK(written == before);
}

TEST_CASE("rank pipes: output that is paused stays in its pipe")
{
    Poller poller;
    Pipe pipe = make_pipe();
    std::string text;
    OutputPipe output(poller, std::move(pipe.read_end), false,
                      [&](std::string_view bytes) { text += bytes; });

    output.resume();
    REQUIRE(write(pipe.write_end.get(), "one\n", 4) == 4);
    poller.run_once(Clock::now() + std::chrono::seconds(10));
    CHECK(text == "one\n");
    output.pause();
    REQUIRE(write(pipe.write_end.get(), "two\n", 4) == 4);
    CHECK(anything_to_do(poller));
    CHECK(text == "one\n");
    output.resume();
    poller.run_once(Clock::now() + std::chrono::seconds(10));
    CHECK(text == "one\ntwo\n");
}

TEST_CASE("rank pipes: an empty pipe is at its end when nobody is left to write, or says so")
{
    const bool told = GENERATE(false, true);
    Poller poller;
    Pipe pipe = make_pipe();
    std::string text;
    OutputPipe output(poller, std::move(pipe.read_end), true,
                      [&](std::string_view bytes) { text += bytes; });

    REQUIRE(write(pipe.write_end.get(), "unfinished", 10) == 10);
    CHECK(output.read_some());
    CHECK_FALSE(output.read_some());
    CHECK(output.open());
    CHECK(text == "");
    if (told)
        output.expect_end(); // some process that hides still holds the other end
    else
        pipe.write_end.reset();
    CHECK_FALSE(output.read_some());
    CHECK_FALSE(output.open());
    CHECK(text == "unfinished");
}
