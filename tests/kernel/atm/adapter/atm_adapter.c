// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * atm_adapter - test equipment: an ATM adapter whose fibre, and whose switch, is an Ethernet.
 *
 * A frame of type 0x88b6 has the number of its cells (2 bytes), the sender's node (2 bytes) and up
 * to 28 cells of 53 bytes.  A node takes cells whose VPI is its own number, and gives them the
 * sender's: virtual paths are switched, as in a network.  With AAL0 the socket's 52 bytes are a
 * cell (as the SBA-100); with AAL5 PDUs are cut and joined here (as the SBA-200).
 */
#include <asm/unaligned.h>
#include <linux/atmdev.h>
#include <linux/crc32.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#define WIRE_TYPE 0x88b6
#define CELLS_MAX 28
#define CELL 53
#define HEADER 4

static char *interface = "eth0";
module_param(interface, charp, 0444);
static ushort node = 1;
module_param(node, ushort, 0444);

struct wire_vcc {
    struct hlist_node node;
    struct atm_vcc *vcc;
    struct sk_buff *sar;
    struct rcu_head rcu;
};

static struct net_device *fibre;
static struct atm_dev *adapter;
static struct packet_type wire_type;
static DEFINE_SPINLOCK(lock);
static struct hlist_head vccs[256];
static u8 hec_table[256];

static u8 hec(const u8 *h)
{
    u8 c = hec_table[h[0]];

    c = hec_table[c ^ h[1]];
    c = hec_table[c ^ h[2]];
    return 0x55 ^ hec_table[c ^ h[3]];
}

static int wire_open(struct atm_vcc *vcc)
{
    struct wire_vcc *w;

    if (vcc->vpi == ATM_VPI_UNSPEC || vcc->vci == ATM_VCI_UNSPEC)
        return 0;
    if (vcc->qos.aal != ATM_AAL0 && vcc->qos.aal != ATM_AAL5)
        return -EPROTONOSUPPORT;
    w = kzalloc(sizeof(*w), GFP_KERNEL);
    if (!w)
        return -ENOMEM;
    w->vcc = vcc;
    if (vcc->qos.aal == ATM_AAL5) {
        w->sar = alloc_skb(vcc->qos.rxtp.max_sdu + 8 + 47, GFP_KERNEL);
        if (!w->sar) {
            kfree(w);
            return -ENOMEM;
        }
    }
    vcc->dev_data = w;
    spin_lock_bh(&lock);
    hlist_add_head_rcu(&w->node, &vccs[vcc->vci & 255]);
    spin_unlock_bh(&lock);
    set_bit(ATM_VF_ADDR, &vcc->flags);
    set_bit(ATM_VF_PARTIAL, &vcc->flags);
    set_bit(ATM_VF_READY, &vcc->flags);
    return 0;
}

static void wire_close(struct atm_vcc *vcc)
{
    struct wire_vcc *w = vcc->dev_data;

    if (!w)
        return;
    spin_lock_bh(&lock);
    hlist_del_rcu(&w->node);
    spin_unlock_bh(&lock);
    synchronize_net();
    kfree_skb(w->sar);
    kfree(w);
    vcc->dev_data = NULL;
    clear_bit(ATM_VF_READY, &vcc->flags);
    clear_bit(ATM_VF_PARTIAL, &vcc->flags);
    clear_bit(ATM_VF_ADDR, &vcc->flags);
}

static struct sk_buff *frame(unsigned int cells)
{
    struct sk_buff *f = alloc_skb(LL_RESERVED_SPACE(fibre) + HEADER + cells * CELL, GFP_ATOMIC);

    if (!f)
        return NULL;
    skb_reserve(f, LL_RESERVED_SPACE(fibre));
    skb_reset_network_header(f);
    f->dev = fibre;
    f->protocol = htons(WIRE_TYPE);
    put_unaligned_be16(cells, skb_put(f, 2));
    put_unaligned_be16(node, skb_put(f, 2));
    return f;
}

static void launch(struct sk_buff *f)
{
    if (dev_hard_header(f, fibre, WIRE_TYPE, fibre->broadcast, fibre->dev_addr, f->len) < 0)
        kfree_skb(f);
    else
        dev_queue_xmit(f);
}

static void head(u8 *c, struct atm_vcc *vcc, u8 pti)
{
    put_unaligned_be32(vcc->vpi << 20 | vcc->vci << 4 | pti, c);
    c[4] = hec(c);
}

static int wire_send(struct atm_vcc *vcc, struct sk_buff *skb)
{
    struct sk_buff *f;
    int error = 0;

    if (vcc->qos.aal == ATM_AAL0) {
        u8 *c;
        u32 h;

        if (skb->len != ATM_AAL0_SDU) {
            error = -EINVAL;
            goto out;
        }
        f = frame(1);
        if (!f) {
            error = -ENOBUFS;
            goto out;
        }
        c = skb_put(f, CELL);
        memcpy(&h, skb->data, 4); /* in the machine's order; the VC is not the socket's to choose */
        head(c, vcc, h & 15);
        memcpy(c + 5, skb->data + 4, 48);
        launch(f);
    } else {
        unsigned int length = skb->len, cells = (length + 8 + 47) / 48, at = 0, i = 0;
        u32 crc = crc32_be(~0, skb->data, length);

        while (i < cells) {
            unsigned int n = min(cells - i, (unsigned int)CELLS_MAX);

            f = frame(n);
            if (!f) {
                error = -ENOBUFS;
                goto out;
            }
            for (; n; n--, i++) {
                u8 *c = skb_put(f, CELL);
                unsigned int take = min(length - at, 48u);

                head(c, vcc, i + 1 == cells ? 2 : 0);
                memcpy(c + 5, skb->data + at, take);
                memset(c + 5 + take, 0, 48 - take);
                at += take;
                if (i + 1 < cells) {
                    if (take < 48)
                        crc = crc32_be(crc, c + 5 + take, 48 - take);
                } else {
                    put_unaligned_be16(length, c + 5 + 42);
                    crc = ~crc32_be(crc, c + 5 + take, 44 - take);
                    put_unaligned_be32(crc, c + 5 + 44);
                }
            }
            launch(f);
        }
    }
    atomic_inc(&vcc->stats->tx);
out:
    if (vcc->pop)
        vcc->pop(vcc, skb);
    else
        dev_kfree_skb(skb);
    return error;
}

static void deliver(struct atm_vcc *vcc, const u8 *data, unsigned int length)
{
    struct sk_buff *skb = dev_alloc_skb(length);

    if (!skb) {
        atomic_inc(&vcc->stats->rx_drop);
        return;
    }
    if (!atm_charge(vcc, skb->truesize)) {
        kfree_skb(skb);
        return;
    }
    skb_put_data(skb, data, length);
    vcc->push(vcc, skb);
    atomic_inc(&vcc->stats->rx);
}

static void take(const u8 *c, int from)
{
    int vpi = (c[0] & 15) << 4 | c[1] >> 4, vci = (c[1] & 15) << 12 | c[2] << 4 | c[3] >> 4;
    struct wire_vcc *w;

    if (hec(c) != c[4] || vpi != node)
        return;
    hlist_for_each_entry_rcu(w, &vccs[vci & 255], node)
    {
        struct atm_vcc *vcc = w->vcc;
        unsigned int length;

        if (vcc->vci != vci || vcc->vpi != from || vcc->qos.rxtp.traffic_class == ATM_NONE)
            continue;
        if (vcc->qos.aal == ATM_AAL0) {
            u8 b[52];
            u32 h = from << 20 | (get_unaligned_be32(c) & 0xfffff);

            memcpy(b, &h, 4);
            memcpy(b + 4, c + 5, 48);
            deliver(vcc, b, 52);
            return;
        }
        if (skb_tailroom(w->sar) < 48)
            skb_trim(w->sar, 0);
        skb_put_data(w->sar, c + 5, 48);
        if (!(c[3] & 2))
            return;
        length = get_unaligned_be16(c + 5 + 42);
        if ((length + 8 + 47) / 48 * 48 == w->sar->len &&
            crc32_be(~0, w->sar->data, w->sar->len) == 0xc704dd7b)
            deliver(vcc, w->sar->data, length);
        else
            atomic_inc(&vcc->stats->rx_err);
        skb_trim(w->sar, 0);
        return;
    }
}

static int wire_receive(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
                        struct net_device *orig)
{
    unsigned int cells, i;
    int from;

    skb = skb_share_check(skb, GFP_ATOMIC);
    if (!skb)
        return NET_RX_DROP;
    if (dev == fibre && !skb_linearize(skb) && skb->len >= HEADER) {
        cells = get_unaligned_be16(skb->data);
        from = get_unaligned_be16(skb->data + 2);
        for (i = 0; i < cells && HEADER + (i + 1) * CELL <= skb->len; i++)
            take(skb->data + HEADER + i * CELL, from);
    }
    consume_skb(skb);
    return NET_RX_SUCCESS;
}

static const struct atmdev_ops wire_ops = {
    .open = wire_open,
    .close = wire_close,
    .send = wire_send,
    .owner = THIS_MODULE,
};

static int __init wire_init(void)
{
    int i, b;

    for (i = 0; i < 256; i++) {
        u8 h = i;

        for (b = 0; b < 8; b++)
            h = h << 1 ^ (h & 0x80 ? 7 : 0);
        hec_table[i] = h;
    }
    fibre = dev_get_by_name(&init_net, interface);
    if (!fibre)
        return -ENODEV;
    adapter = atm_dev_register("adapter", NULL, &wire_ops, -1, NULL);
    if (!adapter) {
        dev_put(fibre);
        return -ENOMEM;
    }
    adapter->ci_range.vpi_bits = 8;
    adapter->ci_range.vci_bits = 16;
    adapter->link_rate = ATM_OC3_PCR;
    wire_type.type = htons(WIRE_TYPE);
    wire_type.func = wire_receive;
    dev_add_pack(&wire_type);
    return 0;
}

static void __exit wire_exit(void)
{
    dev_remove_pack(&wire_type);
    atm_dev_deregister(adapter);
    dev_put(fibre);
}

module_init(wire_init);
module_exit(wire_exit);
MODULE_DESCRIPTION("ATM cells over an Ethernet, for tests");
MODULE_LICENSE("Dual BSD/GPL");
