/* A striped file is read by rank 0 from all other ranks at once: stripe k from server k modulo
 * their number, straight to its place in rank 0's memory.  Then rank 0 writes it.
 *   splitcc -O2 vmmc_striped.sc -lvmmc -o vmmc_striped
 *   unetrun -n 4 ./vmmc_striped FILE COPY [STRIPE]      (FILE has to be there for all ranks) */
#include <errno.h>
#include <fcntl.h>
#include <split-c/gam.h>
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vmmc/vmmc.h>

enum { REQUESTS = 1, DATA = 2, SECRET = 0x1997, STRIPE = 65536, STRIPE_MOST = 1 << 24 };

/* What rank 0 writes into a server's memory.  One at a time; one of no bytes is the last. */
struct request {
    uint64_t offset, length;
};

static struct vmmc *v;

static void die(const char *what, int error)
{
    fprintf(stderr, "vmmc_striped: rank %d: %s: %s\n", MYPROC, what, strerror(error));
    exit(1);
}

static void need(int rc, const char *what)
{
    if (rc < 0)
        die(what, -rc);
}

/* ---- servers -------------------------------------------------------------------------- */

struct server {
    const char *path;
    int fd;
    struct request asked;
    unsigned char *stripe;
    struct vmmc_imported *client;
    int done;
};

static void serve(struct vmmc_exported *e, void *arg, const struct vmmc_notification *n)
{
    struct server *s = arg;
    size_t have = 0;

    (void)e, (void)n;
    s->done = s->asked.length == 0;
    while (have < s->asked.length) {
        const ssize_t got = pread(s->fd, s->stripe + have, s->asked.length - have,
                                  (off_t)(s->asked.offset + have));

        if (got <= 0)
            die(s->path, got < 0 ? errno : ENODATA);
        have += (size_t)got;
    }
    if (have > 0)
        need(vmmc_send(s->client, 0, s->stripe, have, 0, 0), "vmmc_send");
}

static void run_server(const char *path, size_t stripe)
{
    struct server s = {.path = path, .fd = open(path, O_RDONLY), .stripe = malloc(stripe)};
    struct vmmc_exported *e;

    if (s.fd < 0)
        die(path, errno);
    if (!s.stripe)
        die("a stripe", ENOMEM);
    need(vmmc_import(v, 0, DATA + MYPROC, SECRET, 10000, &s.client, NULL), "vmmc_import");
    need(vmmc_export(v, REQUESTS, SECRET, 0, &s.asked, sizeof s.asked, 0, serve, &s, &e),
         "vmmc_export");
    while (!s.done)
        need(vmmc_wait(v, -1), "vmmc_wait");
    vmmc_unexport(e);
    close(s.fd);
    free(s.stripe);
}

/* ---- the client ------------------------------------------------------------------------- */

/* One of the servers, as rank 0 sees it. */
struct source {
    struct vmmc_exported *data;
    struct vmmc_imported *requests;
    unsigned char *buffer; /* where bytes land that are not redirected */
    size_t next;           /* the stripe to ask for, or that it was asked for */
    uint64_t expected;     /* bytes of it in all */
    size_t length;         /* of the stripe on its way, or 0 */
};

static unsigned char *image;
static size_t size, redirected;

static void ask(struct source *s, size_t stripe)
{
    const size_t offset = s->next * stripe;
    struct request request = {offset, 0};

    if (offset < size)
        request.length = size - offset < stripe ? size - offset : stripe;
    s->length = request.length;
    s->expected += request.length;
    if (request.length > 0)
        need(vmmc_redirect(s->data, 0, image + offset, request.length), "vmmc_redirect");
    need(vmmc_send(s->requests, 0, &request, sizeof request, VMMC_NOTIFY, 0), "vmmc_send");
}

/* What was not redirected is copied, which is always possible. */
static void take(struct source *s, size_t stripe)
{
    unsigned char *to = image + s->next * stripe;
    struct vmmc_redirected r;

    need(vmmc_redirect_end(s->data, &r), "vmmc_redirect_end");
    memcpy(to, s->buffer, r.first);
    memcpy(to + r.first + r.placed, s->buffer + r.first + r.placed, r.last);
    redirected += r.placed;
}

static void read_stripes(struct source *source, int servers, size_t stripe)
{
    int busy = 0;

    for (int i = 0; i < servers; i++) {
        ask(&source[i], stripe);
        busy += source[i].length > 0;
    }
    while (busy > 0) {
        int moved = 0;

        for (int i = 0; i < servers; i++) {
            struct source *s = &source[i];

            if (s->length == 0 || vmmc_arrived(s->data) < s->expected)
                continue;
            take(s, stripe);
            s->next += (size_t)servers;
            ask(s, stripe);
            busy -= s->length == 0;
            moved = 1;
        }
        if (busy > 0 && !moved)
            need(vmmc_wait(v, -1), "vmmc_wait");
    }
}

static void write_copy(const char *path)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(image, 1, size, f) != size || fclose(f) != 0)
        die(path, errno);
}

static void run_client(const char *path, const char *copy, size_t stripe)
{
    const int servers = PROCS - 1;
    struct source *source = calloc((size_t)servers, sizeof *source);
    double seconds = get_seconds();
    struct stat file;

    if (stat(path, &file) < 0)
        die(path, errno);
    size = (size_t)file.st_size;
    image = malloc(size + 1);
    if (!source || !image)
        die("memory for the file", ENOMEM);
    for (int i = 0; i < servers; i++) {
        source[i].buffer = malloc(stripe);
        source[i].next = (size_t)i;
        need(source[i].buffer ? 0 : -ENOMEM, "a stripe");
        need(vmmc_export(v, DATA + 1 + i, SECRET, i + 1, source[i].buffer, stripe,
                         VMMC_REDIRECTABLE, NULL, NULL, &source[i].data),
             "vmmc_export");
    }
    for (int i = 0; i < servers; i++)
        need(vmmc_import(v, i + 1, REQUESTS, SECRET, 10000, &source[i].requests, NULL),
             "vmmc_import");
    read_stripes(source, servers, stripe);
    seconds = get_seconds() - seconds;
    write_copy(copy);
    printf("%zu bytes from %d servers, %.0f %% redirected\n", size, servers,
           size ? 100.0 * (double)redirected / (double)size : 100.0);
    fprintf(stderr, "%.1f MB/s, reading the file included\n", (double)size / seconds / 1e6);
    for (int i = 0; i < servers; i++) {
        vmmc_unexport(source[i].data);
        free(source[i].buffer);
    }
    free(source);
    free(image);
}

int splitc_main(int argc, char **argv)
{
    const long stripe = argc > 3 ? atol(argv[3]) : STRIPE;
    uint32_t first;
    struct gam *g = splitc_gam(VMMC_HANDLERS, &first);

    if (PROCS < 2 || argc < 3 || stripe < 1 || stripe > STRIPE_MOST) {
        on_one fprintf(stderr, "vmmc_striped: usage: unetrun -n RANKS ./vmmc_striped FILE COPY [STRIPE]\n"
                               "at least 2 ranks; STRIPE is 1 to %d bytes\n", STRIPE_MOST);
        return 2;
    }
    need(vmmc_open(g, first, &v), "vmmc_open");
    if (MYPROC == 0)
        run_client(argv[1], argv[2], (size_t)stripe);
    else
        run_server(argv[1], (size_t)stripe);
    barrier();
    vmmc_close(v);
    return 0;
}
