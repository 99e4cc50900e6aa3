// SPDX-License-Identifier: BSD-3-Clause
//
// timer_test.cc - the heap of deadlines.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "src/connection.h"
}

namespace {

// The heap of an engine without anything else.
struct Heap {
    reliable_engine engine = {};
    std::vector<reliable_connection> conn;

    explicit Heap(size_t count) : conn(count)
    {
        for (reliable_connection &one : conn) {
            REQUIRE(reliable_timer_reserve(&engine) == 0);
            reliable_timer_insert(&engine, &one);
        }
    }
    ~Heap() { free(engine.heap); }
    Heap(const Heap &) = delete;
    Heap &operator=(const Heap &) = delete;

    // "" or what is wrong with its order.
    std::string wrong() const
    {
        for (uint32_t i = 0; i < engine.heap_count; i++) {
            if (engine.heap[i]->timer.index != i)
                return "a connection does not know its place";
            if (i > 0 && engine.heap[(i - 1) / 2]->timer.due > engine.heap[i]->timer.due)
                return "a connection is due before the one above it";
        }
        return "";
    }
};

} // namespace

TEST_CASE("the first connection that is due stays on top, whatever is scheduled and removed")
{
    std::mt19937 random(7);

    for (int round = 0; round < 50; round++) {
        Heap heap(1 + random() % 40);
        std::vector<reliable_connection *> living;

        for (reliable_connection &one : heap.conn)
            living.push_back(&one);
        while (!living.empty()) {
            const size_t i = random() % living.size();

            if (random() % 4 != 0) {
                reliable_timer_schedule(&heap.engine, living[i], random() % 1000);
            } else {
                reliable_timer_remove(&heap.engine, living[i]);
                living.erase(living.begin() + static_cast<long>(i));
            }
            REQUIRE(heap.engine.heap_count == living.size());
            REQUIRE(heap.wrong() == "");
        }
    }
}

TEST_CASE("a later time does not put off what is scheduled, and the dead are not scheduled")
{
    Heap heap(2);

    reliable_timer_schedule(&heap.engine, &heap.conn[0], 50);
    reliable_timer_schedule(&heap.engine, &heap.conn[0], 60);
    CHECK(heap.conn[0].timer.due == 50);
    heap.conn[1].dead = true;
    reliable_timer_schedule(&heap.engine, &heap.conn[1], 10);
    CHECK(heap.conn[1].timer.due == RELIABLE_NEVER);
}
