// SPDX-License-Identifier: BSD-3-Clause
//
// buffer_test.cc - packet buffers, and the slabs that they lie in.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

extern "C" {
#include "src/connection.h"
}

namespace {

constexpr uint32_t BYTES = 1408;

// An engine with nothing but buffers, all of one slab pointer.
struct Buffers {
    reliable_engine engine = {};
    reliable_slab *slab = nullptr;

    Buffers()
    {
        engine.config.packet_bytes = BYTES;
        engine.window = RELIABLE_WINDOW;
    }
    ~Buffers() { reliable_buffer_free_spares(&engine); }

    reliable_buffer *get(uint32_t bytes = BYTES)
    {
        reliable_buffer *buffer = reliable_buffer_get(&engine, &slab, bytes);

        REQUIRE(buffer);
        return buffer;
    }
    void put(reliable_buffer *buffer) { reliable_buffer_put(&engine, &slab, buffer); }
    void put(const std::vector<reliable_buffer *> &buffers)
    {
        for (reliable_buffer *one : buffers)
            put(one);
    }
};

bool follows(const reliable_buffer *a, const reliable_buffer *b)
{
    return b->bytes - RELIABLE_HEADROOM == a->bytes + a->size;
}

} // namespace

TEST_CASE("buffers are counted, kept for reuse, and freed beyond what one connection can use")
{
    constexpr uint32_t MORE = 2 * RELIABLE_WINDOW + 3;
    Buffers buffers;
    std::vector<reliable_buffer *> taken;

    REQUIRE(reliable_buffer_reserve(&buffers.engine, 5, BYTES) == 0);
    CHECK(buffers.engine.spares == 5);
    CHECK(buffers.engine.stats.buffers == 5);
    CHECK(buffers.engine.spare_slabs == 1);
    for (uint32_t i = 0; i < MORE; i++)
        taken.push_back(buffers.get());
    CHECK(buffers.engine.spares == 0);
    CHECK(buffers.engine.stats.buffers == MORE);
    buffers.put(taken);
    CHECK(buffers.slab == nullptr);
    CHECK(buffers.engine.spares == 2 * RELIABLE_WINDOW);
    CHECK(buffers.engine.stats.buffers == 2 * RELIABLE_WINDOW);
    CHECK(buffers.engine.spare_slabs == (MORE + 44) / 45);
    reliable_buffer_free_spares(&buffers.engine);
    CHECK(buffers.engine.spares == 0);
    CHECK(buffers.engine.spare_slabs == 0);
}

TEST_CASE("what was reserved is enough, wherever the slab in use ends")
{
    for (uint32_t before = 0; before < 50; before++) {
        Buffers buffers;
        std::vector<reliable_buffer *> taken;

        for (uint32_t i = 0; i < before; i++)
            taken.push_back(buffers.get());
        REQUIRE(reliable_buffer_reserve(&buffers.engine, RELIABLE_WINDOW, BYTES) == 0);
        const uint32_t slabs = buffers.engine.spare_slabs;
        for (uint32_t i = 0; i < RELIABLE_WINDOW; i++)
            taken.push_back(buffers.get());
        INFO("with " << before << " buffers taken before");
        CHECK(buffers.engine.spare_slabs <= slabs); // none was made beyond those
        buffers.put(taken);
    }
}

TEST_CASE("full packets lie one behind the other, 45 of an Ethernet in a slab")
{
    Buffers buffers;
    std::vector<reliable_buffer *> taken;

    for (int i = 0; i < 46; i++)
        taken.push_back(buffers.get());
    for (int i = 1; i < 45; i++) {
        CHECK(follows(taken[i - 1], taken[i]));
        CHECK(taken[i]->slab == taken[0]->slab);
    }
    CHECK(taken[45]->slab != taken[0]->slab);
    buffers.put(taken);
}

TEST_CASE("a packet that ends early leaves the rest to the next one, but not behind its back")
{
    Buffers buffers;
    reliable_buffer *first = buffers.get();

    first->length = 100; // ends at 124: the next one begins at 128
    reliable_buffer_trim(first);
    reliable_buffer_trim(first); // again is harmless
    reliable_buffer *second = buffers.get();
    CHECK(second->bytes - RELIABLE_HEADROOM == first->slab->bytes + 128);
    reliable_buffer *third = buffers.get();
    second->length = 100; // what follows was taken already
    reliable_buffer_trim(second);
    CHECK(second->size == 100);
    CHECK(third->bytes == second->bytes + RELIABLE_HEADROOM + BYTES);
    reliable_buffer *fourth = buffers.get();
    CHECK(follows(third, fourth));
    buffers.put({first, second, third, fourth});
}

TEST_CASE("the slab of the last packet that is put back is the next one taken")
{
    Buffers buffers;
    reliable_buffer *buffer = buffers.get();
    const uint8_t *where = buffer->bytes;

    for (int i = 0; i < 10; i++) {
        buffers.put(buffer);
        CHECK(buffers.slab == nullptr);
        buffer = buffers.get();
        CHECK(buffer->bytes == where);
    }
    buffers.put(buffer);
}

TEST_CASE("random buffers of two users never overlap, and all memory comes back")
{
    Buffers buffers;
    std::mt19937 random(20261122);
    struct Taken {
        reliable_buffer *buffer;
        int user;
        uint8_t fill;
    };
    reliable_slab *slab[2] = {};
    std::vector<Taken> taken;

    for (int step = 0; step < 20000; step++) {
        if (taken.size() < 300 && random() % 2) {
            const int user = random() % 2;
            const uint32_t bytes = 40 + random() % (BYTES - 39);
            reliable_buffer *buffer = reliable_buffer_get(&buffers.engine, &slab[user], bytes);
            const auto fill = static_cast<uint8_t>(random());

            REQUIRE(buffer);
            REQUIRE(reinterpret_cast<uintptr_t>(buffer->bytes) % 8 == 0);
            memset(buffer->bytes - RELIABLE_HEADROOM, fill, RELIABLE_HEADROOM + bytes);
            buffer->length = bytes - random() % 40;
            if (random() % 2)
                reliable_buffer_trim(buffer);
            taken.push_back({buffer, user, fill});
        } else if (!taken.empty()) {
            const size_t which = random() % taken.size();
            const Taken one = taken[which];
            const uint8_t *at = one.buffer->bytes - RELIABLE_HEADROOM;

            REQUIRE(std::count(at, at + RELIABLE_HEADROOM + one.buffer->length, one.fill) ==
                    static_cast<ptrdiff_t>(RELIABLE_HEADROOM + one.buffer->length));
            reliable_buffer_put(&buffers.engine, &slab[one.user], one.buffer);
            taken.erase(taken.begin() + static_cast<ptrdiff_t>(which));
        }
    }
    for (const Taken &one : taken)
        reliable_buffer_put(&buffers.engine, &slab[one.user], one.buffer);
    CHECK(slab[0] == nullptr);
    CHECK(slab[1] == nullptr);
}
