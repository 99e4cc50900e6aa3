/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "status.h"
#include "job/endpoints.h"

#include "runtime.h"

#include "caller.h"
#include "library.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct splitc_status unseen;
static struct splitc_status *page = &unseen;

/* ---- finding it ------------------------------------------------------------------- */

static struct splitc_status *map_page(const char *file, off_t offset)
{
    int fd = open(file, O_RDWR | O_CLOEXEC);
    struct stat status;
    void *at = MAP_FAILED;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && offset >= 0 && offset % SPLITC_STATUS_BYTES == 0 &&
        status.st_size - (off_t)SPLITC_STATUS_BYTES >= offset)
        at = mmap(NULL, SPLITC_STATUS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

static struct splitc_status *find_page(const char *told)
{
    const char *colon = strrchr(told, ':');
    char file[128];

    if (!colon || (size_t)(colon - told) >= sizeof file)
        return NULL;
    memcpy(file, told, (size_t)(colon - told));
    file[colon - told] = '\0';
    return map_page(file, (off_t)strtoll(colon + 1, NULL, 10));
}

void splitc_status_open(void)
{
    const char *told = getenv("SPLITC_STATUS");
    struct splitc_status *found = told ? find_page(told) : NULL;

    if (found)
        page = found;
    page->magic = SPLITC_STATUS_MAGIC;
}

/* ---- writing it --------------------------------------------------------------------- */

static void show(const struct splitc_wait *w)
{
    size_t n = strnlen(w->what, sizeof page->what - 1);

    page->waits++;
    page->whom = w->whom;
    page->began = (uint64_t)(1e9 * splitc_get_seconds());
    page->wait_pc = 0;
    memcpy(page->what + 1, w->what + 1, n > 0 ? n - 1 : 0);
    page->what[n] = '\0';
    __atomic_store_n(&page->what[0], w->what[0], __ATOMIC_RELEASE); /* now it counts */
}

void splitc_status_counts(void)
{
    page->gets = splitc_runtime.gets;
    page->puts = splitc_runtime.puts;
    splitc_store_counts(&page->stored, &page->landed);
    page->taken = splitc_runtime.consumed;
    if (page->wait_pc == 0)
        page->wait_pc = splitc_caller();
}

/* A try that is under way may turn out to be in vain. */
static void show_traffic(const struct splitc_wait *w)
{
    struct reliable_stats traffic;

    splitc_endpoints_stats(&traffic);
    page->tries = w->tries;
    page->sent = traffic.messages_sent - splitc_runtime.vain_far - w->trying;
    page->received = traffic.messages_received - splitc_runtime.vain_far;
    page->held = traffic.queued || gam_holds_back(splitc_runtime.gam);
    page->sending = !gam_settled(splitc_runtime.gam);
}

void splitc_status_waits(struct splitc_wait *w)
{
    if (!w->shown || page->what[0] == '\0') { /* a wait within it has ended */
        w->shown = true;
        show(w);
    }
    show_traffic(w);
    __atomic_store_n(&page->looks, page->looks + 1, __ATOMIC_RELEASE);
}

void splitc_status_runs(void)
{
    __atomic_store_n(&page->what[0], '\0', __ATOMIC_RELEASE);
}

void splitc_status_arrived(uint64_t messages)
{
    __atomic_store_n(&page->arrivals, page->arrivals + messages, __ATOMIC_RELEASE);
}

void splitc_status_fault(uint64_t pc)
{
    page->fault_pc = pc;
}
