// SPDX-License-Identifier: BSD-3-Clause
//
// Messages through a byte stream that takes and gives them in pieces.
#include <catch2/catch.hpp>

#include <cerrno>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

extern "C" {
#include "net/wire.h"
#include "real/real.h"
}

namespace {

// A pair of sockets that holds a few messages, and both ends of the link's control connection on
// it.
struct Stream {
    int end[2];
    sockets_wire_writer writer{};
    sockets_wire_reader reader{};

    Stream()
    {
        const int small = 8192;

        sockets_real_init();
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, end) == 0);
        REQUIRE(setsockopt(end[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)) == 0);
    }
    ~Stream()
    {
        close(end[0]);
        close(end[1]);
    }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    int write(uint32_t number, const std::string &data)
    {
        sockets_wire wire{};

        wire.taken_in = number;
        wire.length = static_cast<uint16_t>(data.size());
        return sockets_wire_write(&writer, end[0], &wire, data.data());
    }
};

} // namespace

TEST_CASE("a stream that is full keeps nobody, and each message that was taken arrives, whole and "
          "in order")
{
    std::mt19937 chance(GENERATE(1U, 2U, 3U));
    std::deque<std::string> under_way;
    uint32_t written = 0, read = 0, refused = 0;
    Stream stream;

    for (int step = 0; step < 20000; step++) {
        if (chance() % 3 != 0) {
            const std::string data(chance() % (SOCKETS_WIRE_BYTES + 1), static_cast<char>(written));
            const int error = stream.write(written, data);

            INFO("message " << written << ", of " << data.size() << " bytes");
            REQUIRE((error == 0 || error == -EAGAIN));
            refused += error != 0;
            if (error == 0) {
                under_way.push_back(data);
                written++;
            }
        } else {
            for (unsigned most = chance() % 8; most > 0; most--) {
                const int got = sockets_wire_read(&stream.reader, stream.end[1]);

                REQUIRE(got >= 0);
                if (got == 0)
                    break;
                REQUIRE(!under_way.empty());
                CHECK(stream.reader.message.wire.taken_in == read++);
                CHECK(std::string(stream.reader.message.data, stream.reader.message.wire.length) ==
                      under_way.front());
                under_way.pop_front();
            }
        }
    }
    CHECK(refused > 100);
    CHECK(read > 1000);
    while (!under_way.empty()) {
        const int flushed = sockets_wire_flush(&stream.writer, stream.end[0]);

        REQUIRE((flushed == 0 || flushed == -EAGAIN));
        REQUIRE(sockets_wire_read(&stream.reader, stream.end[1]) == 1);
        CHECK(stream.reader.message.wire.taken_in == read++);
        under_way.pop_front();
    }
    CHECK(read == written);
    CHECK(!sockets_wire_is_behind(&stream.writer));
}

TEST_CASE("a stream whose other end has gone says so")
{
    Stream stream;

    close(stream.end[1]);
    stream.end[1] = dup(stream.end[0]);
    CHECK(stream.write(0, "nobody reads this") == -EPIPE);
}
