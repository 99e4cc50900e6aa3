/* SPDX-License-Identifier: BSD-3-Clause
 *
 * channels.c - VCIs, and the buffers of reassembly.
 */
#include "datagram/atm/atm.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

struct datagram_place unet_atm_place(uint32_t node)
{
    struct datagram_place place;

    memset(&place, 0, sizeof place); /* the holes, too */
    place.number = node;
    place.length = sizeof place.number;
    return place;
}

/* ---- VCIs ----------------------------------------------------------------------------- */

/* Whether the VCI is assigned to an opening of channel n that is not closed. */
static bool vci_is_of(const struct atm_endpoint *ae, uint32_t vci, uint16_t n)
{
    return n != 0 && ae->de.ni.ep.channel[n].state != UNET_CLOSED &&
           atm_life_vci(ae->de.link[n].life) == vci;
}

static uint16_t vci_after(uint16_t vci)
{
    return vci == ATM_VCI_MOST ? ATM_VCI_USER : (uint16_t)(vci + 1);
}

/* The next in turn: what was free the longest is assigned first, so that late cells of an earlier
 * opening find nobody. */
static uint16_t vci_assign(struct atm_endpoint *ae, uint16_t n)
{
    for (uint32_t tries = ATM_VCI_MOST + 1 - ATM_VCI_USER; tries > 0; tries--) {
        const uint16_t vci = ae->next_vci;

        ae->next_vci = vci_after(vci);
        if (vci_is_of(ae, vci, ae->channel[vci]))
            continue;
        ae->channel[vci] = n;
        return vci;
    }
    return 0;
}

int unet_atm_name_opening(struct datagram_endpoint *de, uint16_t n, struct datagram_link *link)
{
    struct atm_endpoint *ae = atm_of(de);
    uint16_t random, vci;

    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return -EIO;
    vci = vci_assign(ae, n);
    if (vci == 0)
        return -ENOSPC;
    unet_atm_release_buffer(ae, n);
    link->life = (uint32_t)random << 16 | vci;
    return 0;
}

uint16_t unet_atm_find(const struct atm_endpoint *ae, uint32_t vpi, uint32_t vci)
{
    const uint16_t n = ae->channel[vci];

    return vci_is_of(ae, vci, n) && ae->de.link[n].peer.number == vpi ? n : 0;
}

void unet_atm_node_gone(struct atm_endpoint *ae, uint32_t node)
{
    for (uint32_t n = 1; n < ae->de.ni.ep.rx_rings; n++)
        if (node == 0 || ae->de.link[n].peer.number == node)
            unet_datagram_lost(&ae->de, (uint16_t)n);
}

/* ---- buffers --------------------------------------------------------------------------- */

void unet_atm_hold_buffer(struct atm_endpoint *ae, uint16_t n)
{
    struct atm_buffer *buffer = ae->free;

    if (ae->in[n].buffer)
        return;
    if (buffer)
        ae->free = buffer->next;
    else
        buffer = malloc(sizeof *buffer);
    if (buffer)
        ae->in[n].buffer = buffer->bytes;
}

void unet_atm_release_buffer(struct atm_endpoint *ae, uint16_t n)
{
    uint8_t *bytes = ae->in[n].buffer;
    struct atm_buffer *buffer;

    ae->in[n] = (struct aal5_reassembly){0};
    if (!bytes)
        return;
    buffer = (struct atm_buffer *)(bytes - offsetof(struct atm_buffer, bytes));
    buffer->next = ae->free;
    ae->free = buffer;
}

int unet_atm_open_channels(struct atm_endpoint *ae)
{
    uint16_t random;

    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return -EIO;
    ae->next_vci = (uint16_t)(ATM_VCI_USER + random % (ATM_VCI_MOST + 1 - ATM_VCI_USER));
    ae->channel = calloc(ATM_VCI_MOST + 1, sizeof *ae->channel);
    ae->in = calloc(ae->de.ni.ep.config.channels + 1, sizeof *ae->in);
    ae->out = malloc(ATM_OUT_BYTES);
    ae->arrivals = malloc(LINE_ROOM);
    return ae->channel && ae->in && ae->out && ae->arrivals ? 0 : -ENOMEM;
}

void unet_atm_close_channels(struct atm_endpoint *ae)
{
    for (uint32_t n = 1; ae->in && n <= ae->de.ni.ep.config.channels; n++)
        unet_atm_release_buffer(ae, (uint16_t)n);
    while (ae->free) {
        struct atm_buffer *buffer = ae->free;

        ae->free = buffer->next;
        free(buffer);
    }
    free(ae->arrivals);
    free(ae->out);
    free(ae->in);
    free(ae->channel);
}
