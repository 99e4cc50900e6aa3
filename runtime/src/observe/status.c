/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* O_CLOEXEC, _dl_find_object */
#include "status.h"

#include "caller.h"
#include "library.h"
#include "network.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct splitc_status unseen; /* written where there is no page */
static struct splitc_status *page = &unseen;
static bool wants_stack; /* SPLITC_BACKTRACE */

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

    const char *stack = getenv("SPLITC_BACKTRACE");

    if (found)
        page = found;
    wants_stack = found && stack && strcmp(stack, "1") == 0;
    page->magic = SPLITC_STATUS_MAGIC;
}

bool splitc_status_is_seen(void)
{
    return page != &unseen;
}

/* ---- places in code ------------------------------------------------------------------- */

/* The index of a file's name, which is added; names of others may fill the page. */
static uint64_t object_index(const char *name)
{
    const size_t length = strlen(name);
    uint64_t i = 1;

    if (length == 0)
        return 0;
    while (i < SPLITC_OBJECTS && page->object[i][0] && strcmp(page->object[i], name) != 0)
        i++;
    if (i == SPLITC_OBJECTS || length >= SPLITC_OBJECT_NAME)
        return SPLITC_OBJECTS;
    if (!page->object[i][0])
        memcpy(page->object[i], name, length + 1);
    return i;
}

/* _dl_find_object takes no lock, so this works in a signal handler. */
static struct splitc_code code_at(uint64_t pc)
{
    struct dl_find_object found;

    if (pc == 0 || _dl_find_object((void *)(uintptr_t)pc, &found) != 0)
        return (struct splitc_code){.at = pc, .object = pc ? SPLITC_OBJECTS : 0};
    return (struct splitc_code){.at = pc - found.dlfo_link_map->l_addr,
                                .object = object_index(found.dlfo_link_map->l_name)};
}

/* ---- writing it --------------------------------------------------------------------- */

static void show_wait(const struct splitc_wait *w)
{
    size_t n = strnlen(w->what, sizeof page->what - 1);

    page->waits++;
    page->whom = w->whom;
    page->began = (uint64_t)(1e9 * splitc_get_seconds());
    page->wait = (struct splitc_code){0};
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
    if (page->wait.at == 0)
        page->wait = code_at(splitc_caller());
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
    if (!splitc_runtime.own_threads) /* another of them may end the wait */
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

static void show_stack(uint64_t pc)
{
    uint64_t frame[SPLITC_FRAMES];
    const size_t frames = splitc_caller_stack(pc, frame, SPLITC_FRAMES);

    for (size_t i = 0; i < frames; i++)
        page->frame[i] = code_at(frame[i]);
    __atomic_store_n(&page->frames, frames, __ATOMIC_RELEASE);
}

/* What fails in a function of another library is told as its call. */
void splitc_status_fault(const struct splitc_event *e)
{
    page->fault = code_at(splitc_caller_owns(e->n) ? e->n : splitc_caller());
    if (wants_stack)
        show_stack(e->n);
}
