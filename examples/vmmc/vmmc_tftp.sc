/* Files as by TFTP (RFC 1350): rank 0 has a folder, and rank 1 reads a file of it, or writes one, in
 * numbered blocks each of which is acknowledged.  A block that is not full is the last.
 *   splitcc -O2 vmmc_tftp.sc -lvmmc -o vmmc_tftp
 *   unetrun -n 2 ./vmmc_tftp FOLDER get NAME FILE
 *   unetrun -n 2 ./vmmc_tftp FOLDER put FILE NAME */
#include <errno.h>
#include <split-c/gam.h>
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vmmc/vmmc.h>

enum { PACKETS = 1, SECRET = 0x1997, BLOCK = 8192 };
enum op { READ = 1, WRITE, DATA, ACK, REFUSED };

/* What one rank writes into the other's memory; `length` bytes of `data` come with it. */
struct packet {
    uint32_t op, block, length;
    char data[BLOCK];
};

static struct vmmc *v;
static struct vmmc_imported *peer;
static struct packet in, out;
static int has_come;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "vmmc_tftp: rank %d: %s: %s\n", MYPROC, what, why);
    exit(1);
}

static void need(int rc, const char *what)
{
    if (rc < 0)
        die(what, strerror(-rc));
}

/* ---- packets ------------------------------------------------------------------------ */

static void packet_came(struct vmmc_exported *e, void *arg, const struct vmmc_notification *n)
{
    (void)e, (void)arg, (void)n;
    has_come = 1;
}

static void packet_send(enum op op, uint32_t block, uint32_t length)
{
    out.op = op;
    out.block = block;
    out.length = length;
    need(vmmc_send(peer, 0, &out, offsetof(struct packet, data) + length, VMMC_NOTIFY, 0),
         "vmmc_send");
}

static void packet_send_text(enum op op, const char *text)
{
    snprintf(out.data, sizeof out.data, "%s", text);
    packet_send(op, 0, (uint32_t)strlen(out.data) + 1);
}

/* The other waits for our answer, so that `in` stays as it is until then. */
static void packet_await(void)
{
    while (!has_come)
        need(vmmc_wait(v, -1), "vmmc_wait");
    has_come = 0;
    if (in.length > BLOCK)
        die("the other rank", "a packet longer than a block");
    if (in.op == REFUSED)
        die("rank 0 refuses", in.length > 0 && in.data[in.length - 1] == 0 ? in.data : "no reason");
}

static void packet_expect(enum op op, uint32_t block)
{
    packet_await();
    if (in.op != op || in.block != block)
        die("the other rank", "a packet out of turn");
}

/* ---- transfers ---------------------------------------------------------------------- */

static unsigned long send_file(FILE *f, const char *name)
{
    unsigned long bytes = 0;
    size_t n = BLOCK;

    for (uint32_t block = 1; n == BLOCK; block++) {
        n = fread(out.data, 1, BLOCK, f);
        if (ferror(f))
            die(name, strerror(errno));
        packet_send(DATA, block, (uint32_t)n);
        packet_expect(ACK, block);
        bytes += n;
    }
    return bytes;
}

/* The first block has come. */
static unsigned long receive_file(FILE *f, const char *name)
{
    unsigned long bytes = 0;

    for (uint32_t block = 1;; block++) {
        const uint32_t n = in.length;

        if (in.op != DATA || in.block != block)
            die("the other rank", "a packet out of turn");
        if (fwrite(in.data, 1, n, f) != n || fflush(f) != 0)
            die(name, strerror(errno));
        packet_send(ACK, block, 0);
        bytes += n;
        if (n < BLOCK)
            return bytes;
        packet_await();
    }
}

static FILE *open_or_die(const char *name, const char *mode)
{
    FILE *f = fopen(name, mode);

    if (!f)
        die(name, strerror(errno));
    return f;
}

/* ---- the two ranks -------------------------------------------------------------------- */

static int is_name(const struct packet *p)
{
    return p->length > 1 && p->data[p->length - 1] == 0 && strlen(p->data) == p->length - 1 &&
           !strchr(p->data, '/');
}

static void run_server(const char *folder)
{
    char path[BLOCK + 4096];
    FILE *f;

    packet_await();
    if (!is_name(&in) || (in.op != READ && in.op != WRITE)) {
        packet_send_text(REFUSED, "that is no name of a file in the folder");
        return;
    }
    snprintf(path, sizeof path, "%s/%s", folder, in.data);
    f = fopen(path, in.op == READ ? "rb" : "wb");
    if (!f) {
        packet_send_text(REFUSED, strerror(errno));
        return;
    }
    if (in.op == READ) {
        send_file(f, path);
    } else {
        packet_send(ACK, 0, 0);
        packet_await();
        receive_file(f, path);
    }
    fclose(f);
}

static void run_client(int writes, const char *from, const char *to)
{
    unsigned long bytes;
    FILE *f;

    if (writes) {
        f = open_or_die(from, "rb");
        packet_send_text(WRITE, to);
        packet_expect(ACK, 0);
        bytes = send_file(f, from);
    } else {
        packet_send_text(READ, from);
        packet_await();
        f = open_or_die(to, "wb");
        bytes = receive_file(f, to);
    }
    fclose(f);
    printf("%lu bytes in %lu blocks\n", bytes, bytes / BLOCK + 1);
}

int splitc_main(int argc, char **argv)
{
    const int writes = argc == 5 && strcmp(argv[2], "put") == 0;
    struct vmmc_exported *mine;
    uint32_t first;
    struct gam *g = splitc_gam(VMMC_HANDLERS, &first);

    if (PROCS != 2 || argc != 5 || (!writes && strcmp(argv[2], "get") != 0) ||
        strlen(argv[1]) > 4000 || strlen(argv[3]) >= BLOCK || strlen(argv[4]) >= BLOCK) {
        on_one fprintf(stderr, "vmmc_tftp: usage: unetrun -n 2 ./vmmc_tftp FOLDER get NAME FILE\n"
                               "              or: unetrun -n 2 ./vmmc_tftp FOLDER put FILE NAME\n");
        return 2;
    }
    need(vmmc_open(g, first, &v), "vmmc_open");
    need(vmmc_export(v, PACKETS, SECRET, 1 - MYPROC, &in, sizeof in, 0, packet_came, NULL, &mine),
         "vmmc_export");
    need(vmmc_import(v, 1 - MYPROC, PACKETS, SECRET, 10000, &peer, NULL), "vmmc_import");
    if (MYPROC == 0)
        run_server(argv[1]);
    else
        run_client(writes, argv[3], argv[4]);
    barrier();
    vmmc_close(v);
    return 0;
}
