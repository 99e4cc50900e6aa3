/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xdp_program.c - which frames of an interface come to the service past the kernel's network stack.
 *
 * Those of U-Net, to the interface's address, for a port that an endpoint of ours has, and no
 * longer than a buffer.  All else goes on to the kernel: other protocols, the ports of packet
 * sockets (backend eth) and of the kernel module, and what comes to a queue of the card without a
 * socket.
 *
 * The program hangs on the interface by a link, which goes with the process.
 */
#include "unetni/xdp.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <stddef.h>
#include <string.h>
#include <unet/unet_frame.h>
#include <unistd.h>

enum { LOG_BYTES = 16384, QUEUES = 64 };

/* Registers, and what is in them. */
enum { R0, R1, R2, R3, DATA, END, CONTEXT, FRAME = 10 };

static uint32_t first_of(const uint8_t mac[ETH_ALEN])
{
    uint32_t word;

    memcpy(&word, mac, sizeof word);
    return word;
}

static uint16_t rest_of(const uint8_t mac[ETH_ALEN])
{
    uint16_t word;

    memcpy(&word, mac + 4, sizeof word);
    return word;
}

static int program_load(const struct xdp_program *p, const uint8_t own[ETH_ALEN], uint32_t most)
{
    enum { TO_PORT = ETH_HLEN + offsetof(struct unet_frame, to_port), PASS = 28 };
    const struct bpf_insn code[] = {
        /* 0: the frame, if its headers are there and it fits into a buffer */
        {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = CONTEXT, .src_reg = R1},
        {.code = BPF_LDX | BPF_MEM | BPF_W,
         .dst_reg = DATA,
         .src_reg = R1,
         .off = offsetof(struct xdp_md, data)},
        {.code = BPF_LDX | BPF_MEM | BPF_W,
         .dst_reg = END,
         .src_reg = R1,
         .off = offsetof(struct xdp_md, data_end)},
        {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = R2, .src_reg = DATA},
        {.code = BPF_ALU64 | BPF_ADD | BPF_K,
         .dst_reg = R2,
         .imm = ETH_HLEN + sizeof(struct unet_frame)},
        {.code = BPF_JMP | BPF_JGT | BPF_X, .dst_reg = R2, .src_reg = END, .off = PASS - 6},
        {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = R2, .src_reg = END},
        {.code = BPF_ALU64 | BPF_SUB | BPF_X, .dst_reg = R2, .src_reg = DATA},
        {.code = BPF_JMP | BPF_JGT | BPF_K, .dst_reg = R2, .imm = (int)most, .off = PASS - 9},
        /* 9: of U-Net, and to our address */
        {.code = BPF_LDX | BPF_MEM | BPF_H,
         .dst_reg = R2,
         .src_reg = DATA,
         .off = offsetof(struct ethhdr, h_proto)},
        {.code = BPF_JMP | BPF_JNE | BPF_K,
         .dst_reg = R2,
         .imm = htons(UNET_ETHERTYPE),
         .off = PASS - 11},
        {.code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = R2, .src_reg = DATA},
        {.code = BPF_JMP32 | BPF_JNE | BPF_K,
         .dst_reg = R2,
         .imm = (int)first_of(own),
         .off = PASS - 13},
        {.code = BPF_LDX | BPF_MEM | BPF_H, .dst_reg = R2, .src_reg = DATA, .off = 4},
        {.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = R2, .imm = rest_of(own), .off = PASS - 15},
        /* 15: for a port of ours */
        {.code = BPF_LDX | BPF_MEM | BPF_H, .dst_reg = R2, .src_reg = DATA, .off = TO_PORT},
        {.code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = FRAME, .src_reg = R2, .off = -4},
        {.code = BPF_LD | BPF_IMM | BPF_DW,
         .dst_reg = R1,
         .src_reg = BPF_PSEUDO_MAP_FD,
         .imm = p->ports},
        {0},
        {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = R2, .src_reg = FRAME},
        {.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = R2, .imm = -4},
        {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem},
        {.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = R0, .imm = 0, .off = PASS - 23},
        /* 23: to the socket of its queue, or on if that has none */
        {.code = BPF_LDX | BPF_MEM | BPF_W,
         .dst_reg = R2,
         .src_reg = CONTEXT,
         .off = offsetof(struct xdp_md, rx_queue_index)},
        {.code = BPF_LD | BPF_IMM | BPF_DW,
         .dst_reg = R1,
         .src_reg = BPF_PSEUDO_MAP_FD,
         .imm = p->sockets},
        {0},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = R3, .imm = XDP_PASS},
        {.code = BPF_JMP | BPF_JA, .off = 2},
        /* 28: PASS */
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = R0, .imm = XDP_PASS},
        {.code = BPF_JMP | BPF_EXIT},
        /* 30 */
        {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map},
        {.code = BPF_JMP | BPF_EXIT},
    };

    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a port is loaded as it lies");
    return bpf_prog_load(BPF_PROG_TYPE_XDP, "unetni", "Dual BSD/GPL", code,
                         sizeof code / sizeof *code, NULL);
}

/* The driver's own way if it has one; otherwise that of the kernel, which works everywhere. */
static int program_attach(int program, int interface)
{
    LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_DRV_MODE);
    int link = bpf_link_create(program, interface, BPF_XDP, &options);

    if (link < 0 && errno != EBUSY && errno != EPERM) {
        options.flags = XDP_FLAGS_SKB_MODE;
        link = bpf_link_create(program, interface, BPF_XDP, &options);
    }
    return link;
}

const char *xdp_program_open(struct xdp_program *p, int interface, const uint8_t own[ETH_ALEN],
                             uint32_t most)
{
    LIBBPF_OPTS(bpf_map_create_opts, sparse, .map_flags = BPF_F_NO_PREALLOC);

    *p = (struct xdp_program){-1, -1, -1, -1};
    p->sockets = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "unetni_sockets", 4, 4, QUEUES, NULL);
    if (p->sockets < 0)
        return "a program for frames needs CAP_BPF and CAP_NET_ADMIN, or root";
    p->ports = bpf_map_create(BPF_MAP_TYPE_HASH, "unetni_ports", 4, 4, UINT16_MAX + 1, &sparse);
    if (p->ports < 0)
        return "a program for frames needs CAP_BPF and CAP_NET_ADMIN, or root";
    p->program = program_load(p, own, most);
    if (p->program < 0)
        return "the kernel refuses the program for frames (--wire packet needs none)";
    p->link = program_attach(p->program, interface);
    if (p->link < 0)
        return errno == EBUSY ? "has another XDP program (see ip link; --wire packet needs none)"
                              : "takes no XDP program (--wire packet needs none)";
    return NULL;
}

void xdp_program_close(struct xdp_program *p)
{
    const int files[] = {p->link, p->program, p->ports, p->sockets};

    for (unsigned i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0)
            close(files[i]);
}

int xdp_program_set_port(const struct xdp_program *p, uint16_t port, bool ours)
{
    const uint32_t key = port, value = 1;

    if (ours)
        return bpf_map_update_elem(p->ports, &key, &value, BPF_ANY);
    return bpf_map_delete_elem(p->ports, &key);
}
