/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "status.h"

#include "caller.h"
#include "library.h"
#include "network.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct splitc_status unseen; /* written where there is no page */
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

static struct splitc_status *find_page(const char *setting)
{
    const char *colon = strrchr(setting, ':');
    char file[128];

    if (!colon || (size_t)(colon - setting) >= sizeof file)
        return NULL;
    memcpy(file, setting, (size_t)(colon - setting));
    file[colon - setting] = '\0';
    return map_page(file, (off_t)strtoll(colon + 1, NULL, 10));
}

void splitc_status_open(void)
{
    const char *setting = getenv("SPLITC_STATUS");
    struct splitc_status *found = setting ? find_page(setting) : NULL;

    if (found)
        page = found;
    page->magic = SPLITC_STATUS_MAGIC;
}

/* ---- writing it --------------------------------------------------------------------- */

static void show_wait(const struct splitc_wait *w)
{
    size_t n = strnlen(w->what, sizeof page->what - 1);

    page->waits++;
    page->whom = w->whom;
    page->began = (uint64_t)(1e9 * splitc_get_seconds());
    page->wait_pc = 0;
    memcpy(page->what + 1, w->what + 1, n > 0 ? n - 1 : 0);
    page->what[n] = '\0';
    __atomic_store_n(&page->what[0], w->what[0], __ATOMIC_RELEASE); /* now readers see the wait */
}

void splitc_status_wait_slept(const struct splitc_event *e)
{
    page->gets = splitc_runtime.gets;
    page->puts = splitc_runtime.puts;
    page->stored = e->stored;
    page->landed = e->landed;
    page->taken = splitc_runtime.consumed;
    if (page->wait_pc == 0)
        page->wait_pc = splitc_caller();
}

/* Messages of attempts that failed are not counted; neither is one under way, which may fail. */
static void show_traffic(const struct splitc_wait *w)
{
    struct reliable_stats traffic;

    splitc_network_stats(&traffic);
    page->tries = w->tries;
    page->sent = traffic.messages_sent - splitc_runtime.vain_far - w->trying;
    page->received = traffic.messages_received - splitc_runtime.vain_far;
    page->held = traffic.queued || gam_holds_back(splitc_runtime.gam);
    page->sending = !gam_settled(splitc_runtime.gam);
}

/* The page is empty again where a wait within this one has ended. */
void splitc_status_wait_continued(const struct splitc_event *e)
{
    struct splitc_wait *w = e->wait;

    if (!w->shown || page->what[0] == '\0') {
        w->shown = true;
        show_wait(w);
    }
    show_traffic(w);
    __atomic_store_n(&page->looks, page->looks + 1, __ATOMIC_RELEASE);
}

void splitc_status_wait_ended(const struct splitc_event *e)
{
    if (e->wait->shown)
        __atomic_store_n(&page->what[0], '\0', __ATOMIC_RELEASE);
}

void splitc_status_arrived(const struct splitc_event *e)
{
    __atomic_store_n(&page->arrivals, page->arrivals + e->n, __ATOMIC_RELEASE);
}

void splitc_status_fault(const struct splitc_event *e)
{
    page->fault_pc = e->n;
}
