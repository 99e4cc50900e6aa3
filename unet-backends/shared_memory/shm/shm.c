/* SPDX-License-Identifier: BSD-3-Clause
 *
 * shm.c - endpoints of processes on one node.
 *
 * An endpoint's area is a memfd.  A peer opens it, and the doorbell, through
 * /proc/<pid>/fd: there is no server, no listening socket and no name in any file
 * system, the kernel checks that the peer may look into the process (other users
 * may not), and nothing is left when the process ends, however it ends.
 *
 * The address says where to look; the nonce in it must be that of the area found
 * there.  A pid may have been given to another process meanwhile: the nonce unmasks
 * that for the area, and the pidfd, taken first and still alive last, for the rest.
 */
#include "shared_memory/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHM_MAGIC 0x6d687355u /* "Ushm" */
#define SHM_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct shm_address {
    uint32_t magic;
    int32_t pid;
    int32_t area; /* file descriptors of that process */
    int32_t bell; /* -1: polled */
    uint64_t nonce[2];
};
_Static_assert(sizeof(struct shm_address) <= UNET_ADDRESS_MAX, "the address fits");

/* ---- our own area --------------------------------------------------------------- */

/* Growing a file beyond this limit would raise a signal, which ends the process. */
static bool file_size_limited(uint64_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes;
}

static int shm_make_memory(uint64_t bytes)
{
    int fd;

    if (file_size_limited(bytes))
        return -EFBIG;
    fd = memfd_create("unet-endpoint", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    /* Sealed, so that nobody can make another's access to it a SIGBUS. */
    if (fchmod(fd, S_IRUSR | S_IWUSR) < 0 || ftruncate(fd, (off_t)bytes) < 0 ||
        fcntl(fd, F_ADD_SEALS, SHM_SEALS) < 0) {
        int error = -errno;

        close(fd);
        return error;
    }
    return fd;
}

static int shm_map_memory(int fd, uint64_t bytes, void **memory)
{
    void *area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

    if (area == MAP_FAILED)
        return -errno;
    *memory = area;
    return 0;
}

static void shm_set_address(struct sm_endpoint *se, const uint64_t nonce[2])
{
    struct shm_address own = {
        .magic = SHM_MAGIC, .pid = getpid(), .area = se->fd, .bell = se->ni.ep.bell[1]};

    memcpy(own.nonce, nonce, sizeof own.nonce);
    unet_ni_set_address(&se->ni, &own, sizeof own);
}

static int shm_create(struct sm_endpoint *se, const uint64_t nonce[2], uint64_t bytes,
                      void **memory)
{
    int error;

    se->fd = shm_make_memory(bytes);
    if (se->fd < 0)
        return se->fd;
    error = shm_map_memory(se->fd, bytes, memory);
    if (error)
        close(se->fd);
    else
        shm_set_address(se, nonce);
    return error;
}

static void shm_destroy(struct sm_endpoint *se)
{
    munmap(se->own.header, se->own.bytes);
    close(se->fd);
}

/* ---- a peer's area --------------------------------------------------------------- */

/* What a failure to open something of another process means to unet_connect. */
static int reach_error(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return -EACCES;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return -error;
    default:
        return -EHOSTUNREACH;
    }
}

static int shm_open_theirs(int32_t pid, int32_t fd)
{
    char path[64];
    int ours;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    ours = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return ours >= 0 ? ours : reach_error(errno);
}

/* Check that it is a sealed area of our own user before trusting its size. */
static int shm_map_area(int fd, struct sm_area *area)
{
    struct stat status;
    void *memory = NULL;
    int seals = fcntl(fd, F_GET_SEALS);
    int error;

    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &status) < 0)
        return -EHOSTUNREACH;
    if (status.st_uid != geteuid())
        return -EACCES;
    error = shm_map_memory(fd, (uint64_t)status.st_size, &memory);
    if (error)
        return reach_error(-error);
    if (unet_sm_area_view(area, memory, (uint64_t)status.st_size) < 0) {
        munmap(memory, (size_t)status.st_size);
        return -EHOSTUNREACH;
    }
    return 0;
}

static int shm_reach_area(const struct shm_address *address, struct sm_area *area)
{
    int fd = shm_open_theirs(address->pid, address->area);
    int error;

    if (fd < 0)
        return fd;
    error = shm_map_area(fd, area);
    close(fd);
    if (error == 0 && memcmp(area->nonce, address->nonce, sizeof area->nonce) != 0) {
        munmap(area->header, area->bytes);
        error = -EHOSTUNREACH;
    }
    return error;
}

/* Opened for reading too: a pipe whose reader has died would otherwise answer the next
 * ring with SIGPIPE. */
static int shm_reach_bell(const struct shm_address *address, const struct sm_area *area, int *bell)
{
    struct stat status;
    int fd;

    *bell = -1;
    if (area->polled)
        return 0;
    fd = shm_open_theirs(address->pid, address->bell);
    if (fd < 0)
        return fd;
    if (fstat(fd, &status) < 0 || !S_ISFIFO(status.st_mode)) {
        close(fd);
        return -EHOSTUNREACH;
    }
    *bell = fd;
    return 0;
}

static void shm_leave(struct sm_peer *peer)
{
    if (peer->bell >= 0)
        close(peer->bell);
    if (peer->area.header)
        munmap(peer->area.header, peer->area.bytes);
    if (peer->process >= 0)
        close(peer->process);
}

static int shm_read_address(const struct unet_address *address, struct shm_address *shm)
{
    if (address->length != sizeof *shm)
        return -EADDRNOTAVAIL;
    memcpy(shm, address->bytes, sizeof *shm);
    if (shm->magic != SHM_MAGIC || shm->pid <= 0 || shm->area < 0)
        return -EADDRNOTAVAIL;
    return 0;
}

/* Valgrind 3.19 does not know the call, and tells the user at length. */
static bool in_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return preloaded && strstr(preloaded, "/vgpreload_");
}

static int open_pidfd(pid_t pid)
{
    if (in_valgrind()) {
        errno = ENOSYS;
        return -1;
    }
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static int shm_reach(const struct unet_address *address, struct sm_peer *peer)
{
    struct sm_peer p = {.bell = -1, .process = -1};
    struct shm_address shm;
    int error = shm_read_address(address, &shm);

    if (error)
        return error;
    p.process = open_pidfd(shm.pid);
    if (p.process < 0 && errno != ENOSYS) /* else only the launcher notices its end */
        return reach_error(errno);
    error = shm_reach_area(&shm, &p.area);
    if (error == 0)
        error = shm_reach_bell(&shm, &p.area, &p.bell);
    if (error == 0 && unet_sm_has_ended(p.process))
        error = -EHOSTUNREACH;
    if (error) {
        shm_leave(&p);
        return error;
    }
    *peer = p;
    return 0;
}

static const struct sm_transport shm_transport = {
    .create = shm_create,
    .destroy = shm_destroy,
    .reach = shm_reach,
    .leave = shm_leave,
};

/* ---- the backend ------------------------------------------------------------------ */

static int shm_open_endpoint(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    return unet_sm_open(&unet_shm_ops, &shm_transport,
                        UNET_CAP_RELIABLE | UNET_CAP_ORDERED | UNET_CAP_DIRECT | UNET_CAP_REMOTE,
                        config, endpoint);
}

static const struct unet_remedy shm_remedies[] = {
    {-ENOSYS, "the kernel, or a sandbox, lacks memfd_create"},
    {-EFBIG,
     "raise the limit of file sizes (ulimit -f), which holds for shared memory, too, or have "
     "messages go over the network (--backend udp)"},
    {0, NULL}};

const struct unet_ops unet_shm_ops = {
    .name = "shm",
    .remedies = shm_remedies,
    .open = shm_open_endpoint,
    .close = unet_sm_close,
    .address = unet_ni_address,
    .connect = unet_sm_connect,
    .disconnect = unet_sm_disconnect,
    .state = unet_sm_update,
    .kick = unet_sm_kick,
    .progress = unet_sm_progress,
    .wait = unet_ni_wait,
};
