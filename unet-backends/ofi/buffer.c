/* SPDX-License-Identifier: BSD-3-Clause
 *
 * buffer.c - posted receives, and packets under way.
 */
#include "ofi/ofi.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* ---- slabs ----------------------------------------------------------------------------------- */

static void slab_free(struct ofi_slab *slab)
{
    if (slab->mr)
        fi_close(&slab->mr->fid);
    munmap(slab->memory, slab->bytes);
    free(slab);
}

static int slab_register(const struct ofi_fabric *f, struct ofi_slab *slab)
{
    if (!f->registers)
        return 0;
    return unet_ofi_register(f, slab->memory, slab->bytes, FI_SEND | FI_RECV, 0, &slab->mr);
}

static int slab_make(const struct ofi_fabric *f, uint32_t count, enum ofi_what what,
                     struct ofi_slab **made)
{
    struct ofi_slab *slab = calloc(1, sizeof *slab + count * sizeof slab->op[0]);
    int error;

    if (!slab)
        return -ENOMEM;
    slab->count = count;
    slab->bytes = (size_t)count * OFI_PACKET;
    slab->memory = mmap(NULL, slab->bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab->memory == MAP_FAILED) {
        free(slab);
        return -ENOMEM;
    }
    error = slab_register(f, slab);
    if (error) {
        slab_free(slab);
        return error;
    }
    for (uint32_t i = 0; i < count; i++) {
        slab->op[i].what = (uint8_t)what;
        slab->op[i].bytes = slab->memory + (size_t)i * OFI_PACKET;
        slab->op[i].descriptor = slab->mr ? fi_mr_desc(slab->mr) : NULL;
    }
    *made = slab;
    return 0;
}

static const struct ofi_slab *slab_of(const struct ofi_slab *slab, const struct ofi_op *op)
{
    while (slab && (op < slab->op || op >= slab->op + slab->count))
        slab = slab->next;
    return slab;
}

bool unet_ofi_is_op(const struct ofi_endpoint *oe, const struct ofi_op *op)
{
    return slab_of(oe->receives, op) || slab_of(oe->sends, op);
}

static void slabs_free(struct ofi_slab *slab)
{
    while (slab) {
        struct ofi_slab *next = slab->next;

        slab_free(slab);
        slab = next;
    }
}

void unet_ofi_buffers_free(struct ofi_endpoint *oe)
{
    slabs_free(oe->receives);
    slabs_free(oe->sends);
}

/* ---- receives ----------------------------------------------------------------------------- */

void unet_ofi_post(struct ofi_endpoint *oe, struct ofi_op *op)
{
    if (fi_recv(oe->fabric.ep, op->bytes, OFI_PACKET, op->descriptor, FI_ADDR_UNSPEC,
                &op->context) != 0)
        ofi_list_add(&oe->unposted, op);
}

/* Those that are refused once more come back to the end of the list. */
void unet_ofi_post_again(struct ofi_endpoint *oe)
{
    const struct ofi_op *last = oe->unposted.last;
    struct ofi_op *op;

    while ((op = ofi_list_take(&oe->unposted))) {
        const bool was_last = op == last;

        unet_ofi_post(oe, op);
        if (was_last)
            return;
    }
}

int unet_ofi_receives_make(struct ofi_endpoint *oe)
{
    const uint32_t count = oe->receives_wanted - oe->receives_made;
    struct ofi_slab *slab;
    int error;

    if (oe->receives_wanted <= oe->receives_made)
        return 0;
    error = slab_make(&oe->fabric, count, OFI_IS_RECEIVE, &slab);
    if (error)
        return error;
    slab->next = oe->receives;
    oe->receives = slab;
    oe->receives_made += count;
    for (uint32_t i = 0; i < count; i++)
        unet_ofi_post(oe, &slab->op[i]);
    return 0;
}

int unet_ofi_sends_make(struct ofi_endpoint *oe)
{
    const int error = slab_make(&oe->fabric, OFI_SENDS, OFI_IS_SEND, &oe->sends);

    for (uint32_t i = 0; error == 0 && i < OFI_SENDS; i++)
        ofi_list_add(&oe->free_sends, &oe->sends->op[i]);
    return error;
}
