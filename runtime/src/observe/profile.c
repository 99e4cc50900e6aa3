/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"

#include "library.h"

#include <stdio.h>
#include <stdlib.h>

#define LINES_MAX 40 /* printed */

/* The report of a rank about one site, as it is sent. */
struct site_report {
    uint64_t index; /* of the site in the list, which is the same on every rank */
    uint64_t local, remote, bytes, calls, waits;
    double waited;
};

static struct splitc_site elsewhere = {
    "(start, end, files compiled without)", 0, "-", NULL, 0, 0, 0, 0, 0, 0};
struct splitc_site *splitc_site = &elsewhere;

static struct splitc_site *first_site = &elsewhere;
static bool profile_wanted;
static struct splitc_site **site; /* at processor 0: all sites by their indices */
static uint64_t sites;
static uint32_t ended; /* ranks that have sent their whole report */

/* ---- counting --------------------------------------------------------------------------- */

void splitc_register_sites(struct splitc_site *last)
{
    struct splitc_site *s = last;

    while (s->next)
        s = s->next;
    s->next = first_site;
    first_site = last;
}

static void index_sites(void)
{
    for (struct splitc_site *s = first_site; s; s = s->next)
        sites++;
    site = calloc(sites, sizeof *site);
    if (!site)
        splitc_die("no memory for a profile of %lu lines", sites);
    sites = 0;
    for (struct splitc_site *s = first_site; s; s = s->next)
        site[sites++] = s;
}

void splitc_profile_open(void)
{
    const char *setting = getenv("SPLITC_PROFILE");

    if (!setting || strcmp(setting, "0") == 0)
        return;
    if (strcmp(setting, "1") != 0)
        splitc_die_together("SPLITC_PROFILE is \"%s\": it may be 1, to be told which lines made "
                            "remote accesses and waited, or 0",
                            setting);
    if (first_site == &elsewhere)
        splitc_die_together("there is nothing to profile (SPLITC_PROFILE): compile the program "
                            "with splitcc -fprofile-lines");
    profile_wanted = true;
    splitc_runtime.observed |= 1u << SPLITC_EVENT_WAIT_BEGUN | 1u << SPLITC_EVENT_MOVED;
    if (splitc_runtime.rank == 0)
        index_sites();
}

void splitc_profile_wait_begun(const struct splitc_event *e)
{
    e->wait->site = splitc_site;
}

void splitc_profile_wait_ended(const struct splitc_event *e)
{
    const struct splitc_wait *w = e->wait;

    if (!profile_wanted || !w->site)
        return;
    w->site->waits++;
    w->site->waited += splitc_get_seconds() - w->began;
}

void splitc_profile_moved(const struct splitc_event *e)
{
    if (e->peer == splitc_runtime.rank) {
        splitc_site->local++;
        return;
    }
    splitc_site->remote++;
    splitc_site->bytes += e->n;
}

/* ---- gathering -------------------------------------------------------------------------- */

static bool site_is_idle(const struct splitc_site *s)
{
    return s->local + s->remote + s->calls + s->waits == 0;
}

void splitc_on_profile(struct gam *g, const struct gam_message *m)
{
    struct site_report t;

    (void)g;
    if (m->length == 0) {
        ended++;
        return;
    }
    splitc_expect(m, site && m->length == sizeof t);
    memcpy(&t, m->data, sizeof t);
    splitc_expect(m, t.index < sites);
    site[t.index]->local += t.local;
    site[t.index]->remote += t.remote;
    site[t.index]->bytes += t.bytes;
    site[t.index]->calls += t.calls;
    site[t.index]->waits += t.waits;
    site[t.index]->waited += t.waited;
}

static void send_sites(void)
{
    uint64_t index = 0;

    for (const struct splitc_site *s = first_site; s; s = s->next, index++) {
        const struct site_report t = {.index = index,
                                      .local = s->local,
                                      .remote = s->remote,
                                      .bytes = s->bytes,
                                      .calls = s->calls,
                                      .waits = s->waits,
                                      .waited = s->waited};

        if (!site_is_idle(s))
            splitc_sent(0, gam_request_medium(splitc_runtime.gam, 0, SPLITC_MSG_PROFILE, &t,
                                              sizeof t, 0, NULL));
    }
    splitc_sent(0, gam_request_0(splitc_runtime.gam, 0, SPLITC_MSG_PROFILE));
}

/* ---- printing ----------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
    const struct splitc_site *x = *(struct splitc_site *const *)a;
    const struct splitc_site *y = *(struct splitc_site *const *)b;
    int order = strcmp(x->file, y->file);

    if (order == 0)
        order = x->line - y->line;
    return order ? order : strcmp(x->what, y->what);
}

static int compare_costs(const void *a, const void *b)
{
    const struct splitc_site *x = *(struct splitc_site *const *)a;
    const struct splitc_site *y = *(struct splitc_site *const *)b;

    if (x->waited != y->waited)
        return x->waited < y->waited ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return compare_places(a, b);
}

/* A line in a header has a site in each file that includes it, and an expression may have
 * several: add them up. */
static void merge_places(void)
{
    uint64_t kept = 0;

    qsort(site, sites, sizeof *site, compare_places);
    for (uint64_t i = 0; i < sites; i++) {
        if (kept == 0 || compare_places(&site[kept - 1], &site[i]) != 0) {
            site[kept++] = site[i];
            continue;
        }
        site[kept - 1]->local += site[i]->local;
        site[kept - 1]->remote += site[i]->remote;
        site[kept - 1]->bytes += site[i]->bytes;
        site[kept - 1]->calls += site[i]->calls;
        site[kept - 1]->waits += site[i]->waits;
        site[kept - 1]->waited += site[i]->waited;
    }
    sites = kept;
}

/* Local accesses, and calls that neither moved bytes nor waited, are not printed. */
static bool site_is_printed(const struct splitc_site *s)
{
    return s->remote + s->waits > 0;
}

static void print_site(FILE *out, const struct splitc_site *s)
{
    fprintf(out, "splitc: %9.3f %9lu %11lu %14lu %11lu  %-14s ", s->waited, s->waits, s->remote,
            s->bytes, s->local, s->what);
    if (s->line)
        fprintf(out, "%s:%d\n", s->file, s->line);
    else
        fprintf(out, "%s\n", s->file);
}

static void print_sites(FILE *out)
{
    uint64_t printed = 0, more = 0;

    fprintf(out, "splitc: %9s %9s %11s %14s %11s  %-14s %s\n", "waited s", "waits", "remote",
            "bytes", "local", "what", "where");
    for (uint64_t i = 0; i < sites; i++) {
        const struct splitc_site *s = site[i];

        if (!site_is_printed(s))
            continue;
        if (printed++ >= LINES_MAX)
            more++;
        else
            print_site(out, s);
    }
    if (more)
        fprintf(out, "splitc: and %lu lines that cost less\n", more);
    if (!printed)
        fprintf(out, "splitc: no line made a remote access, or waited\n");
}

static void print_profile(void)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return;
    merge_places();
    qsort(site, sites, sizeof *site, compare_costs);
    fprintf(out, "splitc: all %u ranks, line by line\n", splitc_runtime.ranks);
    print_sites(out);
    fclose(out);
    fwrite(text, 1, length, stderr);
    free(text);
}

static bool all_ended(void)
{
    return ended == splitc_runtime.ranks - 1;
}

void splitc_profile_report(splitc_await_fn *await)
{
    if (!profile_wanted)
        return;
    if (splitc_runtime.rank != 0) {
        send_sites();
        return;
    }
    await(all_ended, SPLITC_ANYBODY);
    print_profile();
}
