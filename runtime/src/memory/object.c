/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* memfd_create, dl_iterate_phdr, MAP_FIXED_NOREPLACE */
#include "object.h"

#include "huge_file.h"
#include "library.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPREAD_START (SPLITC_HIGH + (12ul << 30))
#define STACK_MAX (8ul << 30)
#define HEAP_ALIGNMENT (1ul << 30)
#define PAGE 4096ul            /* no architecture we run on has smaller ones */
#define HUGE_PAGE_SECONDS 1e-3 /* small ones take as long; it should be a tenth */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* ---- where everything lies ----------------------------------------------------- */

/* The writable segment of the executable, without what the loader has made read-only again. */
static int find_statics(struct dl_phdr_info *executable, size_t size, void *found)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin = 0, end = 0, read_only_end = 0;
    struct splitc_range *statics = found;

    (void)size;
    for (int i = 0; i < executable->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &executable->dlpi_phdr[i];
        uint64_t start = executable->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_GNU_RELRO)
            read_only_end = start + p->p_memsz;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W)) {
            begin = start;
            end = start + p->p_memsz;
        }
    }
    begin = begin < read_only_end ? round_up(read_only_end, page) : begin / page * page;
    *statics = (struct splitc_range){.start = begin, .size = round_up(end, page) - begin};
    return 1; /* the executable comes first: stop */
}

static uint64_t stack_size(void)
{
    struct rlimit limit;

    if (&splitc_wants_stack || getrlimit(RLIMIT_STACK, &limit) < 0 ||
        limit.rlim_cur == RLIM_INFINITY)
        return SPLITC_LARGE_STACK;
    return round_up(limit.rlim_cur < STACK_MAX ? limit.rlim_cur : STACK_MAX, 16 * PAGE);
}

static void lay_out(struct splitc_memory *m, uint64_t spread_size, uint64_t heap_size)
{
    uint64_t heap = round_up(SPREAD_START + spread_size, HEAP_ALIGNMENT);

    dl_iterate_phdr(find_statics, &m->part[SPLITC_STATICS]);
    m->part[SPLITC_STACK] = (struct splitc_range){SPLITC_HIGH, stack_size()};
    m->part[SPLITC_SPREAD] = (struct splitc_range){SPREAD_START, spread_size};
    m->part[SPLITC_HEAP] = (struct splitc_range){heap, heap_size};
}

/* ---- making and mapping it --------------------------------------------------------- */

/* Seal the size, so that no process can make the access of another a SIGBUS.  A file of a tmpfs
 * cannot be sealed, but it has no name by which others could open it. */
static int seal_size(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);

    return seals < 0 || seals & F_SEAL_SEAL ? 0 : fcntl(fd, F_ADD_SEALS, SEALS);
}

static int make_object(const struct splitc_memory *m, bool huge, int *fd)
{
    int made = huge ? splitc_huge_file() : -1;
    int error;

    if (made < 0)
        made = memfd_create("splitc-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made < 0)
        return -errno;
    if (fchmod(made, S_IRUSR | S_IWUSR) == 0 && ftruncate(made, (off_t)splitc_object_top(m)) == 0 &&
        seal_size(made) == 0 && pwrite(made, m->nonce, sizeof m->nonce, 0) == sizeof m->nonce) {
        *fd = made;
        return 0;
    }
    error = -errno;
    close(made);
    return error;
}

void splitc_object_limit_core(uint64_t start, uint64_t size)
{
    if (size > SPLITC_DUMPED)
        madvise((void *)(start + SPLITC_DUMPED), size - SPLITC_DUMPED, MADV_DONTDUMP);
}

void splitc_object_advise(const struct splitc_memory *m, enum splitc_part part, uint64_t start,
                          uint64_t size)
{
    const bool heap = part == SPLITC_SPREAD || part == SPLITC_HEAP;
    const uint64_t small = heap && m->small_first < size ? m->small_first : size;

    madvise((void *)start, small, MADV_NOHUGEPAGE);
    madvise((void *)(start + small), size - small, MADV_HUGEPAGE);
    splitc_object_limit_core(start, size);
}

static int map_part(const struct splitc_memory *m, enum splitc_part part)
{
    const struct splitc_range *r = &m->part[part];
    void *at =
        mmap((void *)r->start, r->size, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED | MAP_NORESERVE, m->fd, (off_t)splitc_object_offset(r->start));

    if (at == MAP_FAILED)
        return -errno;
    splitc_object_advise(m, part, r->start, r->size);
    return 0;
}

/* The system is to map nothing else between the parts, where peers would look for it in the object,
 * nor where the stack overflows. */
static int reserve_quarter(const struct splitc_memory *m)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *at = mmap((void *)SPLITC_QUARTER, splitc_object_top(m), PROT_NONE, flags, -1, 0);

    if (at == MAP_FAILED)
        return -errno;
    if (at == (void *)SPLITC_QUARTER)
        return 0;
    munmap(at, splitc_object_top(m)); /* an old kernel took the address for a hint */
    return -EEXIST;
}

static void unmap_parts(const struct splitc_memory *m)
{
    munmap((void *)SPLITC_QUARTER, splitc_object_top(m));
}

static int map_parts(const struct splitc_memory *m)
{
    int error = reserve_quarter(m);

    if (error)
        return error;
    for (enum splitc_part part = SPLITC_STACK; part < SPLITC_PARTS && error == 0; part++)
        error = map_part(m, part);
    if (error)
        unmap_parts(m);
    return error;
}

/* Where the host of a virtual machine takes free memory back, a huge page costs the guest
 * milliseconds.  The small pages in its place cost as much together, but a program that needs
 * little memory touches few of them. */
static void try_huge_page(struct splitc_memory *m)
{
    const struct splitc_range *heap = &m->part[SPLITC_HEAP];
    double begun = splitc_get_seconds();

    *(volatile char *)heap->start = 0; /* malloc will use it */
    if (splitc_get_seconds() - begun < HUGE_PAGE_SECONDS)
        return;
    m->small_first = SPLITC_SMALL_FIRST;
    for (enum splitc_part part = SPLITC_SPREAD; part < SPLITC_PARTS; part++)
        splitc_object_advise(m, part, m->part[part].start, m->part[part].size);
}

/* Growing a file beyond this limit would raise a signal. */
static bool file_size_limited(uint64_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes;
}

int splitc_object_open(struct splitc_memory *m, uint64_t spread_size, uint64_t heap_size, bool huge,
                       const char **why)
{
    int error = -EFBIG;

    lay_out(m, spread_size, heap_size);
    *why = "the static objects take more than 4 GiB";
    if (splitc_range_end(&m->part[SPLITC_STATICS]) > SPLITC_STATICS_MAX)
        return error;
    *why = "the limit of file sizes (ulimit -f)";
    if (file_size_limited(splitc_object_top(m)))
        return error;
    *why = "getrandom";
    if (getrandom(m->nonce, sizeof m->nonce, 0) != sizeof m->nonce)
        return -errno;
    *why = "memfd_create";
    error = make_object(m, huge, &m->fd);
    if (error)
        return error;
    *why = "reserving addresses from 64 TiB on";
    m->small_first = huge ? 0 : UINT64_MAX;
    error = map_parts(m);
    if (error)
        close(m->fd);
    else if (huge)
        try_huge_page(m);
    return error;
}

void splitc_object_close(struct splitc_memory *m)
{
    unmap_parts(m);
    close(m->fd);
}

/* ---- the static objects ---------------------------------------------------------------- */

static bool page_is_zero(const char *page)
{
    return page[0] == 0 && memcmp(page, page + 1, PAGE - 1) == 0;
}

/* Pages of zeros are left out, so that they need no memory until they are written. */
static int copy_statics(const struct splitc_memory *m)
{
    const struct splitc_range *r = &m->part[SPLITC_STATICS];

    for (uint64_t at = r->start; at < splitc_range_end(r); at += PAGE) {
        if (page_is_zero((const char *)at))
            continue;
        if (pwrite(m->fd, (const void *)at, PAGE, (off_t)at) != (ssize_t)PAGE)
            return errno ? -errno : -EIO;
    }
    return 0;
}

int splitc_object_move_statics(const struct splitc_memory *m)
{
    int error = copy_statics(m);

    return error ? error : map_part(m, SPLITC_STATICS);
}

/* ---- after fork -------------------------------------------------------------------------- */

/* Copy `size` bytes of the object from offset `start` on, without its holes. */
static int copy_range(int fd, uint64_t start, uint64_t size, char *copy)
{
    const uint64_t end = start + size;
    uint64_t at = start;

    while (at < end) {
        off_t data = lseek(fd, (off_t)at, SEEK_DATA);
        off_t hole;

        if (data < 0 || (uint64_t)data >= end)
            return data < 0 && errno != ENXIO ? -errno : 0; /* ENXIO: nothing but holes */
        hole = lseek(fd, data, SEEK_HOLE);
        for (at = (uint64_t)data; at < end && at < (uint64_t)hole;) {
            uint64_t stop = (uint64_t)hole < end ? (uint64_t)hole : end;
            ssize_t n = pread(fd, copy + (at - start), stop - at, (off_t)at);

            if (n <= 0)
                return n < 0 ? -errno : -EIO;
            at += (uint64_t)n;
        }
    }
    return 0;
}

static int unshare_range(int fd, struct splitc_range r)
{
    void *copy = mmap(NULL, r.size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int error;

    if (copy == MAP_FAILED)
        return -errno;
    error = copy_range(fd, splitc_object_offset(r.start), r.size, copy);
    if (error == 0 &&
        mremap(copy, r.size, r.size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)r.start) == MAP_FAILED)
        error = -errno;
    return error;
}

int splitc_object_unshare(const struct splitc_memory *m)
{
    const struct splitc_memory copy = *m; /* because *m itself is replaced */

    for (enum splitc_part part = 0; part < SPLITC_PARTS; part++) {
        int error = unshare_range(copy.fd, copy.part[part]);

        if (error)
            return error;
    }
    return 0;
}

/* ---- giving back ---------------------------------------------------------------------------- */

void splitc_object_give_back(uint64_t start, uint64_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t first = round_up(start, page), end = (start + size) / page * page;

    /* Shared memory is a file: only a hole in it frees pages. */
    if (first < end && madvise((void *)first, end - first, MADV_REMOVE) < 0)
        madvise((void *)first, end - first, MADV_DONTNEED);
}
