// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "node/status_board.h"
#include "node/test_status.h"

using namespace unetrun;

TEST_CASE("status: a rank writes where the board reads")
{
    StatusBoard board(3);
    const std::string place = board.place_of(2);
    const auto colon = place.rfind(':');
    const Fd fd(open(place.substr(0, colon).c_str(), O_RDWR));
    REQUIRE(fd);
    auto *page = static_cast<splitc_status *>(mmap(nullptr, SPLITC_STATUS_BYTES,
                                                   PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(),
                                                   std::stol(place.substr(colon + 1))));
    REQUIRE(page != MAP_FAILED);
    *page = waiting("sync");
    std::memset(page->what, 'x', sizeof page->what); // no end
    CHECK(board.read(2).waits == 7);
    CHECK(std::string(board.read(2).what) == std::string(sizeof page->what - 1, 'x'));
    CHECK(board.read(1).magic == 0);
    CHECK(board.read_all().size() == 3);
    munmap(page, SPLITC_STATUS_BYTES);
}

TEST_CASE("status: a rank cannot take the board away from who reads it")
{
    StatusBoard board(3);
    const std::string place = board.place_of(0);
    const Fd fd(open(place.substr(0, place.rfind(':')).c_str(), O_RDWR));
    REQUIRE(fd);
    CHECK(ftruncate(fd.get(), 0) == -1);
    CHECK(errno == EPERM);
    CHECK(board.read(2).magic == 0); // and no SIGBUS
}

TEST_CASE("status: a wait in words")
{
    splitc_status status = waiting("barrier");
    status.whom = 4;
    status.began = 1'000'000'000;
    status.gets = 2;
    status.puts = 3;
    status.stored = 100;
    status.landed = 60;
    status.taken = 50;
    CHECK(describe(status, 3'500'000'000, 'S') ==
          "waits in barrier for rank 4, since 2.5 s; pending: 2 gets, 3 puts; stores: 100 bytes "
          "sent, 60 have come, of which 50 were waited for before; the process is asleep");
    CHECK(describe(status, 0, 'S', "a.sc:12")
              .rfind("waits in barrier for rank 4 at a.sc:12, since 0.0 s; ", 0) == 0);
    status.whom = SPLITC_ANYBODY;
    CHECK(describe(status, 0, 'S').rfind("waits in barrier, since 0.0 s; ", 0) == 0);
}

TEST_CASE("status: ranks that do not wait, in words")
{
    CHECK(describe(waiting(""), 0, 'R') ==
          "computes, or waits in something that is not Split-C's; the process is running");
    CHECK(describe(splitc_status{}, 0, 'T') ==
          "has not joined as a Split-C program; the process is stopped");
}

TEST_CASE("status: the names of files are not trusted")
{
    splitc_status status{};

    std::memset(status.object, 'x', sizeof status.object);
    CHECK(object_name(status, 1).size() == SPLITC_OBJECT_NAME);
    CHECK(object_name(status, SPLITC_OBJECTS).empty());
    CHECK(object_name(status, UINT64_MAX).empty());
}
