// SPDX-License-Identifier: BSD-3-Clause
#include <unet/unet_ring.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

namespace {

struct Ring {
    explicit Ring(uint32_t slots, uint32_t start = 0)
        : memory(std::aligned_alloc(128, unet_ring_bytes(slots)), std::free)
    {
        std::memset(memory.get(), 0, unet_ring_bytes(slots));
        unet_ring_attach(&producer, memory.get(), slots);
        unet_ring_attach(&consumer, memory.get(), slots);
        // As if `start` slots had gone through it.
        producer.position = producer.cached = start;
        consumer.position = consumer.published = start;
        producer.shared->consumed = start;
    }

    bool put(uint32_t value)
    {
        unet_desc *slot = unet_ring_reserve(&producer);

        if (!slot)
            return false;
        slot->user = value;
        for (uint64_t &word : slot->word)
            word = value;
        unet_ring_submit(&producer);
        return true;
    }

    // The next value, or -1.
    int64_t get()
    {
        const unet_desc *slot = unet_ring_peek(&consumer);

        if (!slot)
            return -1;
        int64_t value = slot->user;
        for (uint64_t word : slot->word)
            value = word == uint64_t(value) ? value : -2;
        unet_ring_release(&consumer);
        return value;
    }

    std::unique_ptr<void, decltype(&std::free)> memory;
    unet_ring producer, consumer;
};

} // namespace

TEST_CASE("zeroed memory is an empty ring")
{
    Ring ring(8);

    CHECK(ring.get() == -1);
    CHECK(unet_ring_room(&ring.producer) == 8);
}

TEST_CASE("a ring holds exactly its slots")
{
    Ring ring(8);

    for (uint32_t i = 0; i < 8; i++)
        CHECK(ring.put(i));
    CHECK_FALSE(ring.put(8));
    CHECK(unet_ring_room(&ring.producer) == 0);
    for (uint32_t i = 0; i < 8; i++)
        CHECK(ring.get() == i);
    CHECK(ring.get() == -1);
    CHECK(unet_ring_room(&ring.producer) == 8);
}

TEST_CASE("reserving twice gives the same slot, which is not visible before submit")
{
    Ring ring(4);
    unet_desc *slot = unet_ring_reserve(&ring.producer);

    CHECK(unet_ring_reserve(&ring.producer) == slot);
    CHECK(unet_ring_peek(&ring.consumer) == nullptr);
    unet_ring_submit(&ring.producer);
    CHECK(unet_ring_peek(&ring.consumer) == slot);
    CHECK(unet_ring_peek(&ring.consumer) == slot);
}

TEST_CASE("positions wrap around 2^32")
{
    Ring ring(8, UINT32_MAX - 20);

    for (uint32_t i = 0; i < 100; i++) {
        REQUIRE(ring.put(i));
        REQUIRE(ring.put(i + 1000));
        REQUIRE(ring.get() == i);
        REQUIRE(ring.get() == i + 1000);
        REQUIRE(ring.get() == -1);
    }
    for (uint32_t i = 0; i < 8; i++)
        CHECK(ring.put(i));
    CHECK_FALSE(ring.put(8));
}

TEST_CASE("a full ring across 2^32 stays full until read")
{
    Ring ring(16, UINT32_MAX - 7);

    for (uint32_t i = 0; i < 16; i++)
        REQUIRE(ring.put(i));
    REQUIRE_FALSE(ring.put(16));
    for (uint32_t i = 0; i < 16; i++)
        REQUIRE(ring.get() == i);
    CHECK(ring.get() == -1);
}

TEST_CASE("the consumer tells what it read every quarter and when it finds nothing")
{
    Ring ring(16);

    for (uint32_t i = 0; i < 16; i++)
        ring.put(i);
    for (uint32_t i = 0; i < 3; i++)
        ring.get();
    CHECK(ring.producer.shared->consumed == 0);
    ring.get();
    CHECK(ring.producer.shared->consumed == 4);
    while (ring.get() >= 0)
        ;
    CHECK(ring.producer.shared->consumed == 16);
    ring.put(1);
    ring.get();
    CHECK(ring.producer.shared->consumed == 16);
    ring.get();
    CHECK(ring.producer.shared->consumed == 17);
}

TEST_CASE("a consumer that lies makes the ring full, never overfull")
{
    Ring ring(8);
    std::mt19937 random(5);

    for (uint32_t i = 0; i < 8; i++)
        ring.put(i);
    ring.producer.shared->consumed = 9; // ahead of the producer
    CHECK(unet_ring_room(&ring.producer) == 0);
    ring.producer.shared->consumed = UINT32_MAX; // more than a ring behind
    CHECK(unet_ring_room(&ring.producer) == 0);
    for (int i = 0; i < 10000; i++) {
        ring.producer.shared->consumed = static_cast<uint32_t>(random());
        REQUIRE(unet_ring_room(&ring.producer) <= 8);
    }
    ring.producer.shared->consumed = 8;
    CHECK(unet_ring_room(&ring.producer) == 8);
}

TEST_CASE("a producer that writes nonsense turns shows nothing")
{
    Ring ring(8);
    uint32_t turn = GENERATE(0u, 2u, 8u, 9u, UINT32_MAX);

    ring.producer.shared->slot[0].turn = turn;
    CHECK(unet_ring_peek(&ring.consumer) == nullptr);
}

TEST_CASE("two threads pass everything in order and whole")
{
    constexpr uint32_t messages = 300000;
    Ring ring(64, UINT32_MAX - 1000);
    uint32_t wrong = 0;

    std::thread producer([&] {
        for (uint32_t i = 0; i < messages;) {
            if (ring.put(i))
                i++;
            else
                std::this_thread::yield();
        }
    });
    for (uint32_t i = 0; i < messages;) {
        int64_t value = ring.get();

        if (value == -1)
            std::this_thread::yield();
        else
            wrong += value != i++;
    }
    producer.join();
    CHECK(wrong == 0);
}
