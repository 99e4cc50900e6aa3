/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "program.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LANES 4u /* looked at side by side, as each multiplication waits for the last one */

static uint64_t digest_word(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * 0x9e3779b97f4a7c15ul;
    return digest ^ digest >> 29;
}

static uint64_t digest_code(uint64_t digest, const char *code, uint64_t size)
{
    uint64_t lane[LANES] = {digest, 1, 2, 3}, word[LANES] = {0};
    uint64_t at = 0;

    for (; at + sizeof word <= size; at += sizeof word) {
        memcpy(word, code + at, sizeof word);
        for (unsigned i = 0; i < LANES; i++)
            lane[i] = digest_word(lane[i], word[i]);
    }
    memcpy(word, code + at, size - at);
    for (unsigned i = 0; i < LANES; i++)
        digest = digest_word(digest_word(digest, lane[i]), word[i]);
    return digest;
}

/* From the file, as debuggers change the code that is loaded. */
static uint64_t digest_code_of_file(uint64_t digest, int fd, const ElfW(Phdr) * segment)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), skip = segment->p_offset % page;
    const uint64_t size = skip + segment->p_filesz;
    char *code = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, (off_t)(segment->p_offset - skip));

    if (code == MAP_FAILED)
        return 0;
    digest = digest_code(digest, code + skip, segment->p_filesz);
    munmap(code, size);
    return digest;
}

struct digesting {
    int fd;
    uint64_t digest; /* 0: it has failed */
};

/* Addresses are relative to where the program is loaded. */
static int digest_executable(struct dl_phdr_info *executable, size_t size, void *arg)
{
    struct digesting *d = arg;

    (void)size;
    for (int i = 0; i < executable->dlpi_phnum && d->digest; i++) {
        const ElfW(Phdr) *p = &executable->dlpi_phdr[i];

        if (p->p_type != PT_LOAD)
            continue;
        d->digest = digest_word(digest_word(d->digest, p->p_vaddr), p->p_memsz << 8 | p->p_flags);
        if (p->p_flags & PF_X)
            d->digest = digest_code_of_file(d->digest, d->fd, p);
    }
    return 1; /* the executable comes first: stop */
}

/* By its name: under valgrind /proc/self/exe itself opens valgrind. */
static int open_executable(void)
{
    char name[4096];
    const ssize_t length = readlink("/proc/self/exe", name, sizeof name - 1);

    if (length < 0)
        return -1;
    name[length] = '\0';
    return open(name, O_RDONLY | O_CLOEXEC);
}

uint64_t splitc_program_digest(void)
{
    struct digesting d = {.fd = open_executable(), .digest = 1};

    if (d.fd < 0)
        return 0;
    dl_iterate_phdr(digest_executable, &d);
    close(d.fd);
    return d.digest;
}
