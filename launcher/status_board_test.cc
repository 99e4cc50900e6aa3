// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>
#include <cstring>
#include <sys/mman.h>
#include <vector>

#include "source_place.h"
#include "status_board.h"

using namespace unetrun;

namespace {

splitc_status waiting(const char *what, std::uint64_t looks = 1)
{
    splitc_status status{};
    status.magic = SPLITC_STATUS_MAGIC;
    status.whom = SPLITC_ANYBODY;
    std::strncpy(status.what, what, sizeof status.what - 1);
    status.waits = 7;
    status.looks = looks;
    return status;
}

// How many looks it takes to find them stuck, if each passes `step` in between; 0: never.
template <class Step> int looks_until_stuck(std::vector<splitc_status> ranks, Step step)
{
    DeadlockWatch watch;
    for (int look = 1; look <= 50; look++) {
        if (watch.look(ranks).stuck)
            return look;
        for (splitc_status &rank : ranks)
            rank.looks++;
        step(ranks, look);
    }
    return 0;
}

void nothing(std::vector<splitc_status> &, int)
{
}

} // namespace

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
          "sent, 60 have come, 50 waited for; the process is asleep");
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

TEST_CASE("deadlock: all wait, and look in vain")
{
    CHECK(looks_until_stuck({waiting("barrier"), waiting("store_sync")}, nothing) == 5);
    CHECK(looks_until_stuck({waiting("barrier")}, nothing) == 5);
    CHECK(looks_until_stuck({waiting("lock"), waiting("lock")}, [](auto &ranks, int) {
              ranks[0].tries++;
              ranks[1].tries += 2;
          }) == 5);
}

TEST_CASE("deadlock: not while anything happens")
{
    using Ranks = std::vector<splitc_status>;
    const Ranks ranks = {waiting("barrier"), waiting("sync"), waiting("barrier")};

    CHECK(looks_until_stuck({}, nothing) == 0);
    CHECK(looks_until_stuck({waiting("barrier"), waiting("")}, nothing) == 0);
    CHECK(looks_until_stuck({waiting("barrier"), splitc_status{}}, nothing) == 0);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[1].arrivals++; }) == 0);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[2].waits++; }) == 0);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[2].held = 1; }) == 0);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[0].sent++; }) == 0);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[2].received++; }) == 0);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[1].tries = 3; }) == 0); // its try lasts
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[0].looks--; }) == 0);   // it does not run
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r.resize(2); }) == 6);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int look) { r[1].arrivals += look == 3; }) == 8);
}

TEST_CASE("deadlock: what the ranks have sent and received is summed up")
{
    DeadlockWatch watch;
    std::vector<splitc_status> ranks = {waiting("barrier"), waiting("sync")};
    ranks[0].sent = 5;
    ranks[1].sent = 7;
    ranks[1].received = 11;
    watch.look(ranks);
    for (splitc_status &rank : ranks)
        rank.looks++;
    const Stuck found = watch.look(ranks);
    CHECK(found.sent == 12);
    CHECK(found.received == 11);
}

TEST_CASE("source place: the first that is the program's own")
{
    CHECK(
        place_in("/usr/include/split-c/abi.h:190\n/home/me/a.sc:12 (discriminator 2)\nb.sc:1\n") ==
        "/home/me/a.sc:12");
    CHECK(place_in("??:0\n").empty());
    CHECK(place_in("??:?\n").empty());
    CHECK(place_in("a.sc:?\n").empty());
    CHECK(place_in("").empty());
}
