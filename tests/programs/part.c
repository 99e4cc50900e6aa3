/* SPDX-License-Identifier: BSD-3-Clause
 *
 * part.c - one of two programs of one job: SERVER answers requests, the other one asks every
 * server. They are in C over active messages, reach each other by udp, and know by PMIx who they
 * are: the servers are the first program of the job.
 */
#include <errno.h>
#include <gam/gam.h>
#include <inttypes.h>
#include <pmix.h>
#include <reliable/reliable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unet/unet.h>

enum { ASK = 1, ANSWER = 2 };
#define ROUNDS 20u

static pmix_proc_t me, everybody;
static uint64_t seen; /* requests that a server has had, or answers that a client has */

static void check(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, result == -1 ? "wrong" : PMIx_Error_string(result));
    exit(90);
}

static uint32_t number(const char *key, const pmix_info_t *qualifiers, size_t n)
{
    pmix_value_t *value;
    uint32_t found;

    check(PMIx_Get(&everybody, key, qualifiers, n, &value), key);
    found = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return found;
}

/* The ranks of the job's first program. */
static uint32_t server_count(void)
{
    const uint32_t program = 0;
    const bool about_program = true;
    pmix_info_t which[2];

    PMIX_INFO_LOAD(&which[0], PMIX_APP_INFO, &about_program, PMIX_BOOL);
    PMIX_INFO_LOAD(&which[1], PMIX_APPNUM, &program, PMIX_UINT32);
    return number(PMIX_APP_SIZE, which, 2);
}

static void publish(const struct unet_address *address)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
    pmix_info_t collect;
    const bool yes = true;

    value.data.bo.bytes = (char *)address;
    value.data.bo.size = sizeof *address;
    check(PMIx_Put(PMIX_GLOBAL, "part.address", &value), "PMIx_Put");
    check(PMIx_Commit(), "PMIx_Commit");
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    check(PMIx_Fence(&everybody, 1, &collect, 1), "PMIx_Fence");
}

static int resolve(void *arg, uint32_t rank, struct unet_address *address)
{
    struct unet_address lower;
    pmix_proc_t process = me;
    pmix_value_t *value;

    (void)arg;
    process.rank = rank;
    check(PMIx_Get(&process, "part.address", NULL, 0, &value), "PMIx_Get");
    check(value->data.bo.size == sizeof lower ? 0 : -1, "address");
    memcpy(&lower, value->data.bo.bytes, sizeof lower);
    PMIX_VALUE_RELEASE(value);
    return reliable_address(&lower, rank, address);
}

#ifdef SERVER
static void on_ask(struct gam *g, const struct gam_message *m)
{
    seen++;
    check(gam_reply_1(g, ANSWER, m->word[0] * m->word[0]), "reply");
}
#else
static uint64_t sum; /* of the answers */

static void on_answer(struct gam *g, const struct gam_message *m)
{
    (void)g;
    seen++;
    sum += m->word[0];
}
#endif

static struct gam *open_messages(struct unet_endpoint **endpoint, uint32_t ranks)
{
    struct reliable_config protect = {.ranks = ranks, .rank = me.rank, .key = {17, 4}};
    struct gam_config config = {
        .ranks = ranks, .rank = me.rank, .key = {17, 4}, .resolve = resolve};
    struct unet_config sizes = {0}, below = {0};
    struct unet_endpoint *lower;
    struct unet_address address;
    struct gam *g;

    reliable_lower_config(ranks, &below);
    gam_network_config(ranks, 0, &sizes);
    check(unet_open(unet_backend("udp"), &below, &lower) ? -1 : 0, "unet_open");
    unet_address(lower, &address);
    check(reliable_open(lower, &protect, &sizes, endpoint) ? -1 : 0, "reliable_open");
    publish(&address);
    check(gam_open(*endpoint, &config, &g) ? -1 : 0, "gam_open");
    return g;
}

static volatile int met;

static void all_have_come(pmix_status_t status, void *arg)
{
    (void)arg;
    __atomic_store_n(&met, status == PMIX_SUCCESS ? 1 : 2, __ATOMIC_RELEASE);
}

#ifdef SERVER
static void work(struct gam *g, uint32_t servers, uint32_t ranks)
{
    while (seen < (uint64_t)ROUNDS * (ranks - servers))
        check(gam_wait(g, 1000) == -EPIPE ? -1 : 0, "gam_wait");
    printf("server %u answered %" PRIu64 " requests\n", me.rank, seen);
}
#else
static void work(struct gam *g, uint32_t servers, uint32_t ranks)
{
    uint64_t expected = 0;

    (void)ranks;
    for (uint64_t round = 0; round < ROUNDS; round++)
        for (uint32_t server = 0; server < servers; server++) {
            check(gam_request_1(g, server, ASK, round + server) ? -1 : 0, "gam_request");
            expected += (round + server) * (round + server);
        }
    while (seen < (uint64_t)ROUNDS * servers)
        check(gam_wait(g, 1000) == -EPIPE ? -1 : 0, "gam_wait");
    check(sum == expected ? 0 : -1, "the sum of the answers");
    printf("client %u asked %u servers\n", me.rank, servers);
}
#endif

int main(void)
{
    struct unet_endpoint *endpoint;
    struct gam *g;
    uint32_t ranks, servers;

    check(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    everybody = me;
    everybody.rank = PMIX_RANK_WILDCARD;
    ranks = number(PMIX_JOB_SIZE, NULL, 0);
    servers = server_count();
    g = open_messages(&endpoint, ranks);
#ifdef SERVER
    gam_register(g, ASK, on_ask);
#else
    gam_register(g, ANSWER, on_answer);
#endif
    /* Nobody may ask before all handlers are there. */
    check(PMIx_Fence(&everybody, 1, NULL, 0), "PMIx_Fence");
    work(g, servers, ranks);
    check(PMIx_Fence_nb(&everybody, 1, NULL, 0, all_have_come, NULL), "PMIx_Fence_nb");
    while (!__atomic_load_n(&met, __ATOMIC_ACQUIRE))
        gam_wait(g, 1);
    gam_close(g);
    unet_close(endpoint);
    check(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
