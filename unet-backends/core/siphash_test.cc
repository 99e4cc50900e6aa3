// SPDX-License-Identifier: BSD-3-Clause
//
// SipHash-2-4 against the vectors of its authors: key 00 01 .. 0f, input 00 01 .. n-1.
#include <catch2/catch.hpp>

#include <unet/unet_siphash.h>

TEST_CASE("SipHash-2-4 gives its authors' values")
{
    const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    uint8_t input[64];

    for (unsigned i = 0; i < sizeof(input); i++)
        input[i] = static_cast<uint8_t>(i);
    CHECK(unet_siphash(key, input, 0) == 0x726fdb47dd0e0e31);
    CHECK(unet_siphash(key, input, 1) == 0x74f839c593dc67fd);
    CHECK(unet_siphash(key, input, 2) == 0x0d6c8009d9a94f5a);
    CHECK(unet_siphash(key, input, 15) == 0xa129ca6149be45e5);
}

TEST_CASE("SipHash-2-4 depends on every bit of key and input")
{
    uint8_t input[41] = {};

    for (unsigned length = 1; length <= sizeof(input); length++) {
        const uint64_t key[2] = {1, 2};
        const uint64_t hash = unet_siphash(key, input, length);

        for (unsigned bit = 0; bit < 8 * length; bit++) {
            input[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
            CHECK(unet_siphash(key, input, length) != hash);
            input[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
        }
        for (unsigned bit = 0; bit < 128; bit++) {
            uint64_t other[2] = {key[0], key[1]};

            other[bit / 64] ^= uint64_t{1} << bit % 64;
            CHECK(unet_siphash(other, input, length) != hash);
        }
    }
}
