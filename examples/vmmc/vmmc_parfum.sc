/* A volume is rendered in the manner of PARFUM (VMMC-2's paper, 7.3.2): rank 0 has the queue of
 * tasks and the image, all others have the volume and cast rays.  Who is ready gets the next task,
 * so that nobody waits for a slow one; small tasks balance better, and cost more messages.
 *   splitcc -O2 vmmc_parfum.sc -lvmmc -o vmmc_parfum
 *   unetrun -n 4 ./vmmc_parfum IMAGE.pgm [SIDE [TASK]]     (SIDE x SIDE pixels, TASK of them at once) */
#include <errno.h>
#include <math.h>
#include <split-c/gam.h>
#include <split-c/split-c.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vmmc/vmmc.h>

enum {
    IMAGE = 1, VOLUME = 2, TASKS = 3, /* names of buffers */
    SECRET = 0x1997,
    EDGE = 64,                        /* of the volume, in voxels of a byte */
    VOLUME_BYTES = EDGE * EDGE * EDGE,
    SIDE_MOST = 4096,
    AHEAD = 2 /* tasks that a worker has, so that it need not wait for the next one */
};

/* Pixels of the image, which rank 0 writes into a worker's memory; none: there are no more. */
struct task {
    uint32_t first, count;
};

static struct vmmc *v;
static unsigned side = 256, task_pixels = 250;

static void die(const char *what, int error)
{
    fprintf(stderr, "vmmc_parfum: rank %d: %s: %s\n", MYPROC, what, strerror(error));
    exit(1);
}

static void need(int rc, const char *what)
{
    if (rc < 0)
        die(what, -rc);
}

static void *get(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (!memory)
        die("memory", ENOMEM);
    return memory;
}

/* ---- rendering ---------------------------------------------------------------------------- */

/* Some shells around two centers. */
static void make_volume(unsigned char *volume)
{
    for (int z = 0; z < EDGE; z++)
        for (int y = 0; y < EDGE; y++)
            for (int x = 0; x < EDGE; x++) {
                const double a = hypot(hypot(x - 24, y - 32), z - 32);
                const double b = hypot(hypot(x - 44, y - 28), z - 24);

                volume[(z * EDGE + y) * EDGE + x] =
                    (unsigned char)(a < 20 || b < 14 ? 60 + 40 * sin(a / 2) + 30 * cos(b) : 0);
            }
}

/* A ray goes through the volume, which is turned a little, until what it has met is opaque. */
static unsigned char cast_ray(const unsigned char *volume, unsigned pixel)
{
    const double scale = (double)EDGE / side;
    const double x = (pixel % side) * scale - EDGE / 2, y = (pixel / side) * scale - EDGE / 2;
    double light = 0, clear = 1;

    for (double depth = -EDGE; depth < EDGE && clear > 0.02; depth += 0.5) {
        const int vx = (int)(x * 0.8 - depth * 0.6 + EDGE / 2), vy = (int)(y + EDGE / 2);
        const int vz = (int)(x * 0.6 + depth * 0.8 + EDGE / 2);
        double density;

        if (vx < 0 || vx >= EDGE || vy < 0 || vy >= EDGE || vz < 0 || vz >= EDGE)
            continue;
        density = volume[(vz * EDGE + vy) * EDGE + vx] / 1024.0;
        light += clear * density * (255 - 2 * vz);
        clear *= 1 - density;
    }
    return (unsigned char)(light > 255 ? 255 : light);
}

/* ---- workers ------------------------------------------------------------------------------- */

struct worker {
    unsigned char *volume, *pixels;
    struct task task[AHEAD]; /* written by rank 0, in turn */
    struct vmmc_imported *image;
    int done;
};

static void work(struct vmmc_exported *e, void *arg, const struct vmmc_notification *n)
{
    struct worker *w = arg;
    const struct task task = w->task[n->tag % AHEAD];

    (void)e;
    w->done = task.count == 0;
    for (uint32_t i = 0; i < task.count; i++)
        w->pixels[i] = cast_ray(w->volume, task.first + i);
    if (task.count > 0)
        need(vmmc_send(w->image, task.first, w->pixels, task.count, VMMC_NOTIFY, n->tag),
             "vmmc_send");
}

static void run_worker(void)
{
    struct worker w = {.volume = get(VOLUME_BYTES), .pixels = get(task_pixels)};
    struct vmmc_exported *volume, *tasks;

    need(vmmc_export(v, VOLUME, SECRET, 0, w.volume, VOLUME_BYTES, 0, NULL, NULL, &volume),
         "vmmc_export");
    need(vmmc_import(v, 0, IMAGE, SECRET, 10000, &w.image, NULL), "vmmc_import");
    need(vmmc_export(v, TASKS, SECRET, 0, w.task, sizeof w.task, 0, work, &w, &tasks),
         "vmmc_export");
    while (!w.done)
        need(vmmc_wait(v, -1), "vmmc_wait");
    vmmc_unexport(tasks);
    vmmc_unexport(volume);
    free(w.volume);
    free(w.pixels);
}

/* ---- the controller ------------------------------------------------------------------------ */

struct controller {
    struct vmmc_imported **tasks;
    uint32_t *given; /* by worker */
    uint32_t next, rendered; /* pixels */
};

static void give(struct controller *c, int worker)
{
    const uint32_t left = side * side - c->next;
    const struct task task = {c->next, left < task_pixels ? left : task_pixels};
    const uint32_t tag = c->given[worker]++;

    need(vmmc_send(c->tasks[worker], tag % AHEAD * sizeof task, &task, sizeof task, VMMC_NOTIFY,
                   tag),
         "vmmc_send");
    c->next += task.count;
}

/* A worker's pixels are in place. */
static void rendered(struct vmmc_exported *e, void *arg, const struct vmmc_notification *n)
{
    struct controller *c = arg;

    (void)e;
    c->rendered += (uint32_t)n->length;
    if (c->next < side * side)
        give(c, (int)n->source - 1);
}

static void hand_out_volume(struct controller *c, int workers)
{
    unsigned char *volume = get(VOLUME_BYTES);

    make_volume(volume);
    for (int i = 0; i < workers; i++) {
        struct vmmc_imported *theirs;

        need(vmmc_import(v, i + 1, VOLUME, SECRET, 10000, &theirs, NULL), "vmmc_import");
        need(vmmc_send(theirs, 0, volume, VOLUME_BYTES, 0, 0), "vmmc_send");
        vmmc_unimport(theirs);
        need(vmmc_import(v, i + 1, TASKS, SECRET, 10000, &c->tasks[i], NULL), "vmmc_import");
    }
    free(volume);
}

static void write_image(const char *path, const unsigned char *image)
{
    FILE *f = fopen(path, "wb");

    if (!f || fprintf(f, "P5\n%u %u\n255\n", side, side) < 0 ||
        fwrite(image, 1, side * side, f) != side * side || fclose(f) != 0)
        die(path, errno);
}

static void run_controller(const char *path)
{
    const int workers = PROCS - 1;
    struct controller c = {.tasks = get((size_t)workers * sizeof *c.tasks),
                           .given = get((size_t)workers * sizeof *c.given)};
    unsigned char *image = get(side * side);
    struct vmmc_exported *e;
    double seconds;

    need(vmmc_export(v, IMAGE, SECRET, VMMC_ANYBODY, image, side * side, 0, rendered, &c, &e),
         "vmmc_export");
    hand_out_volume(&c, workers);
    seconds = get_seconds();
    for (int i = 0; i < workers * AHEAD && c.next < side * side; i++)
        give(&c, i % workers);
    while (c.rendered < side * side)
        need(vmmc_wait(v, -1), "vmmc_wait");
    seconds = get_seconds() - seconds;
    for (int i = 0; i < workers; i++)
        give(&c, i); /* nothing: the end */
    write_image(path, image);
    printf("%u x %u pixels by %d workers\n", side, side, workers);
    fprintf(stderr, "tasks of %u pixels, %.3f s; of each worker:", task_pixels, seconds);
    for (int i = 0; i < workers; i++)
        fprintf(stderr, " %u", c.given[i] - 1);
    fprintf(stderr, "\n");
    vmmc_unexport(e);
    free(image);
    free(c.tasks);
    free(c.given);
}

/* The number of an argument, 1 to `most`; 0: it is none. */
static unsigned number(const char *text, unsigned long most)
{
    char *end;
    const unsigned long n = strtoul(text, &end, 10);

    return *text >= '0' && *text <= '9' && *end == '\0' && n <= most ? (unsigned)n : 0;
}

int splitc_main(int argc, char **argv)
{
    uint32_t first;
    struct gam *g = splitc_gam(VMMC_HANDLERS, &first);

    if (argc > 2)
        side = number(argv[2], SIDE_MOST);
    if (argc > 3)
        task_pixels = number(argv[3], SIDE_MOST * SIDE_MOST);
    if (PROCS < 2 || argc < 2 || argc > 4 || side == 0 || task_pixels == 0) {
        on_one fprintf(stderr, "vmmc_parfum: usage: unetrun -n RANKS ./vmmc_parfum IMAGE.pgm [SIDE [TASK]]\n"
                               "at least 2 ranks; SIDE is 1 to %d, TASK 1 to %d pixels\n",
                       SIDE_MOST, SIDE_MOST * SIDE_MOST);
        return 2;
    }
    need(vmmc_open(g, first, &v), "vmmc_open");
    if (MYPROC == 0)
        run_controller(argv[1]);
    else
        run_worker();
    barrier();
    vmmc_close(v);
    return 0;
}
