/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks that the heaps lie in huge pages where the system has them for us.
 */
#include "check.h"
#include "library.h"
#include "memory/huge_file.h"

#include <unistd.h>

#define HUGE (2ul << 20)
#define FIRST (4ul << 20) /* bytes of a heap that may lie in small pages whatever the rest does */

/* What a file of /proc has behind `name` on a line, after the line that `begins` if any. */
static long number_in(const char *file, uint64_t address, const char *name)
{
    FILE *lines = fopen(file, "r");
    size_t length = strlen(name);
    bool here = address == 0;
    char line[512];
    long number = -1;

    EXPECT(lines != NULL);
    while (number < 0 && fgets(line, sizeof line, lines)) {
        unsigned long start, end;

        if (address && sscanf(line, "%lx-%lx ", &start, &end) == 2)
            here = start <= address && address < end;
        else if (here && strncmp(line, name, length) == 0)
            number = strtol(line + length, NULL, 10);
    }
    fclose(lines);
    return number;
}

static long huge_kib_at(const void *object)
{
    return number_in("/proc/self/smaps", (uint64_t)object, "ShmemPmdMapped:");
}

/* How often the kernel had no huge page left. */
static long fallbacks(void)
{
    return number_in("/proc/vmstat", 0, "thp_file_fallback ");
}

/* Whether we can have them: the administrator may deny them to all shared memory. */
static bool possible(void)
{
    FILE *policy = fopen("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "r");
    char line[128] = "";
    int fd = splitc_huge_file();

    if (policy && fgets(line, sizeof line, policy) == NULL)
        line[0] = 0;
    if (policy)
        fclose(policy);
    if (fd >= 0)
        close(fd);
    return policy && fd >= 0 && !strstr(line, "[deny]");
}

/* Touch the object here, or a peer's window of it. */
static void expect_pages(char *object, bool wanted, long before)
{
    long kib;

    object += FIRST;
    memset(object, 1, 2 * HUGE);
    kib = huge_kib_at(object);
    if (!wanted)
        EXPECT_EQ(0, kib);
    else if (kib <= 0 && possible())
        EXPECT(fallbacks() > before);
}

static void huge_pages(void)
{
    bool wanted = strcmp(check_argv[0], "wanted") == 0;
    long before = fallbacks();
    splitc_ptr area = splitc_all_spread_malloc(ranks(), FIRST + 2 * HUGE);
    char *private = malloc(FIRST + 2 * HUGE);

    EXPECT(private != NULL);
    if (my_rank() == 0) /* the others' come into being through windows */
        for (int rank = 0; rank < ranks(); rank++)
            expect_pages(splitc_near(splitc_make(rank, splitc_address(area))), wanted, before);
    expect_pages(private, wanted, before);
    splitc_barrier();
    free(private);
    splitc_all_spread_free(area);
}

const struct check huge_checks[] = {
    {"huge_pages", huge_pages},
    {NULL, NULL},
};
