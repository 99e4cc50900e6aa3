/* SPDX-License-Identifier: BSD-3-Clause
 *
 * nh_check.c - whether all variants of NH that were compiled in make the same sums as
 * plain C: for other processors than this one (nh_aarch64.sh).
 */
#include "src/nh.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096 };

static uint8_t key[LONGEST + RELIABLE_NH_UNIT], text[LONGEST + 8];

static void fill(uint8_t *at, size_t n)
{
    while (n-- > 0)
        *at++ = (uint8_t)(rand() >> 7);
}

static const struct reliable_nh *plain(void)
{
    const struct reliable_nh *const *variant = reliable_nh_variants;

    while (variant[1])
        variant++;
    return *variant;
}

static void check(const struct reliable_nh *variant, size_t from, size_t n)
{
    uint64_t expected[2] = {1, 2}, hash[2] = {1, 2};

    plain()->hash(expected, key, text + from, n);
    variant->hash(hash, key, text + from, n);
    if (memcmp(hash, expected, sizeof(hash)) != 0) {
        fprintf(stderr, "%s is not as plain C: %zu bytes at %zu\n", variant->name, n, from);
        exit(1);
    }
}

int main(void)
{
    unsigned checks = 0;

    for (unsigned round = 0; round < 2000; round++) {
        fill(key, sizeof(key));
        fill(text, sizeof(text));
        for (const struct reliable_nh *const *variant = reliable_nh_variants; *variant; variant++) {
            if (!(*variant)->runs_here())
                continue;
            check(*variant, round % 8, round < 200 ? round : (size_t)rand() % LONGEST);
            checks++;
        }
    }
    printf("%u checks, the best variant is %s\n", checks, reliable_nh_best()->name);
    return 0;
}
