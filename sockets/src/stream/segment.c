/* SPDX-License-Identifier: BSD-3-Clause
 *
 * segment.c - make and map the memory of a connection.
 */
#include "stream/segment.h"
#include "real/real.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Memory that its maker could truncate would kill whoever reads it (SIGBUS). */
enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

static struct sockets_segment *map(int fd)
{
    void *p = mmap(NULL, sizeof(struct sockets_segment), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return p == MAP_FAILED ? NULL : p;
}

int sockets_segment_make(struct sockets_segment **segment)
{
    const int fd = memfd_create("unetsock-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct sockets_segment *s = NULL;

    if (fd < 0)
        return -errno;
    if (ftruncate(fd, sizeof(*s)) < 0 || sockets_real.fcntl(fd, F_ADD_SEALS, SEALS) < 0 ||
        !(s = map(fd))) {
        const int error = errno;
        sockets_real.close(fd);
        return -error;
    }
    s->magic = SOCKETS_SEGMENT_MAGIC;
    s->version = SOCKETS_SEGMENT_VERSION;
    for (int i = 0; i < 2; i++) {
        struct sockets_direction *dir = i ? &s->to_client : &s->to_server;

        dir->sent = SOCKETS_UNKNOWN;
        dir->taken = SOCKETS_UNKNOWN;
        dir->log = SOCKETS_RING_LOG_MIN;
    }
    *segment = s;
    return fd;
}

int sockets_segment_map(int fd, struct sockets_segment **segment)
{
    const int seals = sockets_real.fcntl(fd, F_GET_SEALS);
    struct sockets_segment *s;
    struct stat st;

    if (seals < 0 || (seals & SEALS) != SEALS || (seals & F_SEAL_WRITE) || fstat(fd, &st) < 0 ||
        st.st_size != (off_t)sizeof(*s))
        return -EPROTO;
    if (!(s = map(fd)))
        return -errno;
    if (s->magic != SOCKETS_SEGMENT_MAGIC || s->version != SOCKETS_SEGMENT_VERSION) {
        sockets_segment_unmap(s);
        return -EPROTO;
    }
    *segment = s;
    return 0;
}

void sockets_segment_unmap(struct sockets_segment *segment)
{
    munmap(segment, sizeof(*segment));
}
