/* SPDX-License-Identifier: BSD-3-Clause
 *
 * area.c - laying out an area, and what owner and senders do to it.
 */
#include "shared_memory/area.h"

#include "core/core.h"

#include <errno.h>
#include <string.h>

#define AREA_MAGIC 0x554e4554u /* "UNET" */
#define STATE_BITS 3u
#define STATE_MASK ((1u << STATE_BITS) - 1)

static uint32_t lane_word(uint32_t generation, enum sm_lane_state state)
{
    return generation << STATE_BITS | state;
}

static uint32_t lane_load_word(const struct sm_lane_entry *entry)
{
    return __atomic_load_n(&entry->word, __ATOMIC_ACQUIRE);
}

static bool lane_change_word(struct sm_lane_entry *entry, uint32_t generation,
                             enum sm_lane_state from, enum sm_lane_state to)
{
    uint32_t expected = lane_word(generation, from);

    return __atomic_compare_exchange_n(&entry->word, &expected, lane_word(generation, to), false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* ---- layout ---------------------------------------------------------------- */

static uint64_t align_up(uint64_t offset, uint64_t to)
{
    return (offset + to - 1) & ~(to - 1);
}

/* Needs the sizes; places the parts and computes the total. */
static void sm_area_place(struct sm_area *area, uint8_t *memory)
{
    uint64_t entries = align_up(sizeof(struct sm_header), 4096);
    uint64_t lanes = align_up(entries + area->channels * sizeof(struct sm_lane_entry), 4096);
    uint64_t free = lanes + area->channels * unet_ring_bytes(area->recv_slots);
    uint64_t segment = align_up(free + unet_ring_bytes(area->free_slots), 4096);

    area->header = (struct sm_header *)memory;
    area->entry = (struct sm_lane_entry *)(memory + entries) - 1; /* lanes count from 1 */
    area->lanes = memory + lanes;
    area->free = (struct unet_ring_shared *)(memory + free);
    area->segment = memory + segment;
    area->bytes = segment + area->segment_bytes;
}

static struct sm_area sm_area_sized(const struct unet_config *config)
{
    return (struct sm_area){
        .segment_bytes = config->segment_bytes,
        .recv_slots = config->recv_slots,
        .free_slots = config->free_slots,
        .channels = config->channels,
        .polled = config->polled,
    };
}

uint64_t unet_sm_area_bytes(const struct unet_config *config)
{
    struct sm_area area = sm_area_sized(config);

    sm_area_place(&area, NULL);
    return area.bytes;
}

void unet_sm_area_format(struct sm_area *area, void *memory, const struct unet_config *config,
                         const uint64_t nonce[2], bool fences)
{
    struct sm_header *header = memory;

    *area = sm_area_sized(config);
    area->fences = fences;
    memcpy(area->nonce, nonce, sizeof area->nonce);
    sm_area_place(area, memory);
    header->abi = UNET_ABI_VERSION;
    memcpy(header->nonce, nonce, sizeof header->nonce);
    header->segment_bytes = area->segment_bytes;
    header->recv_slots = area->recv_slots;
    header->free_slots = area->free_slots;
    header->channels = area->channels;
    header->polled = area->polled;
    header->fences = area->fences;
    __atomic_store_n(&header->magic, AREA_MAGIC, __ATOMIC_RELEASE);
}

static bool power_of_two(uint32_t n)
{
    return n >= 4 && n <= 65536 && (n & (n - 1)) == 0;
}

int unet_sm_area_view(struct sm_area *area, void *memory, uint64_t bytes)
{
    const struct sm_header *header = memory;
    struct sm_area view;

    if (bytes < sizeof *header || __atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) != AREA_MAGIC ||
        header->abi != UNET_ABI_VERSION)
        return -EPROTO;
    view = (struct sm_area){
        .segment_bytes = header->segment_bytes,
        .recv_slots = header->recv_slots,
        .free_slots = header->free_slots,
        .channels = header->channels,
        .polled = header->polled != 0,
        .fences = header->fences != 0,
    };
    memcpy(view.nonce, header->nonce, sizeof view.nonce);
    if (!power_of_two(view.recv_slots) || !power_of_two(view.free_slots) || view.channels < 1 ||
        view.channels > 65535)
        return -EPROTO;
    sm_area_place(&view, memory);
    if (view.bytes != bytes)
        return -EPROTO;
    *area = view;
    return 0;
}

/* ---- lanes ------------------------------------------------------------------ */

/* Keys need no secrecy: whoever can read one can map the area, and is the same user. */
uint64_t unet_sm_lane_key(uint64_t tag, const uint64_t from[2], const uint64_t to[2])
{
    uint64_t key = unet_mix(tag + 0x9e3779b97f4a7c15u);

    key = unet_mix(key + from[0]);
    key = unet_mix(key + from[1]);
    key = unet_mix(key + to[0]);
    return unet_mix(key + to[1]);
}

enum sm_lane_state unet_sm_lane_state(const struct sm_area *area, uint32_t n, uint32_t generation)
{
    uint32_t word = lane_load_word(&area->entry[n]);

    if (word >> STATE_BITS != (generation << STATE_BITS) >> STATE_BITS)
        return LANE_FREE;
    return (enum sm_lane_state)(word & STATE_MASK);
}

void unet_sm_lane_offer(const struct sm_area *area, uint32_t n, uint32_t generation, uint64_t key)
{
    struct sm_lane_entry *entry = &area->entry[n];

    if (generation > 0)
        memset(sm_lane_ring(area, n), 0, unet_ring_bytes(area->recv_slots));
    __atomic_store_n(&entry->key, key, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->word, lane_word(generation, LANE_OFFERED), __ATOMIC_RELEASE);
    __atomic_fetch_add(&area->header->offers, 1, __ATOMIC_RELEASE);
}

bool unet_sm_lane_withdraw(const struct sm_area *area, uint32_t n, uint32_t generation)
{
    struct sm_lane_entry *entry = &area->entry[n];

    if (lane_change_word(entry, generation, LANE_OFFERED, LANE_FREE) ||
        lane_change_word(entry, generation, LANE_DETACHED, LANE_FREE))
        return true;
    if (lane_change_word(entry, generation, LANE_ATTACHED, LANE_CLOSING))
        return false;
    /* It detached between the two looks, or is closing already. */
    return lane_change_word(entry, generation, LANE_DETACHED, LANE_FREE);
}

uint32_t unet_sm_lane_attach(const struct sm_area *area, uint64_t key, uint32_t *generation)
{
    for (uint32_t n = 1; n <= area->channels; n++) {
        struct sm_lane_entry *entry = &area->entry[n];
        uint32_t word = lane_load_word(entry);

        if ((word & STATE_MASK) != LANE_OFFERED ||
            __atomic_load_n(&entry->key, __ATOMIC_RELAXED) != key)
            continue;
        /* Had the key changed since, so would the generation have. */
        if (!lane_change_word(entry, word >> STATE_BITS, LANE_OFFERED, LANE_ATTACHED))
            continue;
        *generation = word >> STATE_BITS;
        return n;
    }
    return 0;
}

void unet_sm_lane_detach(const struct sm_area *area, uint32_t n, uint32_t generation)
{
    struct sm_lane_entry *entry = &area->entry[n];

    if (!lane_change_word(entry, generation, LANE_ATTACHED, LANE_DETACHED))
        lane_change_word(entry, generation, LANE_CLOSING, LANE_DETACHED);
}

/* ---- the free queue ----------------------------------------------------------- */

/* The buffer at that position of the free queue; false when none is there yet. */
static bool peek_buffer(const struct sm_area *area, uint32_t position, struct unet_piece *buffer)
{
    const struct unet_desc *slot = &area->free->slot[position & (area->free_slots - 1)];
    uint64_t word;

    if (__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) != position + 1)
        return false;
    word = __atomic_load_n(&slot->word[0], __ATOMIC_RELAXED);
    *buffer = (struct unet_piece){.offset = (uint32_t)word, .length = (uint32_t)(word >> 32)};
    return true;
}

static bool buffer_ok(const struct sm_area *area, const struct unet_piece *buffer)
{
    return buffer->length > 0 && buffer->offset <= area->segment_bytes &&
           buffer->length <= area->segment_bytes - buffer->offset;
}

/* Choose buffers from `position` on without taking them. */
static int choose_buffers(const struct sm_area *area, uint32_t position, uint32_t length,
                          struct unet_piece piece[], uint8_t *count)
{
    uint8_t n = 0;

    while (length > 0) {
        struct unet_piece *p = &piece[n];

        if (n == UNET_PIECES_MAX)
            return -EMSGSIZE;
        if (!peek_buffer(area, position + n, p))
            return -EAGAIN;
        if (!buffer_ok(area, p))
            return -EPROTO;
        if (p->length > length)
            p->length = length;
        length -= p->length;
        n++;
    }
    *count = n;
    return 0;
}

/* Many senders take from the queue that the owner fills.  `consumed` is their common
 * index: who moves it on has the buffers below.  Until then the slots cannot have
 * been refilled, so what was read of them is right if the exchange succeeds.  The
 * number of tries is bounded because the owner may be hostile. */
int unet_sm_take_buffers(const struct sm_area *area, uint32_t length,
                         struct unet_piece piece[UNET_PIECES_MAX], uint8_t *count)
{
    uint32_t *consumed = &area->free->consumed;
    uint32_t position = __atomic_load_n(consumed, __ATOMIC_ACQUIRE);

    for (int tries = 64; tries > 0; tries--) {
        int error = choose_buffers(area, position, length, piece, count);
        uint32_t before = position;

        if (error == 0) {
            if (__atomic_compare_exchange_n(consumed, &position, position + *count, false,
                                            __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                return 0;
            continue;
        }
        position = __atomic_load_n(consumed, __ATOMIC_ACQUIRE);
        if (position == before)
            return error;
    }
    return -EAGAIN;
}
