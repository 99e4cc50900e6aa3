/* SPDX-License-Identifier: BSD-3-Clause
 *
 * aal5_bench - what AAL5 costs on this machine: cells that one core cuts and puts together.
 *
 *   aal5_bench        prints, for PDUs of several lengths, millions of cells a second
 */
#include "datagram/atm/aal5.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 15, CELLS_A_ROUND = 400000 };

static uint8_t message[AAL5_MOST];
static uint8_t cells[AAL5_CELLS_MOST * ATM_CELL];
static uint8_t buffer[AAL5_ROOM];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t cut(size_t length)
{
    /* U-Net's word, and the message behind it, as the backend has them. */
    const struct iovec iov[] = {{message, 4}, {message + 4, length - 4}};

    return unet_aal5_cut(cells, atm_header(1, 77), 0, iov, 2, length);
}

/* A receiver's work for each cell but the table of its channels. */
static void put_together(size_t count)
{
    struct aal5_reassembly in = {.buffer = buffer};
    struct aal5_pdu pdu;
    int result = 0;

    for (size_t i = 0; i < count; i++) {
        const uint8_t *cell = cells + i * ATM_CELL;
        uint32_t header;

        if (!unet_atm_read_header(cell, &header))
            abort();
        result = unet_aal5_take(&in, cell + ATM_HEADER, header & ATM_LAST, &pdu);
    }
    if (result != 1)
        abort();
}

static void measure(size_t length)
{
    const size_t count = unet_aal5_cells(length), times = CELLS_A_ROUND / count;
    double best_cut = 1e9, best_put = 1e9;

    for (int round = 0; round < ROUNDS; round++) {
        double from = now(), seconds;

        for (size_t i = 0; i < times; i++)
            cut(length);
        seconds = now() - from;
        best_cut = seconds < best_cut ? seconds : best_cut;
        from = now();
        for (size_t i = 0; i < times; i++)
            put_together(count);
        seconds = now() - from;
        best_put = seconds < best_put ? seconds : best_put;
    }
    printf("%6zu %6zu %8.1f %8.1f\n", length, count, 1e-6 * (double)(count * times) / best_cut,
           1e-6 * (double)(count * times) / best_put);
}

static void measure_crc(const char *name, uint32_t (*crc)(uint32_t, const void *, size_t))
{
    double best = 1e9;
    uint32_t state = 0;

    for (int round = 0; round < ROUNDS; round++) {
        const double from = now();
        double seconds;

        for (int i = 0; i < 20; i++)
            state = crc(state, message, sizeof message);
        seconds = now() - from;
        best = seconds < best ? seconds : best;
    }
    printf("CRC-32 by %-10s %6.2f GB/s%s\n", name, 20e-9 * sizeof message / best,
           state == 0 ? "." : ""); /* so that it is computed */
}

int main(void)
{
    static const size_t length[] = {40, 41, 88, 232, 1024, 4096, 9180, AAL5_MOST};

    unet_aal5_init();
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (uint8_t)(i * 7);
    measure_crc("bytes", unet_aal5_crc_bytes);
    measure_crc("slices", unet_aal5_crc_slices);
    if (unet_aal5_has_clmul())
        measure_crc("PCLMULQDQ", unet_aal5_crc_clmul);
    puts("                 millions a second");
    puts(" bytes  cells      cut      put together");
    for (size_t i = 0; i < sizeof length / sizeof *length; i++)
        measure(length[i]);
    return 0;
}
